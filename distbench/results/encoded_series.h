// What encoded series over time have in common, whatever their intervals hold:
// messages with interval_ns, and intervals with ascending indices.

#ifndef DISTBENCH_RESULTS_ENCODED_SERIES_H_
#define DISTBENCH_RESULTS_ENCODED_SERIES_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/repeated_field.h"

namespace distbench::results {

template <typename Series>
using IntervalOf =
    std::remove_cvref_t<decltype(std::declval<const Series&>().intervals(0))>;

// How the intervals of a kind of series are checked and added up.
template <typename Series>
struct SeriesRules {
  // INVALID_ARGUMENT describes a contradiction within an interval.
  absl::Status (*validate)(const IntervalOf<Series>& interval);

  // Requires equal indices and valid intervals.
  void (*add)(const IntervalOf<Series>& from, IntervalOf<Series>& into);
};

// Checks that intervals ascend and are valid. INVALID_ARGUMENT describes the
// contradiction.
template <typename Series>
absl::Status ValidateSeries(const Series& series,
                            const SeriesRules<Series>& rules) {
  if (series.interval_ns() <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a time series has intervals of ", series.interval_ns(),
                     " ns; they must have at least one"));
  }
  for (int i = 0; i < series.intervals_size(); ++i) {
    if (i > 0 &&
        series.intervals(i).index() <= series.intervals(i - 1).index()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a time series has interval ", series.intervals(i).index(),
          " after interval ", series.intervals(i - 1).index()));
    }
    if (absl::Status status = rules.validate(series.intervals(i));
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

// Merges neighbouring intervals so that each is interval_ns wide. Requires a
// valid series. Returns false, and changes nothing, if interval_ns is not a
// multiple of the present width.
template <typename Series>
bool WidenSeries(int64_t interval_ns, const SeriesRules<Series>& rules,
                 Series& series) {
  if (interval_ns % series.interval_ns() != 0) return false;
  const int64_t ratio = interval_ns / series.interval_ns();
  series.set_interval_ns(interval_ns);
  if (ratio == 1) return true;
  auto& intervals = *series.mutable_intervals();
  int kept = 0;
  for (int i = 0; i < intervals.size(); ++i) {
    intervals[i].set_index(intervals[i].index() / ratio);
    if (kept > 0 && intervals[kept - 1].index() == intervals[i].index()) {
      rules.add(intervals[i], intervals[kept - 1]);
    } else {
      intervals.SwapElements(kept++, i);
    }
  }
  intervals.DeleteSubrange(kept, intervals.size() - kept);
  return true;
}

// Requires valid intervals of equal width. Takes time only for the added ones,
// not for existing ones: series arrive in pieces, in order.
template <typename Series>
void AddIntervals(const SeriesRules<Series>& rules, Series& from,
                  Series& into_series) {
  using Interval = IntervalOf<Series>;
  auto& into = *into_series.mutable_intervals();
  const auto begins_before = [](const Interval& interval, int64_t index) {
    return interval.index() < index;
  };
  const int old_size = into.size();
  int next = 0;
  int first_new_place = old_size;
  for (Interval& added : *from.mutable_intervals()) {
    const auto old_end = into.begin() + old_size;
    next = static_cast<int>(std::lower_bound(into.begin() + next, old_end,
                                             added.index(), begins_before) -
                            into.begin());
    if (next < old_size && into[next].index() == added.index()) {
      rules.add(added, into[next]);
    } else {
      first_new_place = std::min(first_new_place, next);
      into.Add(std::move(added));
    }
  }
  // Only pointers move; none move if all new intervals come last.
  if (first_new_place == old_size) return;
  std::inplace_merge(into.pointer_begin() + first_new_place,
                     into.pointer_begin() + old_size, into.pointer_end(),
                     [](const Interval* a, const Interval* b) {
                       return a->index() < b->index();
                     });
}

// Adds `from` to `into`, which must be empty or the result of such calls. If
// the widths differ, the result has the larger one. INVALID_ARGUMENT if `from`
// is invalid or neither width is a multiple of the other; `into` is then
// unchanged.
template <typename Series>
absl::Status MergeSeries(const SeriesRules<Series>& rules, Series from,
                         Series& into) {
  if (absl::Status status = ValidateSeries(from, rules); !status.ok()) {
    return status;
  }
  if (into.intervals().empty()) {
    into = std::move(from);
    return absl::OkStatus();
  }
  const int64_t widest_ns = std::max(from.interval_ns(), into.interval_ns());
  if (!WidenSeries(widest_ns, rules, from) ||
      !WidenSeries(widest_ns, rules, into)) {
    return absl::InvalidArgumentError(
        absl::StrCat("time series with intervals of ", from.interval_ns(),
                     " and ", into.interval_ns(), " ns cannot be merged"));
  }
  AddIntervals(rules, from, into);
  return absl::OkStatus();
}

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_ENCODED_SERIES_H_
