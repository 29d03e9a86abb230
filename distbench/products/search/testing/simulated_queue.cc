// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/testing/simulated_queue.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::search {
namespace {

using Visit = absl::FunctionRef<void(double arrival, double response)>;

void SimulateFirstComeFirstServed(const SimulatedQueue& queue, double load,
                                  double seconds, std::mt19937_64& random,
                                  Visit visit) {
  std::exponential_distribution<> gap(load);
  std::exponential_distribution<> service(queue.service_rate);
  double waiting = 0;
  double now = 0;
  while (true) {
    const double step = gap(random);
    now += step;
    if (now >= seconds) return;
    waiting = std::max(0.0, waiting - step);
    waiting += queue.kind == QueueKind::kFixedService ? 1 / queue.service_rate
                                                      : service(random);
    visit(now, waiting);
  }
}

// All requests present are served at equal rates. `served` is how much service
// a request would have received that was present from the start, so that each
// request ends at a value of it that is known when the request arrives.
class SharedProcessor {
 public:
  explicit SharedProcessor(Visit visit) : visit_(visit) {}

  void Arrive(double service) { ends_.emplace(served_ + service, now_); }

  // Goes on until `time`, or until all requests have ended.
  void AdvanceTo(double time) {
    while (!ends_.empty()) {
      const auto [end, arrival] = ends_.top();
      const double present = static_cast<double>(ends_.size());
      const double left = (end - served_) * present;
      if (now_ + left > time) {
        served_ += (time - now_) / present;
        break;
      }
      now_ += left;
      served_ = end;
      ends_.pop();
      visit_(arrival, now_ - arrival);
    }
    now_ = time;
  }

 private:
  using End = std::pair<double, double>;  // value of served_, arrival

