#include "distbench/config/reading/placed_errors.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/problems/suggest.h"
#include "google/protobuf/descriptor.h"

namespace distbench::config {
namespace {

constexpr int kMaxErrors = 100;

}  // namespace

void PlacedErrors::Add(Place place, std::string message) {
  if (full()) return;
  errors_.insert(
      {std::make_pair(place.line, place.column), std::move(message)});
}

bool PlacedErrors::full() const { return errors_.size() >= kMaxErrors; }

absl::Status PlacedErrors::ToStatus() const {
  if (errors_.empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const auto& [place, message] : errors_) {
    lines.push_back(absl::StrCat(source_, ":", place.first + 1, ":",
                                 place.second + 1, ": ", message));
  }
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

std::string FieldSuggestion(const google::protobuf::Descriptor& type,
                            absl::string_view name) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  const std::optional<std::string> closest = ClosestName(name, names);
  if (!closest.has_value()) return "";
  return absl::StrCat(" Did you mean ", Quoted(*closest), "?");
}

}  // namespace distbench::config
