// Messages written as YAML or JSON.

#ifndef DISTBENCH_CONFIG_READING_PARSE_YAML_H_
#define DISTBENCH_CONFIG_READING_PARSE_YAML_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}

namespace distbench::config {

class MessagePlaces;

// Parses YAML, of which JSON is a part, into `message`, which it clears first.
// Messages look as protobuf's JSON mapping says: fields have their own names or
// those in lowerCamelCase; repeated fields are lists, and map fields maps;
// numbers may be in quotes; bytes are base64; enums are words or numbers; null
// is a field that is not set. Moreover, texts need no quotes, whatever they
// look like, and "<<" merges fields of other maps, which fields beside it
// override.
//
// INVALID_ARGUMENT lists the errors as ParseText() does: misspelt fields, wrong
// types and words, numbers out of range, fields and keys that are repeated, and
// aliases that repeat more than kMaxRepeatedBytes. A syntax error is the only
// one. What aliases repeat has the place where it is written. Adds all parts of
// the message to `places`, if given.
absl::Status ParseYaml(absl::string_view text, absl::string_view source,
                       google::protobuf::Message& message,
                       MessagePlaces* places = nullptr);

// Far above what aliases save in any config.
inline constexpr int kMaxRepeatedBytes = 16 << 20;

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_PARSE_YAML_H_
