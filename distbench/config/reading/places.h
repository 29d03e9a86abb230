// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where the parts of a text are, with which errors begin.
//
//   PlacedErrors errors("test.yaml", text);
//   errors.Add({.line = 2, .column = 4}, "this is wrong");
//   errors.ToStatus();  // test.yaml:3:5: this is wrong
//
//   MessagePlaces places;
//   ParseAnyText(text, "test.yaml", sequence, &places);
//   places.Find(sequence, "tests[0].name");

#ifndef DISTBENCH_CONFIG_READING_PLACES_H_
#define DISTBENCH_CONFIG_READING_PLACES_H_

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace distbench::config {

// Where something begins in a text. Both numbers start at 0; the column counts
// bytes.
struct Place {
  int line = 0;
  int column = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// Says where places are as users count: both numbers start at 1, and the column
// counts characters (code points of UTF-8), of which a tab is one. Making this
// reads the whole text. Both texts must outlive it.
class PlaceNames {
 public:
  // `source` is the name of the text.
  PlaceNames(absl::string_view source, absl::string_view text);

  // "source:line:column".
  std::string NameOf(Place place) const;

 private:
  const absl::string_view source_;
  const std::vector<absl::string_view> lines_;
};

// Keeps the first errors that are added, so that hopeless input stays cheap.
class PlacedErrors {
 public:
  // `source` is the name of the text. Both must outlive this.
  PlacedErrors(absl::string_view source, absl::string_view text)
      : source_(source), text_(text) {}

  // Parts of the message are put together as by absl::StrCat().
  template <typename... Parts>
  void Add(Place place, const Parts&... message) {
    if (!full()) errors_.emplace(place, absl::StrCat(message...));
  }

  bool empty() const { return errors_.empty(); }

  // Whether further errors are dropped.
  bool full() const;

  // OK if there are no errors; otherwise INVALID_ARGUMENT with one per line, as
  // "source:line:column: message", in the order of their places; the last line
  // says if there may be more.
  absl::Status ToStatus() const;

 private:
  const absl::string_view source_;
  const absl::string_view text_;
  std::multimap<Place, std::string> errors_;
};

// Where the parts of a message are in the text that it was read from: a field
// where its name begins, an element of a list, and an entry of a map, where it
// begins itself. All messages must stay as they were read, and where they are
// in memory.
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

#endif  // DISTBENCH_CONFIG_READING_PLACES_H_
