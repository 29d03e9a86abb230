// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A mergeable log-linear histogram of non-negative 64-bit values.

#ifndef DISTBENCH_STATS_LOG_HISTOGRAM_H_
#define DISTBENCH_STATS_LOG_HISTOGRAM_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace distbench::stats {

// Values below 128 have a bucket each. Above that, every octave is divided into
// 128 buckets of equal width, so that the width of a bucket is less than 1/128
// (0.8 %) of its values, and its middle is off by at most half of that. The
// buckets of an octave are allocated at its first value.
//
// Recording takes a few nanoseconds and allocates at most once per octave.
// Merging is exact: the histogram of two sets of values is the sum of theirs.
// Not thread-safe. A moved-from histogram may only be destroyed or assigned to.
class LogHistogram {
 public:
  static constexpr int kSubBucketBits = 7;
  static constexpr int kSubBuckets = 1 << kSubBucketBits;

  // About 78 hours in nanoseconds; larger values are counted as overflow.
  static constexpr int kValueBits = 48;
  static constexpr int64_t kMaxValue = (int64_t{1} << kValueBits) - 1;

  static constexpr int kOctaves = kValueBits - kSubBucketBits + 1;
  static constexpr int kBucketCount = kOctaves * kSubBuckets;

  // One bucket with a count. Values are lower <= value <= upper.
  struct Bucket {
    int index;
    int64_t lower;
    int64_t upper;
    uint64_t count;
  };

  // BucketIndex(): the bucket of a value in [0, kMaxValue]. BucketLower() and
  // BucketUpper(): the smallest and the largest value of a bucket in [0,
  // kBucketCount).
  static constexpr int BucketIndex(int64_t value);
  static constexpr int64_t BucketLower(int index);
  static constexpr int64_t BucketUpper(int index);

  LogHistogram() = default;

  // *allocated_bytes is raised by the memory of this histogram's buckets. It
  // must outlive the histogram, and is not lowered when that is destroyed.
  // Copies do not update it.
  explicit LogHistogram(int64_t* allocated_bytes)
      : allocated_bytes_(allocated_bytes) {}

  LogHistogram(LogHistogram&&) = default;
  LogHistogram& operator=(LogHistogram&&) = default;
  LogHistogram(const LogHistogram& other) { Merge(other); }
  LogHistogram& operator=(const LogHistogram& other);

  // Negative values are recorded as 0.
  void Record(int64_t value) { RecordN(value, 1); }
  void RecordN(int64_t value, uint64_t count);

  // Same as Record(value_of(item)) for each item of a container, in order, but
  // faster.
  template <typename Items, typename ValueOf>
  void RecordEach(const Items& items, const ValueOf& value_of);

  // Adds the values of other.
  void Merge(const LogHistogram& other);

  // Forgets all values, but keeps the memory.
  void Clear();

  // Includes overflowed values.
  uint64_t count() const { return count_; }
  uint64_t overflow_count() const { return overflow_count_; }

  // The memory of the buckets.
  int64_t allocated_bytes() const;

  // Exact. Requires count() > 0.
  int64_t min() const { return min_; }
  int64_t max() const { return max_; }

  // Exact except for the rounding of doubles; 0 if empty.
  double sum() const { return sum_; }
  double sum_of_squares() const { return sum_of_squares_; }
  double mean() const;
  double standard_deviation() const;

  // Returns the value at position floor(count() * quantile) of the sorted
  // values: exact at the first and the last position, elsewhere the middle of
  // its bucket, and never outside [min(), max()]. Overflowed values count as
  // max(). Requires count() > 0 and 0 <= quantile <= 1.
  int64_t ValueAtQuantile(double quantile) const;

  // Returns how many values are at most `value`. All values in the bucket of
  // `value` count; overflowed values count only if `value` is at least max().
  uint64_t CountAtMost(int64_t value) const;

  // Non-empty buckets, ascending.
  std::vector<Bucket> Buckets() const;

  // Add an encoded histogram: first the counts of its buckets and its overflow,
  // then the moments, which the counts do not contain, of the same values.
  // index must be in [0, kBucketCount).
  void AddToBucket(int index, uint64_t count);
  void AddOverflow(uint64_t count);
  void AddMoments(int64_t min, int64_t max, double sum, double sum_of_squares);

