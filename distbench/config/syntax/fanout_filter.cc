#include "distbench/config/syntax/fanout_filter.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

constexpr double kProbabilitySumTolerance = 1e-6;

FanoutPlan Plain(FanoutPlan::Kind kind, int axis = 0) {
  FanoutPlan fanout;
  fanout.kind = kind;
  fanout.axis = axis;
  return fanout;
}

FanoutPlan SameCoordinates(std::vector<int> axes) {
  FanoutPlan fanout = Plain(FanoutPlan::Kind::kSameCoordinates);
  fanout.axes = std::move(axes);
  return fanout;
}

// Filters without arguments.
const std::map<std::string, FanoutPlan>& PlainFilters() {
  static const auto* const filters = new std::map<std::string, FanoutPlan>({
      {"all", Plain(FanoutPlan::Kind::kAll)},
      {"random", Plain(FanoutPlan::Kind::kRandom)},
      {"random_single", Plain(FanoutPlan::Kind::kRandom)},
      {"round_robin", Plain(FanoutPlan::Kind::kRoundRobin)},
      {"same_x", SameCoordinates({0})},
      {"same_y", SameCoordinates({1})},
      {"same_z", SameCoordinates({2})},
      {"same_xy", SameCoordinates({0, 1})},
      {"same_xz", SameCoordinates({0, 2})},
      {"same_yz", SameCoordinates({1, 2})},
      {"same_xyz", SameCoordinates({0, 1, 2})},
      {"ring_x", Plain(FanoutPlan::Kind::kRing, 0)},
      {"ring_y", Plain(FanoutPlan::Kind::kRing, 1)},
      {"ring_z", Plain(FanoutPlan::Kind::kRing, 2)},
      {"alternating_ring_x", Plain(FanoutPlan::Kind::kAlternatingRing, 0)},
      {"alternating_ring_y", Plain(FanoutPlan::Kind::kAlternatingRing, 1)},
      {"alternating_ring_z", Plain(FanoutPlan::Kind::kAlternatingRing, 2)},
  });
  return *filters;
}

// The syntax of the filters that take arguments.
const std::vector<std::string>& FilterForms() {
  static const auto* const forms = [] {
    auto* const all = new std::vector<std::string>;
    for (const auto& [name, fanout] : PlainFilters()) all->push_back(name);
    for (const char* form :
         {"linear_x{d}", "linear_y{d}", "linear_z{d}", "stochastic{p:n,p:n}"}) {
      all->push_back(form);
    }
    return all;
  }();
  return *forms;
}

absl::Status Invalid(absl::string_view filter, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(filter), " is not a fanout filter; ", why));
}

absl::StatusOr<FanoutPlan> ParseLinear(absl::string_view filter, int axis,
                                       absl::string_view argument) {
  FanoutPlan fanout = Plain(FanoutPlan::Kind::kLinear, axis);
  if (!absl::SimpleAtoi(argument, &fanout.distance)) {
    return Invalid(filter,
                   "the distance must be an integer, as in linear_x{1}");
  }
  return fanout;
}

// Parses a decimal number. Unlike SimpleAtod, rejects "nan", "inf" and
// "0x1p-1".
bool ParseProbability(absl::string_view text, double* probability) {
  if (text.find_first_not_of("0123456789.eE+-") != absl::string_view::npos) {
    return false;
  }
  return absl::SimpleAtod(text, probability) && *probability >= 0 &&
         *probability <= 1;
}

absl::StatusOr<FanoutPlan> ParseStochastic(absl::string_view filter,
                                           absl::string_view argument) {
  FanoutPlan fanout = Plain(FanoutPlan::Kind::kStochastic);
  double sum = 0;
  for (const absl::string_view part : absl::StrSplit(argument, ',')) {
    const std::vector<absl::string_view> sides =
        absl::StrSplit(absl::StripAsciiWhitespace(part), ':');
    FanoutPlan::Choice choice;
    if (sides.size() != 2 || !ParseProbability(sides[0], &choice.probability) ||
        !absl::SimpleAtoi(sides[1], &choice.target_count) ||
        choice.target_count < 0) {
      return Invalid(filter, absl::StrCat(Quoted(part),
                                          " must be a probability from 0 to "
                                          "1 and a number of targets, as in "
                                          "stochastic{0.7:1,0.3:4}"));
    }
    sum += choice.probability;
    fanout.choices.push_back(choice);
  }
  if (std::abs(sum - 1) > kProbabilitySumTolerance) {
    return Invalid(filter, absl::StrCat("its probabilities sum to ", sum,
                                        "; they must sum to 1"));
  }
  return fanout;
}

}  // namespace

absl::StatusOr<FanoutPlan> ParseFanoutFilter(absl::string_view filter) {
  if (filter.empty()) return Plain(FanoutPlan::Kind::kAll);
  const auto& plain = PlainFilters();
  if (const auto it = plain.find(std::string(filter)); it != plain.end()) {
    return it->second;
  }
  absl::string_view argument = filter;
  if (absl::ConsumeSuffix(&argument, "}")) {
    if (absl::ConsumePrefix(&argument, "stochastic{")) {
      return ParseStochastic(filter, argument);
    }
    for (int axis = 0; axis < 3; ++axis) {
      const std::string prefix =
          absl::StrCat("linear_", std::string(1, 'x' + axis), "{");
      if (absl::ConsumePrefix(&argument, prefix)) {
        return ParseLinear(filter, axis, argument);
      }
    }
  }
  return Invalid(filter, ClosestName(filter, FilterForms()).has_value()
                             ? Suggestion(filter, FilterForms())
                             : absl::StrCat("must be one of ",
                                            QuotedList(FilterForms(), 100)));
}

std::vector<int> AxesOf(const FanoutPlan& fanout) {
  switch (fanout.kind) {
    case FanoutPlan::Kind::kSameCoordinates:
      return fanout.axes;
    case FanoutPlan::Kind::kRing:
    case FanoutPlan::Kind::kAlternatingRing:
    case FanoutPlan::Kind::kLinear:
      return {fanout.axis};
    case FanoutPlan::Kind::kAll:
    case FanoutPlan::Kind::kRandom:
    case FanoutPlan::Kind::kRoundRobin:
    case FanoutPlan::Kind::kStochastic:
      break;
  }
  return {};
}

}  // namespace distbench::config
