// The message sizes of workloads W1 to W5 from "Homa: A Receiver-Driven
// Low-Latency Transport Protocol Using Network Priorities" (SIGCOMM 2018).

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_WORKLOADS_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_WORKLOADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench {

// "w1" and so on.
std::vector<std::string> HomaWorkloadNames();

struct MessageSizeCdf {
  struct Point {
    int64_t bytes;
    double cdf;  // share of messages of at most this size
  };
  std::vector<Point> points;  // ascending; cdf of the last one is 1
  double mean_bytes = 0;
};

// How a workload of hundreds of sizes is thinned out.
struct SizeBuckets {
  // Larger messages count as this size.
  int64_t max_message_bytes;

  // A size is kept if it stands for at least this share of the messages ...
  double min_bucket_fraction;

  // ... or if the next size would be more than this factor above the last one
  // that was kept.
  double max_size_ratio;
};

// `workload` is one of HomaWorkloadNames().
MessageSizeCdf HomaMessageSizes(absl::string_view workload,
                                const SizeBuckets& buckets);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_WORKLOADS_H_
