// A mergeable log-linear histogram of non-negative 64-bit values.

#ifndef DISTBENCH_STATS_HISTOGRAM_H_
#define DISTBENCH_STATS_HISTOGRAM_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace distbench {

// Values below 128 are counted one by one; above, every octave is divided into
// 128 buckets of equal width, so that a quantile is off by less than 1/128
// (0.8 %) of itself, and by half of that where the middle of a bucket stands
// for its values. The buckets of an octave are allocated at its first value.
//
// Recording takes a few nanoseconds and allocates at most once per octave.
// Merging is exact: the histogram of two sets of values is the sum of theirs.
// Not thread-safe.
class Histogram {
 public:
  static constexpr int kSubBucketBits = 7;
  static constexpr int kSubBuckets = 1 << kSubBucketBits;

  // About 78 hours in nanoseconds; larger values are counted as overflow.
  static constexpr int64_t kMaxValue = (int64_t{1} << 48) - 1;

  // One bucket with a count. Values are lower <= value <= upper.
  struct Bucket {
    int index;
    int64_t lower;
    int64_t upper;
    uint64_t count;
  };

  Histogram() = default;
  Histogram(Histogram&&) = default;
  Histogram& operator=(Histogram&&) = default;
  Histogram(const Histogram& other) { Merge(other); }
  Histogram& operator=(const Histogram& other);

  // Negative values are recorded as 0.
  void Record(int64_t value) { RecordN(value, 1); }
  void RecordN(int64_t value, uint64_t count);

  // Adds the values of other.
  void Merge(const Histogram& other);

  // All values, overflow included.
  uint64_t count() const { return count_; }
  uint64_t overflow_count() const { return overflow_count_; }

  // Exact. Requires count() > 0.
  int64_t min() const { return min_; }
  int64_t max() const { return max_; }

  // Exact, but for rounding of doubles; 0 if empty.
  double sum() const { return sum_; }
  double sum_of_squares() const { return sum_of_squares_; }
  double mean() const;

  // The value at position floor(count * quantile) of the sorted values, to
  // within half a bucket, and never outside [min(), max()]. Requires
  // count() > 0 and 0 <= quantile <= 1.
  int64_t ValueAtQuantile(double quantile) const;

  // Values that are at most value, to within the bucket of value.
  uint64_t CountAtMost(int64_t value) const;

  // Buckets with a count, ascending.
  std::vector<Bucket> Buckets() const;

  // Puts a decoded histogram together: adds count values to the bucket, and
  // sets what buckets do not tell. index must be in [0, kBucketCount).
  static constexpr int kOctaves = 48 - kSubBucketBits + 1;
  static constexpr int kBucketCount = kOctaves * kSubBuckets;
  void AddToBucket(int index, uint64_t count);
  void AddOverflow(uint64_t count);
  void SetMoments(int64_t min, int64_t max, double sum, double sum_of_squares);

 private:
  using Octave = uint64_t[kSubBuckets];

  std::unique_ptr<Octave> octaves_[kOctaves];
  uint64_t count_ = 0;
  uint64_t overflow_count_ = 0;
  int64_t min_ = std::numeric_limits<int64_t>::max();
  int64_t max_ = std::numeric_limits<int64_t>::min();
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_STATS_HISTOGRAM_H_
