// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Findings on the hosts: whether they were too busy, had the CPU time and the
// network that they needed, how accurate their clocks are, and whether
// instances ran where their bindings say.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/network_readings.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

// Shares of a host's CPU time. Above the first, instances wait for CPUs. Above
// the second, other programs disturb the measurement.
constexpr double kSaturated = 0.9;
constexpr double kMuchOther = 0.2;

// Share of the traffic's time for which other programs kept a thread of the
// test from a CPU.
constexpr double kMuchWaiting = 0.1;

// Shares of a host's CPU time that a hypervisor took, and of the traffic's time
// in which a CPU limit stopped a control group.
constexpr double kStolen = 0.005;
constexpr double kMuchStolen = 0.05;
constexpr double kMuchThrottled = 0.01;

// Shares of the segments that data connections or a host sent. A few
// retransmissions among a few segments are chance: they are a note at most.
constexpr double kRetransmitted = 0.0001;
constexpr double kMuchRetransmitted = 0.001;
constexpr int64_t kManyRetransmits = 10;

// The shortest time after which Linux takes a segment for lost unless others
// tell it so (TCP_RTO_MIN), if the route does not set another.
constexpr int64_t kRetransmissionTimeoutNs = 200 * base::kNsPerMs;

// The shortest duration of samples that allows a finding on them.
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
  double run_queue_delay_ns = 0;
  HostCounters counters;  // of the first node's samples

  // Of the data connections of all nodes: the segments of the samples, in which
  // other fields mean nothing, those of the connections that are listed, and
  // how many are not. No samples if no node knows its data connections.
  std::optional<DataConnections> sampled;
  DataConnections listed;
  int64_t unlisted_count = 0;
  const DataConnection* worst_connection = nullptr;

  // Of the node whose control group was throttled most.
  int64_t throttled_count = 0;
  double throttled_ns = 0;

  // Interrupts, which include most of the network's work, are not programs.
  double OtherProgramsNs() const {
    const auto interrupts_ns = static_cast<double>(
        base::SaturatingAdd(counters.irq_cpu_ns(), counters.softirq_cpu_ns()));
    return std::max(0.0, host_cpu_ns - interrupts_ns - process_cpu_ns);
  }
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

void AddDataConnections(const NodeResources& node, HostUse& host) {
  for (const ResourceSample& sample : node.samples()) {
    if (!sample.has_data_connections()) continue;
    if (!host.sampled) host.sampled.emplace();
    results::AddCounters(sample.data_connections(), *host.sampled);
  }
  host.unlisted_count += node.omitted_data_connections();
  for (const DataConnection& connection : node.data_connections()) {
    DataConnections segments;
    segments.set_sent_segments(connection.sent_segments());
    segments.set_retransmitted_segments(connection.retransmitted_segments());
    results::AddCounters(segments, host.listed);
    if (host.worst_connection == nullptr ||
        connection.retransmitted_segments() >
            host.worst_connection->retransmitted_segments()) {
      host.worst_connection = &connection;
    }
  }
}

void AddNode(const std::string& alias, const NodeResources& node,
             HostUse& host) {
  const bool is_first = host.nodes.empty();
  host.nodes.push_back(alias);
  double duration_ns = 0;
  double process_cpu_ns = 0;
  double host_cpu_ns = 0;
  HostCounters counters;
  for (const ResourceSample& sample : node.samples()) {
    duration_ns += static_cast<double>(sample.duration_ns());
    process_cpu_ns += static_cast<double>(sample.process_cpu_ns());
    host_cpu_ns += static_cast<double>(sample.host_cpu_ns());
    host.run_queue_delay_ns += static_cast<double>(sample.run_queue_delay_ns());
    results::AddCounters(sample.host_counters(), counters);
  }
  AddDataConnections(node, host);
  host.process_cpu_ns += process_cpu_ns;
  if (counters.throttled_count() > host.throttled_count) {
    host.throttled_count = counters.throttled_count();
    host.throttled_ns = static_cast<double>(counters.throttled_ns());
  }
  if (!is_first) return;
  host.counters = counters;
  host.duration_ns = duration_ns;
  host.host_cpu_ns = host_cpu_ns;
  host.capacity_ns = duration_ns * results::CpuCountOf(node.host());
}

