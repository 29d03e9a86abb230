#include "distbench/node/traffic_metrics.h"

#include <algorithm>

namespace distbench::node {

void TrafficMetrics::AddRpc(const std::string& test, const std::string& rpc,
                            const metrics::RpcTraffic& more) {
  absl::MutexLock lock(&mutex_);
  totals_.Add(more.counts);
  Counted& counted = Find({test, rpc});
  counted.traffic.Add(more);
  counted.last_use = ++uses_;
}

void TrafficMetrics::AddCpuSeconds(double more) {
  absl::MutexLock lock(&mutex_);
  cpu_seconds_ += more;
}

void TrafficMetrics::SetInFlight(int64_t count) {
  absl::MutexLock lock(&mutex_);
  in_flight_count_ = count;
}

TrafficMetrics::Counted& TrafficMetrics::Find(TestAndRpc key) {
  const auto found = rpcs_.find(key);
  if (found != rpcs_.end()) return found->second;
  if (rpcs_.size() >= kMostRpcs && !ForgetOldestExceptOf(key.first)) {
    key.second = metrics::kOtherNames;
  }
  return rpcs_[std::move(key)];
}

bool TrafficMetrics::ForgetOldestExceptOf(const std::string& test) {
  // The map is in the order of tests.
  if (rpcs_.begin()->first.first == test && rpcs_.rbegin()->first.first == test)
    return false;
  const auto use = [&](const auto& rpc) {
    return std::pair(rpc.first.first == test, rpc.second.last_use);
  };
  rpcs_.erase(std::min_element(
      rpcs_.begin(), rpcs_.end(),
      [&](const auto& a, const auto& b) { return use(a) < use(b); }));
  return true;
}

std::vector<prometheus::MetricFamily> TrafficMetrics::Collect() const {
  absl::MutexLock lock(&mutex_);
  std::vector<metrics::LabelledTraffic> rpcs;
  for (const auto& [key, counted] : rpcs_) {
    rpcs.push_back(
        {{{"test", key.first}, {"rpc", key.second}}, counted.traffic});
  }
  std::vector<prometheus::MetricFamily> families = metrics::RpcFamilies(rpcs);
  families.push_back(metrics::Counter("distbench_rpcs_succeeded_total",
                                      "RPCs that succeeded, of all tests",
                                      static_cast<double>(totals_.succeeded)));
  families.push_back(metrics::Counter("distbench_rpcs_failed_total",
                                      "RPCs that failed, of all tests",
                                      static_cast<double>(totals_.failed)));
  families.push_back(metrics::Gauge("distbench_rpcs_in_flight",
                                    "RPCs that have not ended",
                                    static_cast<double>(in_flight_count_)));
  families.push_back(
      metrics::Counter("distbench_tests_cpu_seconds_total",
                       "CPU time of the node manager and its engines "
                       "during tests",
                       cpu_seconds_));
  return families;
}

}  // namespace distbench::node
