// Places in text format, for which protobuf's own list of them is not enough:
// it has a single place for all elements of a list in brackets.

#ifndef DISTBENCH_CONFIG_READING_TEXT_PLACES_H_
#define DISTBENCH_CONFIG_READING_TEXT_PLACES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/config/reading/message_places.h"
#include "distbench/config/reading/placed_errors.h"
#include "google/protobuf/io/tokenizer.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace distbench::config {

// For texts whose errors have been told.
class IgnoreErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, int, const std::string&) override {}
};

// Converts places of protobuf's tokenizer, to which a tab goes to the next
// multiple of 8. Fast if they are asked for in the order of the text, which
// must outlive this.
class TokenPlaces {
 public:
  explicit TokenPlaces(absl::string_view text) : text_(text) {}

  Place Of(int line, int column);

 private:
  void AdvanceTo(int line);

  const absl::string_view text_;
  // The last place asked for: its line, where this line begins in the text, and
  // its column as the tokenizer and as Place count it.
  int line_ = 0;
  size_t line_begin_ = 0;
  int token_column_ = 0;
  int column_ = 0;
};

// Adds the places of all parts of `message`, into which protobuf has just
// parsed `text` without an error or an unknown field.
void AddTextPlaces(absl::string_view text,
                   const google::protobuf::Message& message,
                   MessagePlaces& places);

// A field that a text gives, and that its type had once.
struct RemovedField {
  Place place;
  const google::protobuf::Descriptor* type;
  std::string name;
};

// The first one in a text that protobuf has parsed into `message` without an
// error or an unknown field: its parser skips these.
std::optional<RemovedField> FindRemovedField(
    absl::string_view text, const google::protobuf::Message& message);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_TEXT_PLACES_H_
