#ifndef DISTBENCH_CONFIG_READING_PARSE_TEXT_H_
#define DISTBENCH_CONFIG_READING_PARSE_TEXT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}

namespace distbench::config {

class MessagePlaces;

// Parses protobuf text that came from `source` into `message`, which it clears
// first. Unlike protobuf's parser, it rejects repeated map keys.
// INVALID_ARGUMENT lists the errors, one per line, as "source:line:column: what
// is wrong", with suggestions for misspelt fields; PlaceNames says what a
// column counts. A syntax error ends the list. If there are no errors, `places`
// becomes those of all parts of the message, if given, which takes as long
// again. Requires less than 2 GiB of text.
absl::Status ParseText(absl::string_view text, absl::string_view source,
                       google::protobuf::Message& message,
                       MessagePlaces* places = nullptr);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_PARSE_TEXT_H_
