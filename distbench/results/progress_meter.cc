// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/progress_meter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"

namespace distbench::results {
namespace {

// The part that `count` is of it and the others; 0 of nothing.
double ShareOf(int64_t count, int64_t others) {
  if (count <= 0) return 0;
  const double part = static_cast<double>(count);
  return part / (part + static_cast<double>(std::max<int64_t>(0, others)));
}

}  // namespace

std::optional<double> LatenciesWithFailures::Percentile(double quantile) const {
  const double succeeded_share = 1 - failed_share;
  if (quantile > succeeded_share) {
    return std::numeric_limits<double>::infinity();
  }
  if (succeeded_ns.count() == 0) return std::nullopt;
  return static_cast<double>(
      succeeded_ns.ValueAtQuantile(quantile / succeeded_share));
}

std::string LatenciesWithFailures::PercentileText(double percent) const {
  const std::optional<double> ns = Percentile(percent / 100);
  if (!ns) return "";
  return absl::StrCat("p", percent, " ",
                      std::isinf(*ns) ? "failed" : base::HumanDuration(*ns));
}

void ProgressMeter::Add(const TrafficProgress& report) {
  recent_.Add(report);
  last_ = report;
  last_.clear_recent_service_time_ns();
  last_.clear_recent_response_time_ns();
  last_.clear_recent_rpcs();
}

void ProgressMeter::BeginInterval() {
  first_ = last_;
  recent_.Clear();
}

int64_t ProgressMeter::time_ns() const {
  return std::max<int64_t>(0,
                           base::SaturatingSubtract(last_.traffic_time_ns(),
                                                    first_.traffic_time_ns()));
}

double ProgressMeter::PerSecond(Count count) const {
  if (time_ns() == 0) return 0;
  return static_cast<double>(
             base::SaturatingSubtract((last_.*count)(), (first_.*count)())) /
         base::ToSeconds(time_ns());
}

LatenciesWithFailures ProgressMeter::latencies() const {
  const auto grown = [&](Count count) {
    return base::SaturatingSubtract((last_.*count)(), (first_.*count)());
  };
  return {.succeeded_ns = recent_.times().latency_ns(),
          .failed_share = ShareOf(grown(&TrafficProgress::failed_count),
                                  grown(&TrafficProgress::succeeded_count))};
}

bool ProgressMeter::has_response_times() const {
  return recent_.times().response_ns.count() > 0;
}

std::map<std::string, ProgressMeter::Rpc> ProgressMeter::rpcs() const {
  int64_t succeeded = 0;
  int64_t failed = 0;
  for (const auto& [name, rpc] : recent_.rpcs()) {
    base::SaturatingAddTo(succeeded, rpc.succeeded_count);
    base::SaturatingAddTo(failed, rpc.failed_count);
  }
  const double succeeded_rate = PerSecond(&TrafficProgress::succeeded_count);
  const double failed_rate = PerSecond(&TrafficProgress::failed_count);
  std::map<std::string, Rpc> rpcs;
  for (const auto& [name, rpc] : recent_.rpcs()) {
    const auto part_of = [](double rate, int64_t count, int64_t sum) {
      return rate * ShareOf(count, base::SaturatingSubtract(sum, count));
    };
    rpcs.try_emplace(
        name,
        Rpc{.succeeded_per_second =
                part_of(succeeded_rate, rpc.succeeded_count, succeeded),
            .failed_per_second = part_of(failed_rate, rpc.failed_count, failed),
            .latencies = {.succeeded_ns = rpc.times.latency_ns(),
                          .failed_share =
                              ShareOf(rpc.failed_count, rpc.succeeded_count)}});
  }
  return rpcs;
}

}  // namespace distbench::results
