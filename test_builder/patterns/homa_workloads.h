// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The message sizes of workloads W1 to W5 from "Homa: A Receiver-Driven
// Low-Latency Transport Protocol Using Network Priorities" (SIGCOMM 2018).

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_WORKLOADS_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_WORKLOADS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::test_builder {

struct MessageSizeCdf {
  struct Point {
    int64_t bytes;
    double cdf;  // share of messages of at most this size
  };
  std::vector<Point> points;  // ascending; the cdf of the last one is 1
  double mean_bytes = 0;
};

// How to reduce a workload with hundreds of sizes.
struct SizeBuckets {
  // Larger messages are reduced to this size.
  int64_t max_message_bytes;

  // A size is kept if it represents at least this share of the messages ...
  double min_bucket_fraction;

  // ... or if the next size would exceed the last kept one by more than this
  // factor.
  double max_size_ratio;
};

// `workload` is "w1" to "w5".
MessageSizeCdf HomaMessageSizes(absl::string_view workload,
                                const SizeBuckets& buckets);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_WORKLOADS_H_
