#include "distbench/report/findings/advice.h"

#include "distbench/base/plugins.h"
#include "distbench/report/parts/finding_rule.h"

namespace distbench::report {
namespace {

struct Advice {
  absl::string_view code;
  absl::string_view text;
};

constexpr Advice kAdvice[] = {
    {"arrivals",
     "Stop other programs on the client's host, give the client CPUs of its "
     "own, or let it spin (delay_actions_by_spinning)."},
    {"binding_not_held",
     "Check that the node manager may use these CPUs and this memory (taskset "
     "-p, and the cpuset of its control group). If the test does not depend on "
     "the binding, set strict: false."},
    {"brief_pairs",
     "Nothing, if you do not need percentiles of single pairs. Otherwise raise "
     "recording_memory_bytes."},
    {"clock_error",
     "Nothing, if you do not compare timestamps of different hosts. Otherwise "
     "synchronise their clocks by PTP, or measure on a quieter network."},
    {"clock_offset",
     "Synchronise the clocks of the hosts by NTP or PTP. This run was "
     "corrected, and latencies do not depend on it."},
    {"congestion_control_differs",
     "Set net.ipv4.tcp_congestion_control to the same value on all hosts, and "
     "repeat the run."},
    {"cpu_saturated",
     "In an open loop, lower the load or use more hosts. In a closed loop, "
     "compare rates instead of latencies."},
    {"damaged_logs",
     "Do not use this result. Fetch it again from the sequencer, or repeat the "
     "run."},
    {"failed_operations",
     "Lower what the activity demands, or raise the limit that it met: memory, "
     "processes, or the space and permissions of a disk."},
    {"failed_rpcs",
     "Look at the causes of the failures. For expired deadlines, lower the "
     "load or allow more time; for broken connections, look at the server's "
     "host."},
    {"held_back",
     "Raise max_parallel_iterations or leave it out, so that requests are sent "
     "when they are due; or lower the rate."},
    {"late_sends",
     "If that does not help, use more clients. Until sends are in time, look "
     "at "
     "service times."},
    {"late_start",
     "Repeat the run. If it happens again, look for load on that host, and for "
     "delays between it and the sequencer."},
    {"measurements_lost",
     "Find out why the process ended: the instance's message names its signal "
     "or status, and the kernel log shows whether memory ran out. Then repeat "
     "the run."},
    {"metastable",
     "Compare the attempts per second with the goodput over time. Then try one "
     "change at a time: a retry budget or a circuit breaker for callers, "
     "deadlines that end work nobody waits for, short queues that refuse early "
     "(admission), or less load (docs/measuring.md, \"Metastable failures\")."},
    {"network_settings_differ",
     "For MPTCP, set mptcp on both sides and net.mptcp.enabled on all hosts. "
     "Otherwise look for what changes sockets, such as programs of eBPF."},
    {"node_lost",
     "Look at the node manager's log and its host for why it left. Then repeat "
     "the run."},
    {"not_steady",
     "Lengthen the warm-up (warmup) until the finding disappears. If it does "
     "not, the system changes while it runs: look at the charts over time."},
    {"nothing_measured",
     "Look at the causes of the failures, shorten the warm-up or lengthen the "
     "traffic. A test without RPCs measures no latency."},
    {"one_process",
     "Run the test on a cluster (distbench run_tests) to measure latencies."},
    {"other_load",
     "Stop the other programs on this host, or use another host, and repeat "
     "the run."},
    {"planned_faults",
     "Nothing, if the faults are what you want to measure. Otherwise remove "
     "server_faults from the test, and repeat the run."},
    {"requirement_not_met",
     "Change the host as the message says, or use another host. Do not compare "
     "this run with runs that meet the requirements."},
    {"resources_dropped",
     "Nothing, if you do not need them. Otherwise run shorter tests, or on "
     "fewer nodes."},
    {"retransmits",
     "Look for a link, a switch or a queue that loses packets, or lower the "
     "load. The table of data connections shows which ones are affected."},
    {"samples_dropped",
     "Nothing, if you do not need single RPCs. Otherwise raise "
     "sample_memory_bytes or max_rpc_samples."},
    {"stalls",
     "Send at a rate (rate or open_loop_interval_ns) to measure the latency "
     "that users see who do not wait for each other."},
    {"stolen",
     "Use a host or a virtual machine with dedicated CPUs, and repeat the "
     "run."},
    {"throttled",
     "Raise the CPU limit (cpu.max) of the node manager's control group or "
     "container, or lower the load."},
    {"time_parts_contradict",
     "Check the time synchronisation of the hosts: their clocks run at "
     "different speeds."},
    {"time_parts_missing",
     "Run the same version of distbench on all hosts, and look at which "
     "instances were lost."},
    {"unsent_load",
     "Lower the load to what was sent, raise max_parallel_iterations, or use "
     "more clients."},
    {"waited_for_cpu",
     "Stop the other programs on this host, or bind the nodes to CPUs of their "
     "own."},
    {"wide_intervals",
     "Nothing, if you do not need single seconds. Otherwise raise "
     "recording_memory_bytes."},
};

}  // namespace

absl::string_view AdviceFor(absl::string_view code) {
  for (const Advice& advice : kAdvice) {
    if (advice.code == code) return advice.text;
  }
  for (const auto& [name, rule] : base::Plugins<FindingRule>::All()) {
    const absl::string_view text = rule->advice_for(code);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace distbench::report