// Keyed by host name.
std::map<std::string, HostUse> HostsOf(const TestResult& result) {
  std::map<std::string, HostUse> hosts;
  const std::set<std::string> open_loop_nodes = OpenLoopNodes(result);
  for (const auto* entry :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    const auto& [alias, node] = *entry;
    if (!node.has_host() || node.samples().empty()) continue;
    HostUse& host = hosts[node.host().hostname()];
    AddNode(alias, node, host);
    host.has_open_loop |= open_loop_nodes.count(alias) > 0;
  }
  return hosts;
}

// The findings on all hosts: those of one kind are of the worst host first,
// because reports show that one.
class HostFindings {
 public:
  // `badness` orders those of the same severity and code.
  void Add(double badness, Finding::Severity severity, absl::string_view code,
           std::string message, std::string advice) {
    kinds_[std::string(code)].push_back(
        {badness, severity, std::move(message), std::move(advice)});
  }

  // The message of the most severe; absent if there is none.
  std::optional<std::string> WorstMessage() const {
    const Kept* worst = nullptr;
    for (const auto& [code, all] : kinds_) {
      for (const Kept& kept : all) {
        if (worst == nullptr || kept.severity > worst->severity) worst = &kept;
      }
    }
    if (worst == nullptr) return std::nullopt;
    return worst->message;
  }

  void MoveTo(FindingList& findings) {
    for (auto& [code, all] : kinds_) {
      std::stable_sort(
          all.begin(), all.end(),
          [](const Kept& a, const Kept& b) { return a.badness > b.badness; });
      for (Kept& kept : all) {
        findings.Add(kept.severity, code, std::move(kept.message),
                     std::move(kept.advice));
      }
    }
  }

 private:
  struct Kept {
    double badness;
    Finding::Severity severity;
    std::string message;
    std::string advice;
  };
  std::map<std::string, std::vector<Kept>> kinds_;
};

void JudgeStolenTime(const std::string& name, const HostUse& host,
                     HostFindings& findings) {
  const double stolen =
      static_cast<double>(host.counters.steal_cpu_ns()) / host.capacity_ns;
  if (stolen <= kStolen) return;
  findings.Add(stolen, stolen > kMuchStolen ? Finding::WARN : Finding::NOTE,
               "stolen",
               absl::StrCat("the hypervisor took ", base::HumanPercent(stolen),
                            " of the CPU time of host ", name,
                            " for others while it was needed, so latencies "
                            "include pauses that the system under test did not "
                            "cause"),
               "Use a host or a virtual machine with dedicated CPUs, and "
               "repeat the run.");
}

// Hosts are sampled from the start of the traffic, for whole seconds: what is
// left at its end is often too short for a sample.
std::string SampledTime(const HostUse& host) {
  return absl::StrCat("the ", base::HumanDuration(host.duration_ns),
                      " since the start of the traffic that were sampled");
}

void JudgeThrottling(const std::string& name, const HostUse& host,
                     HostFindings& findings) {
  if (host.throttled_count <= 0) return;
  const double share = host.throttled_ns / host.duration_ns;
  findings.Add(
      share, share > kMuchThrottled ? Finding::WARN : Finding::NOTE,
      "throttled",
      absl::StrCat("the CPU limit of the control group of a node on host ",
                   name, " stopped it ",
                   host.throttled_count == 1
                       ? "once"
                       : absl::StrCat(host.throttled_count, " times"),
                   ", for ", base::HumanDuration(host.throttled_ns),
                   " added up over its CPUs, within ", SampledTime(host),
                   ", so latencies include these pauses"),
      "Raise the CPU limit (cpu.max) of the node manager's control group or "
      "container, or lower the load.");
}

// The longest time that an RPC took; absent if one failed, as what it waited
// for is not known.
std::optional<int64_t> SlowestRpcNs(const TestTotals& totals) {
  std::optional<int64_t> slowest_ns;
  for (const auto& [name, rpc] : totals.rpcs) {
    if (rpc.counts.failed_count > 0) return std::nullopt;
    for (const stats::LogHistogram* times :
         {&rpc.service_time_ns, &rpc.response_time_ns}) {
      if (times->count() == 0) continue;
      slowest_ns = std::max(slowest_ns.value_or(0), times->max());
    }
  }
  return slowest_ns;
}

// "10.0.0.1:40000 to 10.0.0.2:5000 (57 of client/0)"
std::string NameConnection(const DataConnection& connection) {
  return absl::StrCat(
      connection.local_address(), " to ", connection.peer_address(), " (",
      connection.retransmitted_segments(),
      connection.has_instance() ? absl::StrCat(" of ", connection.instance())
                                : "",
      ")");
}

