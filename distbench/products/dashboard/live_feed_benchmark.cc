// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a look at the sequencer costs while somebody looks at its dashboard: one
// such iteration per second for all viewers together.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "distbench/base/clock.h"
#include "distbench/products/dashboard/live_feed.h"
#include "distbench/products/dashboard/testing/fake_sequencer.h"

namespace distbench::dashboard {
namespace {

NodeStatus MakeNode(int number) {
  NodeStatus status;
  status.mutable_config()->set_node_alias(absl::StrCat("node", number));
  status.set_busy(true);
  NodeRegistration& node = *status.mutable_registration();
  node.set_hostname(absl::StrCat("machine-", number, ".example.com"));
  node.set_service_address(absl::StrCat("10.0.0.", number, ":10000"));
  node.set_cpu_count(64);
  node.set_version("1.0");
  for (int numa_node = 0; numa_node < 2; ++numa_node) {
    NumaNode& numa = *node.mutable_topology()->add_numa_nodes();
    numa.set_id(numa_node);
    numa.set_cpus("0-15,32-47");
    numa.set_memory_bytes(1);
    numa.set_free_memory_bytes(1);
  }
  for (int core = 0; core < 32; ++core) {
    node.mutable_topology()->add_smt_siblings(
        absl::StrCat(core, ",", 32 + core));
  }
  for (const char* name : {"rack", "row"}) {
    Attribute& attribute = *node.add_attributes();
    attribute.set_name(name);
    attribute.set_value(absl::StrCat(name, number % 40));
  }
  return status;
}

// Busy nodes, and a running test whose progress differs at each look.
class Cluster final : public FakeSequencer {
 public:
  explicit Cluster(int64_t node_count) {
    for (int64_t i = 0; i < node_count; ++i) *status.add_nodes() = MakeNode(i);
    runs.resize(1);
    runs[0].set_id("1");
    runs[0].set_state(RunDescription::RUNNING);
  }

  GetStatusResponse Status() const override {
    GetStatusResponse now = FakeSequencer::Status();
    now.mutable_progress()->set_succeeded_count(looks);
    return now;
  }
};

void BM_Look(benchmark::State& state) {
  const Cluster cluster(state.range(0));
  base::ManualClock clock;
  LiveFeed feed(cluster, clock);
  const std::vector<HttpResponse::Event> first = feed.NewestEvents();
  for (auto _ : state) {
    clock.Advance(absl::ToInt64Nanoseconds(LiveFeed::kInterval));
    benchmark::DoNotOptimize(feed.NewestEvents());
  }
  state.counters["nodes_bytes"] = static_cast<double>(first[0]->size());
  state.counters["status_bytes"] = static_cast<double>(first[1]->size());
}
BENCHMARK(BM_Look)->Arg(25)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace distbench::dashboard

BENCHMARK_MAIN();