 private:
  static constexpr int OctaveOf(int64_t value) {
    return std::bit_width(static_cast<uint64_t>(value) | (kSubBuckets - 1)) -
           kSubBucketBits;
  }
  static constexpr int ShiftOf(int octave) {
    return octave - (octave > 0 ? 1 : 0);
  }
  static constexpr int SubBucketOf(int64_t value, int octave) {
    return (value >> ShiftOf(octave)) & (kSubBuckets - 1);
  }

  uint64_t* OctaveBuckets(int octave) {
    if (octaves_[octave] == nullptr) [[unlikely]] {
      AllocateOctave(octave);
    }
    return octaves_[octave].get();
  }
  void AllocateOctave(int octave);

  // Counts a non-negative value in its bucket only.
  void CountInBucket(int64_t value, uint64_t count) {
    if (value <= kMaxValue) [[likely]] {
      const int octave = OctaveOf(value);
      OctaveBuckets(octave)[SubBucketOf(value, octave)] += count;
    } else {
      overflow_count_ += count;
    }
  }

  std::unique_ptr<uint64_t[]> octaves_[kOctaves];
  int64_t* allocated_bytes_ = nullptr;
  uint64_t count_ = 0;
  uint64_t overflow_count_ = 0;
  int64_t min_ = std::numeric_limits<int64_t>::max();
  int64_t max_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

constexpr int LogHistogram::BucketIndex(int64_t value) {
  const int octave = OctaveOf(value);
  return octave * kSubBuckets + SubBucketOf(value, octave);
}

constexpr int64_t LogHistogram::BucketLower(int index) {
  const int octave = index / kSubBuckets;
  // All octaves except the first have their highest bit above the sub-bucket
  // bits.
  const int64_t leading = octave > 0 ? kSubBuckets : 0;
  return (leading + index % kSubBuckets) << ShiftOf(octave);
}

constexpr int64_t LogHistogram::BucketUpper(int index) {
  const int64_t width = int64_t{1} << ShiftOf(index / kSubBuckets);
  return BucketLower(index) + width - 1;
}

// Inline, because it is on the path of every RPC: no call, and a constant count
// folds away.
inline void LogHistogram::RecordN(int64_t value, uint64_t count) {
  if (count == 0) {
    return;
  }
  value = std::max<int64_t>(value, 0);
  CountInBucket(value, count);
  count_ += count;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  const double total = static_cast<double>(value) * static_cast<double>(count);
  sum_ += total;
  sum_of_squares_ += total * static_cast<double>(value);
}

// Kept in registers, so that no value waits for the stores of the one before.
template <typename Items, typename ValueOf>
void LogHistogram::RecordEach(const Items& items, const ValueOf& value_of) {
  int64_t min = min_;
  int64_t max = max_;
  double sum = sum_;
  double sum_of_squares = sum_of_squares_;
  for (const auto& item : items) {
    const int64_t value = std::max<int64_t>(value_of(item), 0);
    CountInBucket(value, 1);
    min = std::min(min, value);
    max = std::max(max, value);
    const double number = static_cast<double>(value);
    sum += number;
    sum_of_squares += number * number;
  }
  count_ += items.size();
  min_ = min;
  max_ = max;
  sum_ = sum;
  sum_of_squares_ = sum_of_squares;
}

// Exact extremes and moments of non-negative values: a histogram without its
// buckets.
struct RunningMoments {
  RunningMoments() = default;
  explicit RunningMoments(const LogHistogram& histogram)
      : count(static_cast<int64_t>(histogram.count())) {
    if (count == 0) return;
    min = histogram.min();
    max = histogram.max();
    sum = histogram.sum();
    sum_of_squares = histogram.sum_of_squares();
  }

  // Same as LogHistogram::RecordEach(): negative values count as 0.
  template <typename Items, typename ValueOf>
  void RecordEach(const Items& items, const ValueOf& value_of) {
    for (const auto& item : items) {
      const int64_t value = std::max<int64_t>(value_of(item), 0);
      min = std::min(min, value);
      max = std::max(max, value);
      sum += static_cast<double>(value);
      sum_of_squares += static_cast<double>(value) * static_cast<double>(value);
    }
    count += static_cast<int64_t>(items.size());
  }

  void Merge(const RunningMoments& other) {
    count += other.count;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    sum += other.sum;
    sum_of_squares += other.sum_of_squares;
  }

  int64_t count = 0;
  int64_t min = std::numeric_limits<int64_t>::max();  // if empty
  int64_t max = 0;
  double sum = 0;
  double sum_of_squares = 0;
};

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_LOG_HISTOGRAM_H_
