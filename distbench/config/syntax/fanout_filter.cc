// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/fanout_filter.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/text_scanner.h"
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

struct LinearForm {
  absl::string_view name;
  int axis;
};
constexpr LinearForm kLinearForms[] = {
    {"linear_x{", 0}, {"linear_y{", 1}, {"linear_z{", 2}};

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();

absl::StatusOr<FanoutPlan> ParseLinear(absl::string_view filter, int axis,
                                       absl::string_view argument) {
  base::TextScanner in(absl::StripAsciiWhitespace(argument));
  const std::optional<int64_t> distance = in.TakeInteger();
  if (!distance || !in.at_end() || std::abs(*distance) > kMaxInt) {
    return Invalid(filter,
                   "the distance must be an integer, as in linear_x{1}");
  }
  FanoutPlan fanout = Plain(FanoutPlan::Kind::kLinear, axis);
  fanout.distance = static_cast<int>(*distance);
  return fanout;
}

// "0.7:1"; nothing if it is wrong.
std::optional<FanoutPlan::Choice> ParseChoice(absl::string_view text) {
  base::TextScanner in(absl::StripAsciiWhitespace(text));
  const std::optional<double> probability = in.TakeNumber();
  const bool has_colon = in.Take(":");
  const std::optional<int64_t> count =
      base::ParseWhole(absl::StripAsciiWhitespace(in.rest()), kMaxInt);
  if (!probability || *probability < 0 || *probability > 1 || !has_colon ||
      !count) {
    return std::nullopt;
  }
  return FanoutPlan::Choice{.probability = *probability,
                            .target_count = static_cast<int>(*count)};
}

absl::StatusOr<FanoutPlan> ParseStochastic(absl::string_view filter,
                                           absl::string_view argument) {
  FanoutPlan fanout = Plain(FanoutPlan::Kind::kStochastic);
  double sum = 0;
  for (const absl::string_view part : absl::StrSplit(argument, ',')) {
    const std::optional<FanoutPlan::Choice> choice = ParseChoice(part);
    if (!choice) {
      return Invalid(filter, absl::StrCat(Quoted(part),
                                          " must be a probability from 0 to "
                                          "1 and a number of targets, as in "
                                          "stochastic{0.7:1,0.3:4}"));
    }
    sum += choice->probability;
    fanout.choices.push_back(*choice);
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
  absl::string_view without_end = filter;
  if (absl::ConsumeSuffix(&without_end, "}")) {
    base::TextScanner in(without_end);
    if (in.Take("stochastic{")) return ParseStochastic(filter, in.rest());
    if (const LinearForm* const form = in.TakeOneOf(kLinearForms)) {
      return ParseLinear(filter, form->axis, in.rest());
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