// `sender` is whose segments these are, and `details` says more about them.
// Where no RPC took as long as a timeout, none waited for one: repeated
// segments then delayed RPCs by a round trip or two, which their latencies
// show.
void JudgeRetransmits(const std::string& sender, int64_t sent,
                      int64_t retransmitted, const std::string& details,
                      std::optional<int64_t> slowest_rpc_ns,
                      HostFindings& findings) {
  if (sent <= 0) return;
  const double share =
      static_cast<double>(retransmitted) / static_cast<double>(sent);
  const bool may_have_timed_out =
      slowest_rpc_ns.value_or(kRetransmissionTimeoutNs) >=
      kRetransmissionTimeoutNs;
  if (share <= kRetransmitted || !may_have_timed_out) return;
  const bool is_much =
      share > kMuchRetransmitted && retransmitted >= kManyRetransmits;
  findings.Add(
      share, is_much ? Finding::WARN : Finding::NOTE, "retransmits",
      absl::StrCat(
          sender, " sent ", retransmitted,
          retransmitted == 1 ? " TCP segment again, " : " TCP segments again, ",
          base::HumanPercent(share), " of all that it sent", details,
          "; each may have delayed RPCs by a timeout of 200 ms or more"),
      "Look for a link, a switch or a queue that loses packets, or lower the "
      "load. The table of data connections shows which ones are affected.");
}

// Prefers the test's own connections to all of the host. What is listed and
// what was sampled cover other times; the list has all of the worst one's, so
// that what the test sent is at least the sum of the list.
void JudgeRetransmits(const std::string& name, const HostUse& host,
                      std::optional<int64_t> slowest_rpc_ns,
                      HostFindings& findings) {
  if (!host.sampled) {
    JudgeRetransmits(absl::StrCat("host ", name),
                     host.counters.tcp_sent_segments(),
                     host.counters.tcp_retransmitted_segments(), "",
                     slowest_rpc_ns, findings);
    return;
  }
  const DataConnection* const worst = host.worst_connection;
  const bool all_are_listed = worst != nullptr && host.unlisted_count == 0;
  DataConnections segments = host.listed;
  if (!all_are_listed) {
    segments.set_sent_segments(
        std::max(host.listed.sent_segments(), host.sampled->sent_segments()));
    segments.set_retransmitted_segments(
        std::max(host.listed.retransmitted_segments(),
                 host.sampled->retransmitted_segments()));
  }
  const bool is_most =
      worst != nullptr &&
      2 * worst->retransmitted_segments() > segments.retransmitted_segments();
  const std::string details =
      worst == nullptr ? ""
                       : absl::StrCat(is_most ? ", most from "
                                              : "; the worst connection is ",
                                      NameConnection(*worst));
  JudgeRetransmits(absl::StrCat("the test on host ", name),
                   segments.sent_segments(), segments.retransmitted_segments(),
                   details, slowest_rpc_ns, findings);
}

void JudgeCpuUse(const std::string& name, const HostUse& host,
                 HostFindings& findings) {
  // A host is saturated if it uses all that the hypervisor left.
  const double usable_ns =
      std::max(1.0, host.capacity_ns -
                        static_cast<double>(host.counters.steal_cpu_ns()));
  const double busy = std::min(1.0, host.host_cpu_ns / usable_ns);
  if (busy <= kSaturated) return;
  findings.Add(
      busy, host.has_open_loop ? Finding::WARN : Finding::NOTE, "cpu_saturated",
      absl::StrCat(
          "the CPUs of host ", name, " were ", base::HumanPercent(busy),
          " busy, so latencies include waiting for a CPU",
          host.has_open_loop ? ". An open loop then measures its own generator"
                             : ""),
      "Lower the load, or use more hosts.");
}

