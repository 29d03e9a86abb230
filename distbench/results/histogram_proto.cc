#include "distbench/results/histogram_proto.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::results {
namespace {

// The range of a message's buckets; `last` is -1 if there are none.
struct BucketSpan {
  int first = 0;
  int last = -1;
  bool empty() const { return last < 0; }
};

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
absl::Status ValidateBuckets(const Histogram& proto, BucketSpan& span) {
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
    if (i == 0) {
      span.first = index;
    }
    span.last = index;
  }
  return absl::OkStatus();
}

absl::Status ValidateTotalCount(const Histogram& proto) {
  uint64_t remaining = std::numeric_limits<int64_t>::max();
  bool fits = proto.overflow_count() <= remaining;
  remaining -= fits ? proto.overflow_count() : 0;
  for (uint64_t count : proto.bucket_counts()) {
    fits = fits && count <= remaining;
    remaining -= fits ? count : 0;
  }
  if (!fits) {
    return absl::InvalidArgumentError("histogram counts more than 2^63 values");
  }
  return absl::OkStatus();
}

// Whether the exact extremes lie in the outermost buckets.
bool ExtremesMatch(const Histogram& proto, const BucketSpan& span) {
  const auto bucket_of = [](int64_t value) {
    return value <= stats::LogHistogram::kMaxValue
               ? stats::LogHistogram::BucketIndex(value)
               : stats::LogHistogram::kBucketCount;
  };
  const int first =
      span.empty() ? stats::LogHistogram::kBucketCount : span.first;
  const int last = proto.overflow_count() > 0
                       ? stats::LogHistogram::kBucketCount
                       : span.last;
  return proto.has_min() && proto.has_max() && proto.min() >= 0 &&
         proto.min() <= proto.max() && bucket_of(proto.min()) == first &&
         bucket_of(proto.max()) == last;
}

absl::Status ValidateHistogramMoments(const Histogram& proto,
                                      const BucketSpan& span) {
  const bool extremes_match = IsEmpty(proto)
                                  ? !proto.has_min() && !proto.has_max()
                                  : ExtremesMatch(proto, span);
  if (!extremes_match) {
    return absl::InvalidArgumentError(
        absl::StrCat("histogram has a min of ", proto.min(), " and a max of ",
                     proto.max(), ", which its buckets contradict"));
  }
  const auto is_sum = [](double value) {
    return std::isfinite(value) && value >= 0;
  };
  if (!is_sum(proto.sum()) || !is_sum(proto.sum_of_squares())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "histogram has a sum of ", proto.sum(), " and a sum of squares of ",
        proto.sum_of_squares(), "; both must be finite and at least 0"));
  }
  return absl::OkStatus();
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

absl::Status ValidateHistogram(const Histogram& proto) {
  BucketSpan span;
  absl::Status status = ValidateLayout(proto);
  if (status.ok()) status = ValidateBuckets(proto, span);
  if (status.ok()) status = ValidateTotalCount(proto);
  if (status.ok()) status = ValidateHistogramMoments(proto, span);
  return status;
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

void MergeHistogram(const Histogram& from, Histogram& into) {
  if (IsEmpty(into)) {
    into = from;
    return;
  }
  stats::LogHistogram sum;
  AddHistogram(into, sum).IgnoreError();
  AddHistogram(from, sum).IgnoreError();
  EncodeHistogram(sum, into);
}

}  // namespace distbench::results
