#include "distbench/products/history/trends/change_points.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

#include "distbench/base/work_random.h"
#include "distbench/products/history/trends/division.h"
#include "distbench/stats/run_interval.h"

namespace distbench::history {
namespace {

// The shares of kAlarmProbability that the two passes have. Changes of the
// level are so easy to find that they need little of it.
constexpr double kLevelShare = 0.2;
constexpr double kSpreadShare = 1 - kLevelShare;

// Fewer values tell little of their spread.
constexpr size_t kMinSpreadPoints = 10;

// Of random permutations. A corrected probability is told apart by at least
// kPassingPermutations that may reach the distance, or one less.
constexpr int kFewestPermutations = 999;
constexpr int kPassingPermutations = 2;
constexpr uint64_t kSeed = 0x64697374;

// Corrected probabilities that are proven to be at most so large need no
// permutations. They add less than a thousandth to the false alarms.
constexpr double kProven = kAlarmProbability / 1000;

static_assert(kMaxJudgedPoints <= EnergyScan::kMaxValues);

// A half-open range of values.
struct Range {
  size_t begin;
  size_t end;
};

// The same on all platforms, unlike std::shuffle().
template <typename Item>
void Shuffle(base::WorkRandom& random, std::vector<Item>& order) {
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.Below(i)]);
  }
}

bool IsEarlier(const ChangePoint& a, const ChangePoint& b) {
  return a.index < b.index;
}

// Scan is EnergyScan or SpreadScan.
template <typename Scan>
class ChangeSearch {
 public:
  // p-values are multiplied by `correction`. Segments have at least
  // `min_segment` values.
  ChangeSearch(double correction, size_t min_segment)
      : correction_(correction),
        min_segment_(min_segment),
        permutations_(std::max<int>(
            kFewestPermutations,
            std::ceil(kPassingPermutations * correction / kAlarmProbability))) {
  }

  // Notes the changes of the values, which begin at `offset`.
  void Search(absl::Span<const double> values, size_t offset) {
    if (values.size() < 2 * min_segment_) return;
    Scan scan(values, min_segment_);
    const Division division = scan.Best(scan.order());
    const double p_value = PValueOf(scan, division);
    if (p_value > kAlarmProbability) return;
    changes_.push_back({.index = offset + division.index, .p_value = p_value});
    Search(values.first(division.index), offset);
    Search(values.subspan(division.index), offset + division.index);
  }

  // Ascending. Call it once, at the end.
  std::vector<ChangePoint> Take() {
    std::sort(changes_.begin(), changes_.end(), &IsEarlier);
    return std::move(changes_);
  }

 private:
  // Corrected. Gives up, with 1, as soon as it exceeds kAlarmProbability for
  // sure.
  double PValueOf(Scan& scan, const Division& division) const {
    if (correction_ * scan.ProbabilityBound(division.distance) <= kProven) {
      return kProven;
    }
    base::WorkRandom random(kSeed);
    std::vector<typename Scan::Item> order = scan.order();
    const double per_reached = correction_ / (permutations_ + 1);
    int reached = 1;  // the values' own order
    for (int i = 0; i < permutations_; ++i) {
      Shuffle(random, order);
      // Rounding must not tell equal divisions apart.
      constexpr double kAlmost = 1 - 1e-9;
      if (scan.Best(order).distance >= division.distance * kAlmost) ++reached;
      if (reached * per_reached > kAlarmProbability) return 1;
    }
    return reached * per_reached;
  }

  const double correction_;
  const size_t min_segment_;
  const int permutations_;
  std::vector<ChangePoint> changes_;
};

// Calls visit(range) for the values between changes.
template <typename Visit>
void ForEachSegment(const std::vector<ChangePoint>& changes, size_t count,
                    Visit visit) {
  size_t begin = 0;
  for (const ChangePoint& change : changes) {
    visit(Range{begin, change.index});
    begin = change.index;
  }
  visit(Range{begin, count});
}

absl::Span<const double> Part(absl::Span<const double> values,
                              const Range& range) {
  return values.subspan(range.begin, range.end - range.begin);
}

Segment Describe(absl::Span<const double> values, const Range& range) {
  const absl::Span<const double> part = Part(values, range);
  const double median = MedianOf(part);
  constexpr double kDeviations = 2;
  // The standard deviation of a normal distribution in median absolute
  // deviations.
  constexpr double kNormal = 1.4826;
  const double reach =
      kDeviations * kNormal * MedianOf(DistancesFromMedian(part));
  return {.first = range.begin,
          .last = range.end - 1,
          .mean = stats::Mean(part),
          .noise_low = median - reach,
          .noise_high = median + reach};
}