// Threads of the test also wait for each other, which is part of what a test
// with several instances on a host measures. Others cannot have kept them
// waiting for longer than they ran.
void JudgeOthers(const std::string& name, const HostUse& host,
                 HostFindings& findings) {
  const double others_ns = host.OtherProgramsNs();
  const double waited =
      std::min(host.run_queue_delay_ns, others_ns) / host.duration_ns;
  if (waited > kMuchWaiting) {
    // No percentage: threads on several CPUs wait at the same time.
    findings.Add(
        waited, Finding::WARN, "waited_for_cpu",
        absl::StrCat("threads of the test on host ", name,
                     " were ready to run and waited for a CPU for ",
                     base::HumanDuration(host.run_queue_delay_ns),
                     " in all, while other programs ran for ",
                     base::HumanDuration(others_ns), ", within ",
                     SampledTime(host), ", so latencies include these waits"),
        "Stop the other programs on this host, or bind the nodes to CPUs of "
        "their own.");
    return;  // Which says more than that they ran.
  }
  const double share = others_ns / host.capacity_ns;
  if (share <= kMuchOther) return;
  findings.Add(
      share, Finding::WARN, "other_load",
      absl::StrCat("programs other than the test's nodes took ",
                   base::HumanPercent(share), " of the CPU time of host ", name,
                   "; they disturb the measurement"),
      "Stop the other programs on this host, or use another host, and "
      "repeat the run.");
}

// A closed loop takes what CPUs there are: that is how it works.
void JudgeUse(const std::string& name, const HostUse& host, bool has_open_loop,
              HostFindings& findings) {
  JudgeThrottling(name, host, findings);
  if (host.capacity_ns <= 0) return;
  if (has_open_loop) JudgeCpuUse(name, host, findings);
  JudgeOthers(name, host, findings);
  JudgeStolenTime(name, host, findings);
}

// What a short time shows is no more than a note, because a moment of another
// program, or of the test's own start, is much of it; but without a word, its
// verdict would seem to be about the host, too.
void JudgeBriefUse(const std::string& name, const HostUse& host,
                   bool has_open_loop, HostFindings& findings) {
  if (host.duration_ns <= 0) return;
  HostFindings seen;
  JudgeUse(name, host, has_open_loop, seen);
  const std::optional<std::string> worst = seen.WorstMessage();
  if (!worst) return;
  findings.Add(
      -host.duration_ns, Finding::NOTE, "brief_host",
      absl::StrCat("the test was too short (",
                   base::HumanDuration(host.duration_ns), ") to judge host ",
                   name, ", but what it measured says: ", *worst),
      "Lengthen the test to two seconds or more.");
}

void JudgeHost(const std::string& name, const HostUse& host, bool has_open_loop,
               std::optional<int64_t> slowest_rpc_ns, HostFindings& findings) {
  JudgeRetransmits(name, host, slowest_rpc_ns, findings);
  if (host.duration_ns < kShortestNs) {
    JudgeBriefUse(name, host, has_open_loop, findings);
  } else {
    JudgeUse(name, host, has_open_loop, findings);
  }
}

// Of the node's data connections, otherwise the default of its host.
std::set<std::string> CongestionControls(const NodeResources& node) {
  std::set<std::string> controls;
  for (const DataConnection& connection : node.data_connections()) {
    if (!connection.has_congestion_control()) continue;
    controls.insert(connection.congestion_control());
  }
  if (controls.empty() && node.host().has_tcp_congestion_control()) {
    controls.insert(node.host().tcp_congestion_control());
  }
  return controls;
}

void JudgeCongestionControl(const TestResult& result, FindingList& findings) {
  std::map<std::string, std::set<std::string>> nodes_by_control;
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    for (const std::string& control : CongestionControls(node)) {
      nodes_by_control[control].insert(alias);
    }
  }
  if (nodes_by_control.size() < 2) return;
  std::vector<std::string> uses;
  for (const auto& [control, nodes] : nodes_by_control) {
    uses.push_back(absl::StrCat(control, " on ", *nodes.begin()));
    if (nodes.size() == 1) continue;
    absl::StrAppend(&uses.back(), " and ", nodes.size() - 1, " more");
  }
  findings.Add(Finding::WARN, "congestion_control_differs",
               absl::StrCat("the TCP congestion control of the nodes differs (",
                            absl::StrJoin(uses, ", "),
                            "), so latencies depend on which node sends"),
               "Set net.ipv4.tcp_congestion_control to the same value on all "
               "hosts, and repeat the run.");
}

bool UsesCommonClock(const DistributedSystemDescription& test) {
  return std::any_of(
      test.actions().begin(), test.actions().end(), [](const Action& action) {
        return action.iterations().open_loop_interval_distribution().rfind(
                   "sync_burst", 0) == 0;
      });
}

