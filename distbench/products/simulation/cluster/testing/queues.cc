// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/cluster/testing/queues.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::simulation {

namespace {

constexpr double kServiceNs = 1e6;
constexpr double kNsPerByte = 10;

// There and back over two links each.
constexpr int64_t kLinkNs = 1000;
constexpr double kNetworkNs = 4 * kLinkNs;

constexpr double kSigma = 0.8;  // of lognormal service times
constexpr int64_t kLindleyCount = 20'000'000;

constexpr char kFabric[] = R"(
  host { cpus: $0 scheduler: $1 }
  single_switch { host_link { gbps: 8000000 delay_ns: $2 } }
  stacks {
    driver: "grpc"
    server_receive { fixed_ns: $3 ns_per_byte: $4 }
    sigma: $5
  })";

constexpr char kTest[] = R"(
  workers_per_instance: 1
  services { name: "client" count: 1 }
  services { name: "server" count: $0 }
  node_service_bundles { key: "node0" value { services: "client/0" } }
  node_service_bundles { key: "node1" value { $1 } }
  payload_descriptions { name: "request" size_distribution_name: "sizes" }
  size_distribution_configs { name: "sizes" field_names: "payload_size" $2 }
  rpc_descriptions { name: "ask" client: "client" server: "server"
                     request_payload_name: "request"
                     fanout_filter: "random" }
  action_lists { name: "client" action_names: "run" max_rpc_samples: 1 }
  action_lists { name: "ask" }
  actions { name: "run" rpc_name: "ask"
            iterations { max_iteration_count: $3 open_loop_interval_ns: $4
                         open_loop_interval_distribution: "exponential" } })";

constexpr char kForkJoinTest[] = R"(
  workers_per_instance: 1
  services { name: "client" count: 1 }
  services { name: "root" count: 1 }
  services { name: "leaf" count: $0 }
  rpc_descriptions { name: "ask" client: "client" server: "root" }
  rpc_descriptions { name: "serve" client: "root" server: "leaf"
                     fanout_filter: "all" }
  activity_pools { name: "server" size: 1 }
  activity_configs {
    name: "serve" pool_name: "server"
    activity_settings { name: "activity_func" string_value: "Wait" }
    activity_settings { name: "distribution" string_value: "exponential" }
    activity_settings { name: "mean_us" int64_value: $1 }
  }
  action_lists { name: "client" action_names: "run" max_rpc_samples: 1 }
  action_lists { name: "ask" action_names: "fork" max_rpc_samples: 1 }
  action_lists { name: "serve" action_names: "serve" }
  actions { name: "run" rpc_name: "ask"
            iterations { max_iteration_count: $2 open_loop_interval_ns: $3
                         open_loop_interval_distribution: "exponential" } }
  actions { name: "fork" rpc_name: "serve" }
  actions { name: "serve" activity_config_name: "serve" })";

// Points of an exponential distribution, so close to each other that it is
// nearly uniform between them.
std::string ExponentialSizes() {
  constexpr int kPoints = 300;
  constexpr double kMeans = 15;  // where it ends
  std::string points;
  for (int i = 0; i <= kPoints; ++i) {
    const double means = kMeans * i / kPoints;
    const double share = i == kPoints ? 1 : 1 - std::exp(-means);
    absl::StrAppend(&points, "cdf_points { cdf: ", share,
                    " value: ", std::llround(means * kServiceNs / kNsPerByte),
                    " } ");
  }
  return points;
}

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

results::RpcTotals RunQueue(const std::string& test, const std::string& fabric,
                            uint64_t seed) {
  TestSequence sequence;
  *sequence.add_tests() = Parse<DistributedSystemDescription>(test);
  sequence.mutable_tests(0)->set_random_seed(static_cast<int64_t>(seed));
  (*sequence.mutable_tests(0)->mutable_attributes())["test_timeout"] =
      "1000000";
  const auto checked = config::CheckTestSequence(std::move(sequence));
  CHECK(checked.ok()) << checked.status();
  const auto result = RunSimulatedTest(
      checked->tests(0), {.fabric = Parse<SimulatedFabric>(fabric)});
  CHECK(result.ok()) << result.status();
  CHECK(!result->run_info().has_failure()) << result->run_info().failure();
  results::RpcTotals totals;
  results::ForEachRpcLog(*result, [&](const results::RpcLogView& view) {
    if (view.rpc_name != "ask") return;
    CHECK(totals.Add(view.log.statistics()).ok());
  });
  return totals;
}