// Fills in what the two parts tell.
void Describe(absl::Span<const double> before, absl::Span<const double> after,
              ChangePoint& change) {
  change.kind = MeansDiffer(before, after) <= SpreadsDiffer(before, after)
                    ? ChangeKind::kLevel
                    : ChangeKind::kSpread;
  const auto size = [&](absl::Span<const double> part) {
    return change.kind == ChangeKind::kLevel ? stats::Mean(part)
                                             : StandardDeviationOf(part);
  };
  change.before = size(before);
  change.after = size(after);
  change.relative = change.before == change.after
                        ? 0
                        : (change.after - change.before) / change.before;
}

// Moves changes of the spread to where they are most likely: energy distances
// tell that less well.
void PlaceSpreads(absl::Span<const double> values, Judgement& judgement) {
  for (size_t i = 0; i < judgement.changes.size(); ++i) {
    ChangePoint& change = judgement.changes[i];
    if (change.kind != ChangeKind::kSpread) continue;
    const Range before = {i == 0 ? 0 : judgement.changes[i - 1].index,
                          change.index};
    const Range after = {change.index, judgement.segments[i + 1].last + 1};
    if (after.end - before.begin < 2 * kMinSpreadPoints) continue;
    std::vector<double> distances = DistancesFromMedian(Part(values, before));
    const std::vector<double> more = DistancesFromMedian(Part(values, after));
    distances.insert(distances.end(), more.begin(), more.end());
    SpreadScan scan(distances, kMinSpreadPoints);
    change.index = before.begin + scan.Best(scan.order()).index;
  }
}

}  // namespace

absl::string_view ChangeKindName(ChangeKind kind) {
  return kind == ChangeKind::kLevel ? "level" : "spread";
}

Judgement FindChanges(absl::Span<const double> values, int series_count) {
  if (values.empty()) return {};
  const double series = std::max(1, series_count);
  ChangeSearch<EnergyScan> levels(series / kLevelShare, kMinSegmentPoints);
  levels.Search(values, 0);
  std::vector<ChangePoint> changes = levels.Take();
  ChangeSearch<SpreadScan> spreads(series / kSpreadShare, kMinSpreadPoints);
  ForEachSegment(changes, values.size(), [&](const Range& range) {
    spreads.Search(DistancesFromMedian(Part(values, range)), range.begin);
  });
  const std::vector<ChangePoint> more = spreads.Take();
  changes.insert(changes.end(), more.begin(), more.end());
  std::sort(changes.begin(), changes.end(), &IsEarlier);
  Judgement judgement = DescribeChanges(values, std::move(changes));
  PlaceSpreads(values, judgement);
  return DescribeChanges(values, std::move(judgement.changes));
}

Judgement DescribeChanges(absl::Span<const double> values,
                          std::vector<ChangePoint> changes) {
  Judgement judgement;
  if (values.empty()) return judgement;
  ForEachSegment(changes, values.size(), [&](const Range& range) {
    judgement.segments.push_back(Describe(values, range));
  });
  for (size_t i = 0; i < changes.size(); ++i) {
    const size_t begin = judgement.segments[i].first;
    const size_t middle = changes[i].index;
    const size_t end = judgement.segments[i + 1].last + 1;
    Describe(values.subspan(begin, middle - begin),
             values.subspan(middle, end - middle), changes[i]);
  }
  judgement.changes = std::move(changes);
  return judgement;
}

namespace {

double VarianceOf(absl::Span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = stats::Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

}  // namespace

double MedianOf(absl::Span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle]
                                : (sorted[middle - 1] + sorted[middle]) / 2;
}

double StandardDeviationOf(absl::Span<const double> values) {
  return std::sqrt(VarianceOf(values));
}

std::vector<double> DistancesFromMedian(absl::Span<const double> values) {
  const double median = MedianOf(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) {
    distances.push_back(std::abs(value - median));
  }
  return distances;
}

double MeansDiffer(absl::Span<const double> a, absl::Span<const double> b) {
  const double difference = std::abs(stats::Mean(a) - stats::Mean(b));
  // The squared standard errors of the means.
  const double error_a = VarianceOf(a) / static_cast<double>(a.size());
  const double error_b = VarianceOf(b) / static_cast<double>(b.size());
  const double error = error_a + error_b;
  if (!(error > 0)) return difference > 0 ? 0 : 1;
  const double freedom =
      error * error /
      (error_a * error_a / static_cast<double>(a.size() - 1) +
       error_b * error_b / static_cast<double>(b.size() - 1));
  // Variances close to the smallest numbers have squares of 0.
  if (!std::isfinite(freedom)) return difference > 0 ? 0 : 1;
  const boost::math::students_t distribution(freedom);
  return 2 * cdf(complement(distribution, difference / std::sqrt(error)));
}

double SpreadsDiffer(absl::Span<const double> a, absl::Span<const double> b) {
  return MeansDiffer(DistancesFromMedian(a), DistancesFromMedian(b));
}

}  // namespace distbench::history
