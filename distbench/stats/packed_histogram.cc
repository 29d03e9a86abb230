// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/packed_histogram.h"

#include <algorithm>

namespace distbench::stats {
namespace {

constexpr int kBitsPerByte = 7;
constexpr uint8_t kMore = 1 << kBitsPerByte;

void AppendVarint(uint64_t value, std::string& bytes) {
  while (value >= kMore) {
    bytes.push_back(static_cast<char>((value & (kMore - 1)) | kMore));
    value >>= kBitsPerByte;
  }
  bytes.push_back(static_cast<char>(value));
}

uint64_t ReadVarint(const std::string& bytes, size_t& position) {
  uint64_t value = 0;
  for (int shift = 0;; shift += kBitsPerByte) {
    const uint8_t byte = static_cast<uint8_t>(bytes[position++]);
    value |= uint64_t{byte & (kMore - 1u)} << shift;
    if (byte < kMore) return value;
  }
}

// Appends buckets in ascending order.
class BucketWriter {
 public:
  explicit BucketWriter(std::string& bytes) : bytes_(bytes) {}

  void Append(int index, uint64_t count) {
    AppendVarint(index - previous_index_, bytes_);
    AppendVarint(count, bytes_);
    previous_index_ = index;
  }

 private:
  std::string& bytes_;
  int previous_index_ = 0;
};

// Reads buckets in ascending order.
class BucketReader {
 public:
  explicit BucketReader(const std::string& bytes) : bytes_(bytes) { Next(); }

  bool at_end() const { return at_end_; }
  int index() const { return index_; }
  uint64_t count() const { return count_; }

  void Next() {
    at_end_ = position_ == bytes_.size();
    if (at_end_) return;
    index_ += static_cast<int>(ReadVarint(bytes_, position_));
    count_ = ReadVarint(bytes_, position_);
  }

 private:
  const std::string& bytes_;
  size_t position_ = 0;
  bool at_end_ = false;
  int index_ = 0;
  uint64_t count_ = 0;
};

std::string MergeBuckets(const std::string& a_bytes,
                         const std::string& b_bytes) {
  std::string merged;
  merged.reserve(a_bytes.size() + b_bytes.size());
  BucketWriter writer(merged);
  BucketReader a(a_bytes);
  BucketReader b(b_bytes);
  while (!a.at_end() || !b.at_end()) {
    const bool takes_a = b.at_end() || (!a.at_end() && a.index() <= b.index());
    const bool takes_b = a.at_end() || (!b.at_end() && b.index() <= a.index());
    writer.Append(takes_a ? a.index() : b.index(),
                  (takes_a ? a.count() : 0) + (takes_b ? b.count() : 0));
    if (takes_a) a.Next();
    if (takes_b) b.Next();
  }
  merged.shrink_to_fit();
  return merged;
}

}  // namespace

PackedHistogram::PackedHistogram(const LogHistogram& histogram)
    : overflow_count_(histogram.overflow_count()) {
  if (histogram.count() == 0) return;
  BucketWriter writer(buckets_);
  for (const LogHistogram::Bucket& bucket : histogram.Buckets()) {
    writer.Append(bucket.index, bucket.count);
  }
  buckets_.shrink_to_fit();
  min_ = histogram.min();
  max_ = histogram.max();
  sum_ = histogram.sum();
  sum_of_squares_ = histogram.sum_of_squares();
}

void PackedHistogram::AddTo(LogHistogram& histogram) const {
  if (empty()) return;
  for (BucketReader each(buckets_); !each.at_end(); each.Next()) {
    histogram.AddToBucket(each.index(), each.count());
  }
  histogram.AddOverflow(overflow_count_);
  histogram.AddMoments(min_, max_, sum_, sum_of_squares_);
}

void PackedHistogram::Merge(const PackedHistogram& other) {
  if (other.empty()) return;
  buckets_ = empty() ? other.buckets_ : MergeBuckets(buckets_, other.buckets_);
  overflow_count_ += other.overflow_count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
}

int64_t PackedHistogram::allocated_bytes() const {
  static const size_t kInPlace = std::string().capacity();
  return buckets_.capacity() > kInPlace
             ? static_cast<int64_t>(buckets_.capacity() + 1)
             : 0;
}

}  // namespace distbench::stats
