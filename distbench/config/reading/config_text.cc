#include "distbench/config/reading/config_text.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/reading/message_places.h"
#include "distbench/config/reading/placed_errors.h"
#include "distbench/config/validate/check.h"

namespace distbench::config {
namespace {

struct PlacedLine {
  Place place;
  std::string line;
};

// After all places of a text.
constexpr Place kNowhere = {std::numeric_limits<int>::max(), 0};

bool IsBefore(const PlacedLine& a, const PlacedLine& b) {
  return a.place < b.place;
}

}  // namespace

std::vector<std::string> PlacedLines(absl::Span<const Problem> problems,
                                     const ConfigText& text,
                                     const google::protobuf::Message& type) {
  if (problems.empty()) return {};
  const std::unique_ptr<google::protobuf::Message> written(type.New());
  MessagePlaces places;
  const absl::string_view contents = WithoutByteOrderMark(text.contents);
  const absl::Status read =
      ParseAnyText(contents, text.source, *written, &places);
  if (!read.ok()) places = MessagePlaces();  // a binary config
  const PlaceNames names(text.source, contents);
  std::vector<PlacedLine> placed;
  for (const Problem& problem : problems) {
    const std::optional<Place> place = places.Find(*written, problem.path);
    placed.push_back(
        {place.value_or(kNowhere),
         absl::StrCat(place.has_value() ? names.NameOf(*place) : text.source,
                      ": ", ToString(problem))});
  }
  std::stable_sort(placed.begin(), placed.end(), IsBefore);
  std::vector<std::string> lines;
  for (PlacedLine& each : placed) lines.push_back(std::move(each.line));
  return lines;
}

absl::Status ToStatus(absl::Span<const Problem> problems,
                      const ConfigText& text,
                      const google::protobuf::Message& type) {
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrJoin(PlacedLines(problems, text, type), "\n"));
}

absl::Status WithPlaces(const absl::Status& error, const ConfigText& text) {
  std::vector<Problem> problems;
  for (const absl::string_view line : absl::StrSplit(error.message(), '\n')) {
    problems.push_back(ProblemFrom(line));
  }
  const auto is_of_test = [](const Problem& problem) {
    return absl::StartsWith(problem.path, "tests[");
  };
  if (!absl::IsInvalidArgument(error) ||
      std::none_of(problems.begin(), problems.end(), is_of_test)) {
    return error;
  }
  return ToStatus(problems, text);
}

absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence,
                                               const ConfigText& text) {
  Canonicalize(sequence);
  const absl::Status status = ToStatus(Validate(sequence), text);
  if (!status.ok()) return status;
  return sequence;
}

}  // namespace distbench::config
