#include "distbench/stats/packed_histogram.h"

namespace distbench {
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

}  // namespace

PackedHistogram::PackedHistogram(const LogHistogram& histogram)
    : overflow_count_(histogram.overflow_count()) {
  if (histogram.count() == 0) return;
  int previous_index = 0;
  for (const LogHistogram::Bucket& bucket : histogram.Buckets()) {
    AppendVarint(bucket.index - previous_index, buckets_);
    AppendVarint(bucket.count, buckets_);
    previous_index = bucket.index;
  }
  buckets_.shrink_to_fit();
  min_ = histogram.min();
  max_ = histogram.max();
  sum_ = histogram.sum();
  sum_of_squares_ = histogram.sum_of_squares();
}

void PackedHistogram::AddTo(LogHistogram& histogram) const {
  if (empty()) return;
  int index = 0;
  for (size_t position = 0; position < buckets_.size();) {
    index += static_cast<int>(ReadVarint(buckets_, position));
    histogram.AddToBucket(index, ReadVarint(buckets_, position));
  }
  histogram.AddOverflow(overflow_count_);
  histogram.AddMoments(min_, max_, sum_, sum_of_squares_);
}

}  // namespace distbench