// As hosts draw the factors of their costs (model/costs.h).
std::vector<double> LognormalTimes() {
  constexpr int kCount = 1024;
  const boost::math::normal standard;
  std::vector<double> times;
  double sum = 0;
  for (int i = 0; i < kCount; ++i) {
    times.push_back(
        std::exp(kSigma * boost::math::quantile(standard, (i + 0.5) / kCount)));
    sum += times.back();
  }
  for (double& time : times) time *= kCount / sum;
  return times;
}

std::string FabricOf(const SimulatedQueue& queue) {
  const bool is_exponential =
      queue.service == SimulatedQueue::Service::kExponential;
  return absl::Substitute(
      kFabric, queue.cpus, queue.shares_cpus ? "PROCESSOR_SHARING" : "FIFO",
      kLinkNs, is_exponential ? 0 : kServiceNs, is_exponential ? kNsPerByte : 0,
      queue.service == SimulatedQueue::Service::kLognormal ? kSigma : 0);
}

std::string TestOf(const SimulatedQueue& queue, double load, int64_t count) {
  std::string instances;
  for (int i = 0; i < queue.instances; ++i) {
    absl::StrAppend(&instances, "services: \"server/", i, "\" ");
  }
  const std::string sizes =
      queue.service == SimulatedQueue::Service::kExponential
          ? ExponentialSizes()
          : "cdf_points { cdf: 1 value: 100 }";
  return absl::Substitute(kTest, queue.instances, instances, sizes, count,
                          std::llround(kServiceNs / load / queue.cpus));
}

double InServiceTimes(double ns) { return (ns - kNetworkNs) / kServiceNs; }

}  // namespace

std::vector<SimulatedQueue> QueuesOfTheory() {
  using enum SimulatedQueue::Service;
  // So many that two requests rarely meet in one.
  constexpr int kMany = 400;
  return {
      {"M/M/1", kExponential},
      {"M/D/1", kFixed},
      {"M/G/1", kLognormal},
      {"M/M/4", kExponential, 4, kMany},
      {"M/M/1-PS", kExponential, 1, kMany, true},
      {"M/D/1-PS", kFixed, 1, kMany, true},
      {"M/G/1-PS", kLognormal, 1, kMany, true},
      {"M/G/4-PS", kLognormal, 4, kMany, true},
  };
}

QueueTheory TheoryOf(const SimulatedQueue& queue, double load) {
  if (queue.shares_cpus) return ProcessorSharing(load, queue.cpus);
  switch (queue.service) {
    case SimulatedQueue::Service::kFixed:
      return MD1(load);
    case SimulatedQueue::Service::kLognormal:
      return MG1(load, LognormalTimes(), kLindleyCount);
    case SimulatedQueue::Service::kExponential:
      break;
  }
  return queue.cpus == 1 ? MM1(load) : MMc(load, queue.cpus);
}

QueueFigures Simulate(const SimulatedQueue& queue, double load, int64_t count,
                      uint64_t seed) {
  const results::RpcTotals totals =
      RunQueue(TestOf(queue, load, count), FabricOf(queue), seed);
  const stats::LogHistogram& times_ns = totals.response_time_ns;
  const double seconds = static_cast<double>(totals.counts.duration_ns()) / 1e9;
  const auto quantile = [&](double share) {
    return InServiceTimes(static_cast<double>(times_ns.ValueAtQuantile(share)));
  };
  return {.rate = static_cast<double>(times_ns.count()) / seconds * kServiceNs /
                  1e9 / queue.cpus,
          .response = {InServiceTimes(times_ns.mean()), quantile(0.5),
                       quantile(0.99)}};
}

double SimulateForkJoin(int servers, double load, int64_t count,
                        uint64_t seed) {
  const results::RpcTotals totals = RunQueue(
      absl::Substitute(kForkJoinTest, servers, std::llround(kServiceNs / 1e3),
                       count, std::llround(kServiceNs / load)),
      absl::Substitute(kFabric, 1, "FIFO", kLinkNs, 0, 0, 0), seed);
  // From the client to the root, and from there to the leaves.
  return (totals.response_time_ns.mean() - 2 * kNetworkNs) / kServiceNs;
}

}  // namespace distbench::simulation
