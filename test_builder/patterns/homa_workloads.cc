#include "test_builder/patterns/homa_workloads.h"

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

struct Weight {
  int64_t bytes;
  int64_t units;
};

// The weights have twelve decimals. As integers they add up without rounding,
// so thresholds are compared with the published values.
constexpr double kUnitsPerWeight = 1e12;

std::vector<Weight> WeightsOf(absl::string_view workload) {
  std::vector<Weight> weights;
  for (const Row& row : kRows) {
    if (row.workload != workload) continue;
    weights.push_back(
        {row.bytes, static_cast<int64_t>(row.weight * kUnitsPerWeight + 0.5)});
  }
  return weights;
}

std::vector<MessageSizeCdf::Point> KeepSizes(const std::vector<Weight>& weights,
                                             const SizeBuckets& buckets) {
  int64_t total = 0;
  for (const Weight& weight : weights) total += weight.units;

  std::vector<MessageSizeCdf::Point> kept;
  MessageSizeCdf::Point last = {0, 0.0};
  int64_t running = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t bytes = weights[i].bytes;
    running += weights[i].units;
    if (bytes >= buckets.max_message_bytes) {
      kept.push_back({buckets.max_message_bytes, 1.0});
      return kept;
    }
    if (running >= total) {
      kept.push_back({bytes, 1.0});
      return kept;
    }
    const double cdf =
        static_cast<double>(running) / static_cast<double>(total);
    // There is a next size, because the last one reaches the total and has
    // returned above.
    const double next_bytes = static_cast<double>(weights[i + 1].bytes);
    if (cdf - last.cdf >= buckets.min_bucket_fraction ||
        buckets.max_size_ratio * static_cast<double>(last.bytes) < next_bytes) {
      last = {bytes, cdf};
      kept.push_back(last);
    }
  }
  LOG(FATAL) << "a workload without messages";
}

}  // namespace

std::vector<std::string> HomaWorkloadNames() {
  return {"w1", "w2", "w3", "w4", "w5"};
}

MessageSizeCdf HomaMessageSizes(absl::string_view workload,
                                const SizeBuckets& buckets) {
  const std::vector<Weight> weights = WeightsOf(workload);
  CHECK(!weights.empty()) << "no workload is called " << workload;
  MessageSizeCdf sizes = {KeepSizes(weights, buckets)};
  double previous_cdf = 0;
  for (const MessageSizeCdf::Point& point : sizes.points) {
    sizes.mean_bytes +=
        static_cast<double>(point.bytes) * (point.cdf - previous_cdf);
    previous_cdf = point.cdf;
  }
  return sizes;
}

}  // namespace distbench::test_builder
