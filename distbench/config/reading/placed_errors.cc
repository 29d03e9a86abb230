#include "distbench/config/reading/placed_errors.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/suggest.h"
#include "google/protobuf/descriptor.h"

namespace distbench::config {
namespace {

constexpr int kMaxErrors = 100;

// Every byte of a character but the first has the bits 10xxxxxx.
bool BeginsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

std::vector<absl::string_view> LinesOf(absl::string_view text) {
  return absl::StrSplit(text, '\n');
}

}  // namespace

PlaceNames::PlaceNames(absl::string_view source, absl::string_view text)
    : source_(source), lines_(LinesOf(text)) {}

std::string PlaceNames::NameOf(Place place) const {
  auto column = static_cast<int64_t>(place.column);
  if (place.line < static_cast<int>(lines_.size())) {
    const absl::string_view before = lines_[place.line].substr(0, column);
    column -= std::count_if(before.begin(), before.end(),
                            [](char byte) { return !BeginsCharacter(byte); });
  }
  return absl::StrCat(source_, ":", place.line + 1, ":", column + 1);
}

void PlacedErrors::Add(Place place, std::string message) {
  if (full()) return;
  errors_.emplace(place, std::move(message));
}

bool PlacedErrors::full() const { return errors_.size() >= kMaxErrors; }

absl::Status PlacedErrors::ToStatus() const {
  if (errors_.empty()) return absl::OkStatus();
  const PlaceNames names(source_, text_);
  std::vector<std::string> lines;
  for (const auto& [place, message] : errors_) {
    lines.push_back(absl::StrCat(names.NameOf(place), ": ", message));
  }
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

std::vector<std::string> FieldNames(const google::protobuf::Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  return names;
}

std::string FieldSuggestion(const google::protobuf::Descriptor& type,
                            absl::string_view name) {
  if (type.IsReservedName(std::string(name))) {
    return " It was removed; leave it out (CHANGELOG.md, \"Removed\", says "
           "what there is instead).";
  }
  const std::optional<std::string> closest =
      ClosestName(name, FieldNames(type));
  if (!closest.has_value()) return "";
  return absl::StrCat(" Did you mean ", Quoted(*closest), "?");
}

}  // namespace distbench::config
