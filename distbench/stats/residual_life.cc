// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/residual_life.h"

#include <vector>

namespace distbench::stats {

ResidualLife ResidualAtQuantile(const LogHistogram& times, double quantile) {
  const std::vector<LogHistogram::Bucket> buckets = times.Buckets();
  const auto middle = [](const LogHistogram::Bucket& bucket) {
    return (static_cast<double>(bucket.lower) +
            static_cast<double>(bucket.upper)) /
           2;
  };
  double total = 0;
  for (const auto& bucket : buckets) {
    total += middle(bucket) * static_cast<double>(bucket.count);
  }
  const double wanted = (1 - quantile) * total;
  double count = 0;  // of the longest times
  double sum = 0;    // of these
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    if (sum - count * middle(*bucket) >= wanted) break;
    count += static_cast<double>(bucket->count);
    sum += middle(*bucket) * static_cast<double>(bucket->count);
  }
  if (count == 0) return {};
  return {.left = (sum - wanted) / count,
          .time_share = sum / total,
          .count_share = count / static_cast<double>(times.count())};
}

}  // namespace distbench::stats
