// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/log_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace distbench::stats {
namespace {

constexpr int64_t kOctaveBytes = LogHistogram::kSubBuckets * sizeof(uint64_t);

}  // namespace

LogHistogram& LogHistogram::operator=(const LogHistogram& other) {
  LogHistogram copy(other);
  *this = std::move(copy);
  return *this;
}

void LogHistogram::AllocateOctave(int octave) {
  octaves_[octave] = std::make_unique<uint64_t[]>(kSubBuckets);
  if (allocated_bytes_ != nullptr) *allocated_bytes_ += kOctaveBytes;
}

int64_t LogHistogram::allocated_bytes() const {
  return kOctaveBytes *
         std::count_if(std::begin(octaves_), std::end(octaves_),
                       [](const auto& buckets) { return buckets != nullptr; });
}

void LogHistogram::Merge(const LogHistogram& other) {
  for (int octave = 0; octave < kOctaves; ++octave) {
    const uint64_t* from = other.octaves_[octave].get();
    if (from == nullptr) {
      continue;
    }
    uint64_t* into = OctaveBuckets(octave);
    for (int i = 0; i < kSubBuckets; ++i) {
      into[i] += from[i];
    }
  }
  count_ += other.count_;
  overflow_count_ += other.overflow_count_;
  AddMoments(other.min_, other.max_, other.sum_, other.sum_of_squares_);
}

void LogHistogram::Clear() {
  for (const std::unique_ptr<uint64_t[]>& buckets : octaves_) {
    if (buckets != nullptr) std::fill_n(buckets.get(), kSubBuckets, 0);
  }
  count_ = 0;
  overflow_count_ = 0;
  min_ = std::numeric_limits<int64_t>::max();
  max_ = 0;
  sum_ = 0;
  sum_of_squares_ = 0;
}

double LogHistogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

double LogHistogram::standard_deviation() const {
  if (count_ == 0) return 0;
  const double mean_square = sum_of_squares_ / static_cast<double>(count_);
  return std::sqrt(std::max(0.0, mean_square - mean() * mean()));
}

int64_t LogHistogram::ValueAtQuantile(double quantile) const {
  const uint64_t last = count_ - 1;
  const uint64_t position = std::min(
      last, static_cast<uint64_t>(static_cast<double>(count_) * quantile));
  if (position == 0) {
    return min_;
  }
  if (position == last) {
    return max_;
  }
  uint64_t seen = 0;
  for (int octave = 0; octave < kOctaves; ++octave) {
    const uint64_t* buckets = octaves_[octave].get();
    for (int i = 0; buckets != nullptr && i < kSubBuckets; ++i) {
      seen += buckets[i];
      if (seen > position) {
        const int index = octave * kSubBuckets + i;
        const int64_t middle = (BucketLower(index) + BucketUpper(index)) / 2;
        return std::clamp(middle, min_, max_);
      }
    }
  }
  return max_;  // among those that overflowed
}

uint64_t LogHistogram::CountAtMost(int64_t value) const {
  if (value < 0) {
    return 0;
  }
  if (value >= max_) {
    return count_;
  }
  if (value > kMaxValue) {
    return count_ - overflow_count_;
  }
  const int last_octave = OctaveOf(value);
  uint64_t result = 0;
  for (int octave = 0; octave <= last_octave; ++octave) {
    const uint64_t* buckets = octaves_[octave].get();
    const int end = octave < last_octave ? kSubBuckets
                                         : SubBucketOf(value, last_octave) + 1;
    for (int i = 0; buckets != nullptr && i < end; ++i) {
      result += buckets[i];
    }
  }
  return result;
}

std::vector<LogHistogram::Bucket> LogHistogram::Buckets() const {
  std::vector<Bucket> result;
  for (int octave = 0; octave < kOctaves; ++octave) {
    const uint64_t* buckets = octaves_[octave].get();
    for (int i = 0; buckets != nullptr && i < kSubBuckets; ++i) {
      if (buckets[i] > 0) {
        const int index = octave * kSubBuckets + i;
        result.push_back(
            {index, BucketLower(index), BucketUpper(index), buckets[i]});
      }
    }
  }
  return result;
}

void LogHistogram::AddToBucket(int index, uint64_t count) {
  OctaveBuckets(index / kSubBuckets)[index % kSubBuckets] += count;
  count_ += count;
}

void LogHistogram::AddOverflow(uint64_t count) {
  overflow_count_ += count;
  count_ += count;
}

void LogHistogram::AddMoments(int64_t min, int64_t max, double sum,
                              double sum_of_squares) {
  min_ = std::min(min_, min);
  max_ = std::max(max_, max);
  sum_ += sum;
  sum_of_squares_ += sum_of_squares;
}

}  // namespace distbench::stats
