// Findings on the hosts: whether they were too busy, and how accurate their
// clocks are.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/findings/judge_parts.h"

namespace distbench {
namespace {

// Shares of a host's CPU time. Above the first, instances wait for CPUs. Above
// the second, other programs disturb the measurement.
constexpr double kSaturated = 0.9;
constexpr double kMuchOther = 0.2;

// The shortest duration of samples that allows a finding.
constexpr double kShortestNs = 2e9;

// A larger possible error of a host's clock is reported.
constexpr int64_t kMuchClockErrorNs = 1'000'000;

// A host, with all nodes that run on it.
struct HostUse {
  std::vector<std::string> nodes;
  bool has_open_loop = false;
  double duration_ns = 0;  // total time of the first node's samples
  double capacity_ns = 0;
  double host_cpu_ns = 0;
  double process_cpu_ns = 0;
};

// The nodes that have instances with open loops.
std::set<std::string> OpenLoopNodes(const TestResult& result) {
  std::set<std::string> nodes;
  const auto& endpoints = result.placement().service_endpoints();
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    const auto endpoint = endpoints.find(instance);
    if (log.offered_loads().empty() || endpoint == endpoints.end()) continue;
    nodes.insert(endpoint->second.node_alias());
  }
  return nodes;
}

void AddNode(const std::string& alias, const NodeResources& node,
             HostUse& host) {
  const bool is_first = host.nodes.empty();
  host.nodes.push_back(alias);
  double duration_ns = 0;
  double process_cpu_ns = 0;
  double host_cpu_ns = 0;
  for (const ResourceSample& sample : node.samples()) {
    duration_ns += static_cast<double>(sample.duration_ns());
    process_cpu_ns += static_cast<double>(sample.process_cpu_ns());
    host_cpu_ns += static_cast<double>(sample.host_cpu_ns());
  }
  host.process_cpu_ns += process_cpu_ns;
  if (!is_first) return;
  host.duration_ns = duration_ns;
  host.host_cpu_ns = host_cpu_ns;
  host.capacity_ns = duration_ns * node.host().online_cpu_count();
}

// Keyed by host name.
std::map<std::string, HostUse> HostsOf(const TestResult& result) {
  std::map<std::string, HostUse> hosts;
  const std::set<std::string> open_loop_nodes = OpenLoopNodes(result);
  const auto& resources = result.resource_usage_logs().node_resources();
  std::map<std::string, const NodeResources*> by_alias;
  for (const auto& [alias, node] : resources) by_alias[alias] = &node;
  for (const auto& [alias, node] : by_alias) {
    if (!node->has_host() || node->samples().empty()) continue;
    HostUse& host = hosts[node->host().hostname()];
    AddNode(alias, *node, host);
    host.has_open_loop |= open_loop_nodes.count(alias) > 0;
  }
  return hosts;
}

void JudgeHost(const std::string& name, const HostUse& host,
               FindingList& findings) {
  if (host.duration_ns < kShortestNs || host.capacity_ns <= 0) return;
  const double busy = std::min(1.0, host.host_cpu_ns / host.capacity_ns);
  const double other =
      (host.host_cpu_ns - host.process_cpu_ns) / host.capacity_ns;
  if (busy > kSaturated) {
    findings.Add(
        host.has_open_loop ? Finding::WARN : Finding::NOTE, "cpu_saturated",
        absl::StrCat("the CPUs of host ", name, " were ", Percent(busy),
                     " busy, so latencies include waiting for a CPU. ",
                     host.has_open_loop
                         ? "An open loop then measures its own generator: "
                           "lower the load, or use more hosts"
                         : "A closed loop is expected to do that; compare "
                           "throughput rather than latency"));
  }
  if (other > kMuchOther) {
    findings.Add(Finding::WARN, "other_load",
                 absl::StrCat("programs other than the test's nodes took ",
                              Percent(other), " of the CPU time of host ", name,
                              "; they disturb the measurement. Stop them, or "
                              "use another host"));
  }
}

bool UsesCommonClock(const DistributedSystemDescription& test) {
  return std::any_of(
      test.actions().begin(), test.actions().end(), [](const Action& action) {
        return action.iterations().open_loop_interval_distribution().rfind(
                   "sync_burst", 0) == 0;
      });
}

}  // namespace

void JudgeHosts(const TestResult& result, FindingList& findings) {
  for (const auto& [name, host] : HostsOf(result)) {
    JudgeHost(name, host, findings);
  }
}

void JudgeClocks(const TestResult& result, FindingList& findings) {
  std::string worst;
  int64_t worst_error_ns = kMuchClockErrorNs;
  for (const auto& [alias, offset] : result.run_info().clock_offsets()) {
    if (offset.error_ns() <= worst_error_ns) continue;
    worst = alias;
    worst_error_ns = offset.error_ns();
  }
  if (worst.empty()) return;
  findings.Add(
      UsesCommonClock(result.traffic_config()) ? Finding::WARN : Finding::NOTE,
      "clock_error",
      absl::StrCat("the clock of ", worst, " is only known to within ",
                   Duration(static_cast<double>(worst_error_ns)),
                   ", so timestamps and synchronised bursts of different hosts "
                   "are not aligned more closely than that; latencies are not "
                   "affected. A quieter network, or PTP, helps"));
}

}  // namespace distbench
