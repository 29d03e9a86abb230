// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/fanout_filter.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

FanoutPlan Plain(FanoutPlan::Kind kind, int axis = 0) {
  FanoutPlan fanout;
  fanout.kind = kind;
  fanout.axis = axis;
  return fanout;
}

FanoutPlan AtDistance(FanoutPlan::Kind kind, int axis, int distance) {
  FanoutPlan fanout = Plain(kind, axis);
  fanout.distance = distance;
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
      {"ring_x", AtDistance(FanoutPlan::Kind::kRing, 0, 1)},
      {"ring_y", AtDistance(FanoutPlan::Kind::kRing, 1, 1)},
      {"ring_z", AtDistance(FanoutPlan::Kind::kRing, 2, 1)},
      {"alternating_ring_x", Plain(FanoutPlan::Kind::kAlternatingRing, 0)},
      {"alternating_ring_y", Plain(FanoutPlan::Kind::kAlternatingRing, 1)},
      {"alternating_ring_z", Plain(FanoutPlan::Kind::kAlternatingRing, 2)},
  });
  return *filters;
}

// Filters with a number as their argument: NAME_x{d}, NAME_y{d}, NAME_z{d}.
struct NumberForm {
  absl::string_view name;
  FanoutPlan::Kind kind;
  int64_t min;
  int64_t max;
  absl::string_view what;  // the number is
  absl::string_view example;
};
constexpr int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr NumberForm kNumberForms[] = {
    {"linear", FanoutPlan::Kind::kLinear, -kMaxInt, kMaxInt,
     "the distance must be an integer", "linear_x{1}"},
    {"ring", FanoutPlan::Kind::kRing, -kMaxInt, kMaxInt,
     "the distance must be an integer", "ring_x{2}"},
    {"xor", FanoutPlan::Kind::kXor, 1, kMaxInt,
     "the bits to flip must be an integer above 0", "xor_x{4}"},
    {"child", FanoutPlan::Kind::kChild, 1, 2,
     "the child must be 1, the first one, or 2", "child_x{1}"},
    {"parent", FanoutPlan::Kind::kParent, 1, 2,
     "the child that calls must be 1, the first one, or 2", "parent_x{1}"},
};

constexpr absl::string_view kAxisNames[] = {"x", "y", "z"};

std::string FormOf(const NumberForm& form, int axis) {
  return absl::StrCat(form.name, "_", kAxisNames[axis], "{");
}

// The syntax of all filters.
const std::vector<std::string>& FilterForms() {
  static const auto* const forms = [] {
    auto* const all = new std::vector<std::string>;
    for (const auto& [name, fanout] : PlainFilters()) all->push_back(name);
    for (const NumberForm& form : kNumberForms) {
      for (int axis = 0; axis < 3; ++axis) {
        all->push_back(absl::StrCat(FormOf(form, axis), "d}"));
      }
    }
    all->push_back("stochastic{p:n,p:n}");
    return all;
  }();
  return *forms;
}

absl::Status Invalid(absl::string_view filter, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(filter), " is not a fanout filter; ", why));
}

absl::StatusOr<FanoutPlan> ParseNumber(absl::string_view filter,
                                       const NumberForm& form, int axis,
                                       absl::string_view argument) {
  base::TextScanner in(absl::StripAsciiWhitespace(argument));
  const std::optional<int64_t> number = in.TakeInteger();
  if (!number || !in.at_end() || *number < form.min || *number > form.max) {
    return Invalid(filter, absl::StrCat(form.what, ", as in ", form.example));
  }
  return AtDistance(form.kind, axis, static_cast<int>(*number));
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
    for (const NumberForm& form : kNumberForms) {
      for (int axis = 0; axis < 3; ++axis) {
        if (in.Take(FormOf(form, axis))) {
          return ParseNumber(filter, form, axis, in.rest());
        }
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
    case FanoutPlan::Kind::kXor:
    case FanoutPlan::Kind::kChild:
    case FanoutPlan::Kind::kParent:
      return {fanout.axis};
    case FanoutPlan::Kind::kAll:
    case FanoutPlan::Kind::kRandom:
    case FanoutPlan::Kind::kRoundRobin:
    case FanoutPlan::Kind::kStochastic:
      break;
  }
  return {};
}

bool CallsEachOnce(const FanoutPlan& fanout) {
  return fanout.kind == FanoutPlan::Kind::kAlternatingRing ||
         absl::c_any_of(kNumberForms, [&](const NumberForm& form) {
           return form.kind == fanout.kind;
         });
}

std::vector<std::string> FiltersThatCallEachOnce() {
  std::vector<std::string> filters = {"ring_x", "alternating_ring_x"};
  for (const NumberForm& form : kNumberForms) {
    filters.push_back(std::string(form.example));
  }
  return filters;
}

}  // namespace distbench::config
