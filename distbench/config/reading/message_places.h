// Where the parts of a message are in the text that it was read from.
//
//   MessagePlaces places;
//   ParseAnyText(text, "test.yaml", sequence, &places);
//   places.Find(sequence, "tests[0].name");

#ifndef DISTBENCH_CONFIG_READING_MESSAGE_PLACES_H_
#define DISTBENCH_CONFIG_READING_MESSAGE_PLACES_H_

#include <optional>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "distbench/config/reading/placed_errors.h"

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace distbench::config {

// A field is where its name begins; an element of a list, and an entry of a
// map, where it begins itself. All messages must stay as they were read, and
// where they are in memory.
class MessagePlaces {
 public:
  // Instead of an index: the field itself.
  static constexpr int kField = -1;

  // Keeps the first place of a part. `index` is that of an element, or of an
  // entry of a map in the order in which they are written.
  void Add(const google::protobuf::Message& owner,
           const google::protobuf::FieldDescriptor& field, int index,
           Place place);

  // Null if the part is not in the text.
  const Place* At(const google::protobuf::Message& owner,
                  const google::protobuf::FieldDescriptor& field,
                  int index) const;

  // The place of what the path of a problem names. What the text does not have
  // is at the innermost part around it that is there, and so is an element
  // whose name is cut short in the path as that of another one; a number and
  // its text with a unit stand for each other. Absent if no part of the path is
  // there.
  std::optional<Place> Find(const google::protobuf::Message& message,
                            absl::string_view path) const;

 private:
  using Part = std::tuple<const google::protobuf::Message*,
                          const google::protobuf::FieldDescriptor*, int>;

  // The field, or the one that the text has in its place: a number, or the text
  // of a quantity. Null if the type has no such field.
  const google::protobuf::FieldDescriptor* FieldAsWritten(
      const google::protobuf::Message& message, absl::string_view name) const;

  absl::flat_hash_map<Part, Place> places_;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_MESSAGE_PLACES_H_
