// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/patterns/homa_workloads.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "glog/logging.h"

namespace distbench::test_builder {
namespace {

struct Row {
  absl::string_view workload;
  int64_t bytes;
  double weight;
};

// By workload, ascending in size.
constexpr Row kRows[] = {
#include "test_builder/patterns/homa_workloads.inc"
};

// The weights have twelve decimals. As integers they add up without rounding,
// so thresholds are compared with the published values.
int64_t UnitsOf(const Row& row) {
  return static_cast<int64_t>(row.weight * 1e12 + 0.5);
}

std::vector<MessageSizeCdf::Point> KeepSizes(const std::vector<Row>& rows,
                                             const SizeBuckets& buckets) {
  int64_t total = 0;
  for (const Row& row : rows) total += UnitsOf(row);

  std::vector<MessageSizeCdf::Point> kept;
  MessageSizeCdf::Point last = {0, 0.0};
  int64_t running = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t bytes = rows[i].bytes;
    running += UnitsOf(rows[i]);
    if (bytes >= buckets.max_message_bytes || running >= total) {
      kept.push_back({std::min(bytes, buckets.max_message_bytes), 1.0});
      return kept;
    }
    const double cdf =
        static_cast<double>(running) / static_cast<double>(total);
    // There is a next size, because the last one reaches the total and has
    // returned above.
    const double next_bytes = static_cast<double>(rows[i + 1].bytes);
    if (cdf - last.cdf >= buckets.min_bucket_fraction ||
        buckets.max_size_ratio * static_cast<double>(last.bytes) < next_bytes) {
      last = {bytes, cdf};
      kept.push_back(last);
    }
  }
  LOG(FATAL) << "a workload without messages";
}

}  // namespace

MessageSizeCdf HomaMessageSizes(absl::string_view workload,
                                const SizeBuckets& buckets) {
  std::vector<Row> rows;
  absl::c_copy_if(kRows, std::back_inserter(rows), [workload](const Row& row) {
    return row.workload == workload;
  });
  CHECK(!rows.empty()) << "no workload is called " << workload;
  MessageSizeCdf sizes = {KeepSizes(rows, buckets)};
  double previous_cdf = 0;
  for (const MessageSizeCdf::Point& point : sizes.points) {
    sizes.mean_bytes +=
        static_cast<double>(point.bytes) * (point.cdf - previous_cdf);
    previous_cdf = point.cdf;
  }
  return sizes;
}

}  // namespace distbench::test_builder
