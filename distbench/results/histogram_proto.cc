// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/histogram_proto.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"

namespace distbench::results {
namespace {

bool IsSum(double value) { return std::isfinite(value) && value >= 0; }

bool IsEmpty(const Histogram& proto) {
  return proto.bucket_counts().empty() && proto.overflow_count() == 0;
}

absl::Status ValidateLayout(const Histogram& proto) {
  if (proto.sub_bucket_bits() != stats::LogHistogram::kSubBucketBits) {
    return absl::InvalidArgumentError(
        absl::StrCat("histogram has sub_bucket_bits ", proto.sub_bucket_bits(),
                     "; this version of distbench reads ",
                     stats::LogHistogram::kSubBucketBits));
  }
  if (proto.bucket_index_deltas_size() != proto.bucket_counts_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "histogram has ", proto.bucket_index_deltas_size(),
        " bucket indices for ", proto.bucket_counts_size(), " counts"));
  }
  return absl::OkStatus();
}

// Requires a valid layout.
absl::Status ValidateBuckets(const Histogram& proto) {
  int64_t index = 0;
  for (int i = 0; i < proto.bucket_index_deltas_size(); ++i) {
    const uint32_t delta = proto.bucket_index_deltas(i);
    if (i > 0 && delta == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("histogram names bucket ", index, " twice"));
    }
    index += delta;
    if (index >= stats::LogHistogram::kBucketCount) {
      return absl::InvalidArgumentError(
          absl::StrCat("histogram has a bucket ", index, "; the last one is ",
                       stats::LogHistogram::kBucketCount - 1));
    }
    if (proto.bucket_counts(i) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("histogram has an empty bucket ", index));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateTotalCount(const Histogram& proto, int64_t other_count) {
  absl::uint128 total = other_count;
  total += proto.overflow_count();
  for (const uint64_t count : proto.bucket_counts()) total += count;
  if (total <= std::numeric_limits<int64_t>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError("histogram counts more than 2^63 values");
}

// Whether the exact extremes lie in the outermost buckets, which are valid.
bool ExtremesMatch(const Histogram& proto) {
  constexpr int kOverflow = stats::LogHistogram::kBucketCount;
  const auto bucket_of = [](int64_t value) {
    return value <= stats::LogHistogram::kMaxValue
               ? stats::LogHistogram::BucketIndex(value)
               : kOverflow;
  };
  const auto& deltas = proto.bucket_index_deltas();
  const int first = deltas.empty() ? kOverflow : static_cast<int>(deltas[0]);
  const int last = proto.overflow_count() > 0
                       ? kOverflow
                       : std::accumulate(deltas.begin(), deltas.end(), 0);
  return proto.has_min() && proto.has_max() && proto.min() >= 0 &&
         proto.min() <= proto.max() && bucket_of(proto.min()) == first &&
         bucket_of(proto.max()) == last;
}

absl::Status ValidateHistogramMoments(const Histogram& proto) {
  const bool extremes_match = IsEmpty(proto)
                                  ? !proto.has_min() && !proto.has_max()
                                  : ExtremesMatch(proto);
  if (!extremes_match) {
    return absl::InvalidArgumentError(
        absl::StrCat("histogram has a min of ", proto.min(), " and a max of ",
                     proto.max(), ", which its buckets contradict"));
  }
  if (!IsSum(proto.sum()) || !IsSum(proto.sum_of_squares())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "histogram has a sum of ", proto.sum(), " and a sum of squares of ",
        proto.sum_of_squares(), "; both must be finite and at least 0"));
  }
  return absl::OkStatus();
}

// Of Histogram or ValueMoments.
template <typename Distribution>
absl::Status ValidateSums(const Distribution& proto,
                          const stats::RunningMoments& others) {
  if (IsSum(proto.sum() + others.sum) &&
      IsSum(proto.sum_of_squares() + others.sum_of_squares)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a sum of ", proto.sum(), " and a sum of squares of ",
                   proto.sum_of_squares(), " are too large to add to ",
                   others.sum, " and ", others.sum_of_squares));
}

}  // namespace

