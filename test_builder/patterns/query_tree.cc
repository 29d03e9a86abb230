#include "test_builder/patterns/query_tree.h"

#include <cmath>

#include "test_builder/parameters/common_parameters.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kRootPayloadBytes = 1024;
constexpr double kWarmupSeconds = 3;
constexpr int64_t kLoadBalancerSamples = 10'000'000;
constexpr int64_t kRootSamples = 256;

void SetSchedule(const ParameterValues& values, absl::string_view arrivals,
                 Iterations& iterations) {
  const double qps = values.Number("qps");
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_open_loop_interval_ns(
      static_cast<int64_t>(std::floor(1e9 / qps)));
  if (!arrivals.empty()) {
    iterations.set_open_loop_interval_distribution(std::string(arrivals));
  }
  iterations.set_warmup_iterations(
      static_cast<int64_t>(std::floor(kWarmupSeconds * qps)));
}

}  // namespace

std::vector<Parameter> QueryTreeParameters() {
  return {PerSecond(NumberParameter("qps", "10000", {0.001, 1e9},
                                    "Queries per second that enter the "
                                    "system.")),
          IntegerParameter("root_count", "4", {1, kMaxInstances},
                           "Root servers, queried in turn."),
          IntegerParameter("leaf_count", "20", {1, kMaxInstances},
                           "Leaf servers; every query reaches all.")};
}

RpcSpec& AddQueryTree(DistributedSystemDescription& test,
                      const ParameterValues& values,
                      absl::string_view arrivals) {
  AddService(test, "load_balancer", 1);
  AddService(test, "root", values.Integer("root_count"));
  AddService(test, "leaf", values.Integer("leaf_count"));

  AddActionList(test, "load_balancer", {"do_closed_loop_root_queries"})
      .set_max_rpc_samples(kLoadBalancerSamples);
  SetSchedule(values, arrivals,
              *AddRpcAction(test, "do_closed_loop_root_queries", "root_query")
                   .mutable_iterations());
  AddRpcWithPayloads(test, "root_query", "load_balancer", "root", "round_robin",
                     "root");
  AddPayloadPair(test, "root", kRootPayloadBytes, kRootPayloadBytes);

  AddActionList(test, "root_query", {"root_query_fanout"})
      .set_max_rpc_samples(kRootSamples);
  AddRpcAction(test, "root_query_fanout", "leaf_query");
  AddActionList(test, "leaf_query");
  return AddRpc(test, "leaf_query", "root", "leaf", "all");
}

}  // namespace distbench::test_builder