void JudgeProof(const std::string& node, const std::string& instance,
                const BindingProof& proof, FindingList& findings) {
  if (proof.violations().empty()) return;
  const bool is_strict = proof.binding().strict();
  findings.Add(
      is_strict ? Finding::INVALID : Finding::WARN, "binding_not_held",
      absl::StrCat(instance, " on ", node,
                   " did not run where its binding says: ",
                   absl::StrJoin(proof.violations(), "; "),
                   is_strict ? ". The test requires this binding"
                             : ". The measurements are those of another place"),
      absl::StrCat("Check that the node manager may use these CPUs and this "
                   "memory (taskset -p, and the cpuset of its control group).",
                   is_strict ? " If the test does not depend on the binding, "
                               "set strict: false."
                             : ""));
}

}  // namespace

void JudgeHosts(const JudgedRun& run, FindingList& findings) {
  const std::optional<int64_t> slowest_rpc_ns = SlowestRpcNs(run.totals);
  const std::map<std::string, HostUse> hosts = HostsOf(run.result);
  const bool has_open_loop =
      std::any_of(hosts.begin(), hosts.end(),
                  [](const auto& host) { return host.second.has_open_loop; });
  HostFindings of_hosts;
  for (const auto& [name, host] : hosts) {
    JudgeHost(name, host, has_open_loop, slowest_rpc_ns, of_hosts);
  }
  of_hosts.MoveTo(findings);
  JudgeCongestionControl(run.result, findings);
}

void JudgeClocks(const JudgedRun& run, FindingList& findings) {
  std::string worst;
  int64_t worst_error_ns = kMuchClockErrorNs;
  for (const auto& [alias, offset] : run.result.run_info().clock_offsets()) {
    if (offset.error_ns() <= worst_error_ns) continue;
    worst = alias;
    worst_error_ns = offset.error_ns();
  }
  if (worst.empty()) return;
  findings.Add(
      UsesCommonClock(run.result.traffic_config()) ? Finding::WARN
                                                   : Finding::NOTE,
      "clock_error",
      absl::StrCat("the clock of ", worst, " is only known to within ",
                   base::HumanDuration(static_cast<double>(worst_error_ns)),
                   ", so timestamps and synchronised bursts of different hosts "
                   "are not aligned more closely than that; latencies are not "
                   "affected"),
      "Synchronise the clocks of the hosts by PTP, or measure on a quieter "
      "network.");
}

void JudgeBindings(const JudgedRun& run, FindingList& findings) {
  for (const auto* node :
       results::Sorted(run.result.resource_usage_logs().node_resources())) {
    for (const auto* proof : results::Sorted(node->second.binding_proofs())) {
      JudgeProof(node->first, proof->first, proof->second, findings);
    }
  }
}

// Findings on what the test requires of its hosts. Strict requirements are
// checked before the traffic, and here again: they may have changed since then.

void JudgeRequirements(const JudgedRun& run, FindingList& findings) {
  const HostRequirements& requirements =
      run.result.traffic_config().requirements();
  // By host, because several nodes may run on one.
  std::map<std::string, std::set<std::string>> unmet_by_host;
  for (const auto& [alias, node] :
       run.result.resource_usage_logs().node_resources()) {
    for (std::string& unmet :
         config::UnmetRequirements(requirements, node.host())) {
      unmet_by_host[node.host().hostname()].insert(std::move(unmet));
    }
  }
  for (const auto& [hostname, unmet] : unmet_by_host) {
    findings.Add(
        Finding::WARN, "requirement_not_met",
        absl::StrCat("host ", hostname,
                     " does not meet the test's requirements: ",
                     absl::StrJoin(unmet, "; ")),
        "Change the host as the message says, or use another host. Do not "
        "compare this run with runs that meet the requirements.");
  }
}

// The finding on network settings. Those that a socket refuses fail a test
// before its traffic; here a connection may have lost or never got them.

void JudgeNetworkSettings(const JudgedRun& run, FindingList& findings) {
  for (const ServiceConnections& folded : FoldNetworkSettings(run.result)) {
    if (!folded.differs) continue;
    findings.Add(Finding::WARN, "network_settings_differ",
                 absl::StrCat(Describe(folded),
                              ". This run is not one with the settings that "
                              "were asked for"),
                 "For MPTCP, set mptcp on both sides and net.mptcp.enabled on "
                 "all hosts. Otherwise look for what changes sockets, such as "
                 "programs of eBPF.");
  }
}

}  // namespace distbench::report