  Visit visit_;
  double now_ = 0;
  double served_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

// M/D/1: P(response <= t) = (1 - r) sum over k <= (t - D) / D of
// (-L (t - D - kD))^k / k! exp(L (t - D - kD)).
double ShareWithin(double load, double service_rate, double response) {
  const long double service = 1 / service_rate;
  const long double time = response - service;
  long double sum = 0;
  for (int k = 0; k * service <= time; ++k) {
    const long double x = load * (time - k * service);
    sum += std::pow(-x, k) / std::tgamma(k + 1.0L) * std::exp(x);
  }
  return static_cast<double>((1 - load * service) * sum);
}

}  // namespace

void Simulate(const SimulatedQueue& queue, double load, double seconds,
              std::mt19937_64& random, Visit visit) {
  if (queue.kind != QueueKind::kProcessorSharing) {
    SimulateFirstComeFirstServed(queue, load, seconds, random, visit);
    return;
  }
  std::exponential_distribution<> gap(load);
  std::exponential_distribution<> service(queue.service_rate);
  SharedProcessor processor(visit);
  for (double now = gap(random); now < seconds; now += gap(random)) {
    processor.AdvanceTo(now);
    processor.Arrive(service(random));
  }
  processor.AdvanceTo(std::numeric_limits<double>::infinity());
}

double CapacityForMean(const SimulatedQueue& queue, double limit) {
  const double rate = queue.service_rate;
  if (queue.kind != QueueKind::kFixedService) return rate - 1 / limit;
  // limit = (1 + r / (2 (1 - r))) / rate, solved for r.
  const double excess = 2 * (limit * rate - 1);
  return rate * excess / (1 + excess);
}

double CapacityForQuantile(const SimulatedQueue& queue, double quantile,
                           double limit) {
  const double rate = queue.service_rate;
  if (queue.kind == QueueKind::kExponentialService) {
    return rate - std::log(1 / (1 - quantile)) / limit;
  }
  double low = rate / 10;
  double high = rate * 0.999;
  while (high / low > 1.00001) {
    const double middle = (low + high) / 2;
    (ShareWithin(middle, rate, limit) > quantile ? low : high) = middle;
  }
  return low;
}

namespace {

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

struct Second {
  int64_t warmup_count = 0;
  int64_t failed_count = 0;
  stats::LogHistogram latency_ns;
};

struct Measured {
  int64_t start_ns = 0;  // without the warm-up
  int64_t end_ns = 0;
  int64_t offered_count = 0;
  int64_t failed_count = 0;
  stats::LogHistogram latency_ns;
  std::map<int64_t, Second> seconds;  // by Unix time
};

template <typename Proto>
void EncodeLatency(const stats::LogHistogram& latency_ns, Proto& proto) {
  results::EncodeHistogram(latency_ns, *proto.mutable_service_time_ns());
  results::EncodeHistogram(latency_ns, *proto.mutable_response_time_ns());
}

void Encode(const Measured& measured, ServicePerformanceLog& log) {
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_succeeded_count(
      static_cast<int64_t>(measured.latency_ns.count()));
  statistics.set_failed_count(measured.failed_count);
  statistics.set_first_start_timestamp_ns(measured.start_ns);
  statistics.set_last_end_timestamp_ns(measured.end_ns);
  EncodeLatency(measured.latency_ns, statistics);
  (*log.mutable_offered_loads())[0].set_offered_count(measured.offered_count);
  RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
  series.set_interval_ns(base::kNsPerSecond);
  for (const auto& [unix_time, second] : measured.seconds) {
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(unix_time);
    interval.set_succeeded_count(
        static_cast<int64_t>(second.latency_ns.count()));
    interval.set_failed_count(second.failed_count);
    interval.set_warmup_count(second.warmup_count);
    EncodeLatency(second.latency_ns, interval);
  }
}

}  // namespace

DistributedSystemDescription SimulatedTest(int64_t interval_ns) {
  auto test = base::FromText<DistributedSystemDescription>(
      R"(services { name: "client" count: 1 x_size: 1 }
         services { name: "server" count: 1 x_size: 1 }
         rpc_descriptions {
           name: "query" client: "client" server: "server"
         }
         action_lists { name: "client" action_names: "send" }
         action_lists { name: "query" }
         actions { name: "send" rpc_name: "query" iterations {} })");
  test.mutable_actions(0)->mutable_iterations()->set_open_loop_interval_ns(
      interval_ns);
  return test;
}

TestResult SimulatedSystem::Run(const DistributedSystemDescription& test) {
  const Iterations& iterations = test.actions(0).iterations();
  const double load = base::kNsPerSecond /
                      static_cast<double>(iterations.open_loop_interval_ns());
  const double warmup = base::ToSeconds(iterations.warmup_ns());
  const double seconds =
      static_cast<double>(iterations.max_duration_us()) / base::kUsPerSecond;
  // Runs start at any point within a second.
  const int64_t start_ns = kStartNs + std::uniform_int_distribution<int64_t>(
                                          0, base::kNsPerSecond - 1)(random_);
  std::bernoulli_distribution fails(failure_share_);
  Measured measured;
  measured.start_ns = start_ns + iterations.warmup_ns();
  measured.end_ns = start_ns + std::llround(seconds * base::kNsPerSecond);
  const auto record = [&](double arrival, double response) {
    const int64_t end_ns =
        start_ns + std::llround((arrival + response) * base::kNsPerSecond);
    Second& second = measured.seconds[end_ns / base::kNsPerSecond];
    if (arrival < warmup) {
      ++second.warmup_count;
      return;
    }
    ++measured.offered_count;
    if (fails(random_)) {
      ++measured.failed_count;
      ++second.failed_count;
      return;
    }
    const int64_t latency_ns = std::llround(response * base::kNsPerSecond);
    measured.latency_ns.Record(latency_ns);
    second.latency_ns.Record(latency_ns);
  };
  Simulate(queue_, load, seconds, random_, record);
  TestResult result;
  *result.mutable_traffic_config() = test;
  result.mutable_run_info()->set_start_timestamp_ns(start_ns);
  result.mutable_run_info()->set_end_timestamp_ns(measured.end_ns);
  Encode(measured,
         (*result.mutable_service_logs()->mutable_instance_logs())["client/0"]);
  return result;
}

}  // namespace distbench::search