void EncodeHistogram(const stats::LogHistogram& histogram, Histogram& proto) {
  proto.Clear();
  proto.set_sub_bucket_bits(stats::LogHistogram::kSubBucketBits);
  if (histogram.count() == 0) {
    return;
  }
  int previous_index = 0;
  for (const stats::LogHistogram::Bucket& bucket : histogram.Buckets()) {
    proto.add_bucket_index_deltas(bucket.index - previous_index);
    proto.add_bucket_counts(bucket.count);
    previous_index = bucket.index;
  }
  if (histogram.overflow_count() > 0) {
    proto.set_overflow_count(histogram.overflow_count());
  }
  proto.set_min(histogram.min());
  proto.set_max(histogram.max());
  proto.set_sum(histogram.sum());
  proto.set_sum_of_squares(histogram.sum_of_squares());
}

void EncodeMoments(const stats::RunningMoments& moments, ValueMoments& proto) {
  proto.set_count(moments.count);
  proto.set_min(moments.min);
  proto.set_max(moments.max);
  proto.set_sum(moments.sum);
  proto.set_sum_of_squares(moments.sum_of_squares);
}

absl::Status ValidateHistogram(const Histogram& proto) {
  absl::Status status = ValidateLayout(proto);
  if (status.ok()) status = ValidateBuckets(proto);
  if (status.ok()) status = ValidateTotalCount(proto, /*other_count=*/0);
  if (status.ok()) status = ValidateHistogramMoments(proto);
  return status;
}

absl::Status ValidateMoments(const ValueMoments& proto) {
  const bool has_values = proto.count() > 0;
  if (proto.count() >= 0 && proto.has_min() == has_values &&
      proto.has_max() == has_values && proto.min() >= 0 &&
      proto.min() <= proto.max() && IsSum(proto.sum()) &&
      IsSum(proto.sum_of_squares())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("moments of ", proto.count(), " values with a min of ",
                   proto.min(), ", a max of ", proto.max(), ", a sum of ",
                   proto.sum(), " and a sum of squares of ",
                   proto.sum_of_squares(), " contradict themselves"));
}

absl::Status ValidateSum(const Histogram& proto,
                         const stats::RunningMoments& others) {
  const absl::Status status = ValidateTotalCount(proto, others.count);
  return status.ok() ? ValidateSums(proto, others) : status;
}

absl::Status ValidateSum(const ValueMoments& proto,
                         const stats::RunningMoments& others) {
  return ValidateSums(proto, others);
}

absl::Status AddHistogram(const Histogram& proto,
                          stats::LogHistogram& histogram) {
  if (absl::Status status = ValidateHistogram(proto); !status.ok()) {
    return status;
  }
  if (IsEmpty(proto)) {
    return absl::OkStatus();
  }
  int index = 0;
  for (int i = 0; i < proto.bucket_counts_size(); ++i) {
    index += static_cast<int>(proto.bucket_index_deltas(i));
    histogram.AddToBucket(index, proto.bucket_counts(i));
  }
  histogram.AddOverflow(proto.overflow_count());
  histogram.AddMoments(proto.min(), proto.max(), proto.sum(),
                       proto.sum_of_squares());
  return absl::OkStatus();
}

void AddMoments(const ValueMoments& proto, stats::RunningMoments& moments) {
  if (proto.count() == 0) return;
  moments.count = base::SaturatingAdd(moments.count, proto.count());
  moments.min = std::min(moments.min, proto.min());
  moments.max = std::max(moments.max, proto.max());
  moments.sum += proto.sum();
  moments.sum_of_squares += proto.sum_of_squares();
}

stats::LogHistogram HistogramOf(const Histogram& proto) {
  stats::LogHistogram histogram;
  AddHistogram(proto, histogram).IgnoreError();
  return histogram;
}

stats::RunningMoments MomentsOf(const ValueMoments& proto) {
  stats::RunningMoments moments;
  AddMoments(proto, moments);
  return moments;
}

void MergeHistogram(const Histogram& from, Histogram& into) {
  if (IsEmpty(into)) {
    into = from;
    return;
  }
  stats::LogHistogram sum = HistogramOf(into);
  AddHistogram(from, sum).IgnoreError();
  EncodeHistogram(sum, into);
}

}  // namespace distbench::results
