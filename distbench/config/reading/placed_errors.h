// Errors in a text, with their places.
//
//   PlacedErrors errors("test.yaml", text);
//   errors.Add({.line = 2, .column = 4}, "this is wrong");
//   errors.ToStatus();  // test.yaml:3:5: this is wrong

#ifndef DISTBENCH_CONFIG_READING_PLACED_ERRORS_H_
#define DISTBENCH_CONFIG_READING_PLACED_ERRORS_H_

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
}

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

  void Add(Place place, std::string message);

  bool empty() const { return errors_.empty(); }

  // Whether further errors are dropped.
  bool full() const;

  // OK if there are no errors; otherwise INVALID_ARGUMENT with one per line, as
  // "source:line:column: message", in the order of their places.
  absl::Status ToStatus() const;

 private:
  const absl::string_view source_;
  const absl::string_view text_;
  std::multimap<Place, std::string> errors_;
};

// The names of the type's fields.
std::vector<std::string> FieldNames(const google::protobuf::Descriptor& type);

// What to do about a name that no field of the type has: that the field was
// removed (`reserved` in the .proto), or ` Did you mean "x"?` if a field has a
// name close to `name`; empty otherwise.
std::string FieldSuggestion(const google::protobuf::Descriptor& type,
                            absl::string_view name);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_PLACED_ERRORS_H_
