// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/text/text_summary.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/network_readings.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/report/text/text_summary_sections.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/resource_usage.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/run_failure.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

using Lines = std::vector<std::string>;

constexpr double kMiB = 1 << 20;

struct Section {
  std::string title;
  Lines lines;
  bool is_always_there = false;
};

void AppendSection(const std::string& title, const Lines& section,
                   Lines& lines) {
  lines.push_back(absl::StrCat(title, ":"));
  lines.insert(lines.end(), section.begin(), section.end());
}

// Appends the sections, with those of products between them.
void AppendSections(const TestResult& result,
                    const std::vector<Section>& sections, Lines& lines) {
  std::vector<std::string> titles;
  for (const Section& section : sections) titles.push_back(section.title);
  auto own = sections.begin();
  for (const Placed<SummarySection>& placed : InOrder<SummarySection>(titles)) {
    if (placed.part == nullptr) {
      if (own->is_always_there || !own->lines.empty()) {
        AppendSection(own->title, own->lines, lines);
      }
      ++own;
      continue;
    }
    const Lines of_part = placed.part->lines_of(result);
    if (!of_part.empty()) AppendSection(placed.name, of_part, lines);
  }
}

constexpr TimeFigure kFigures[] = {figures::kMin,  figures::kP50,
                                   figures::kP90,  figures::kP99,
                                   figures::kP999, figures::kMax};
constexpr TimeFigure kFewFigures[] = {figures::kP50, figures::kP99,
                                      figures::kMax};
constexpr TimeFigure kWaitFigures[] = {figures::kP50, figures::kMax};

std::string LatencyLine(const std::string& name, int64_t count,
                        const stats::OutcomesView& times) {
  std::string line = absl::StrCat("  ", name, ": N: ", count);
  if (times.count() > 0) {
    absl::StrAppend(&line, " ", FiguresText(times, kFigures));
  }
  return line;
}

// ---- The sections of the documented format ----------------------------------

Lines RpcLatency(const TestTotals& totals) {
  Lines lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    lines.push_back(
        LatencyLine(name, rpc.counts.succeeded_count, rpc.service_time_ns));
  }
  return lines;
}

double KiloPerSecond(int64_t count, int64_t duration_ns) {
  return PerSecond(count, duration_ns) / 1000;
}

double MiBPerSecond(double bytes, int64_t duration_ns) {
  return PerSecond(bytes, duration_ns) / kMiB;
}

// A result keeps its summary, and nobody reads a million lines.
constexpr size_t kMaxPairLines = 20'000;

Lines Communication(const TestTotals& totals) {
  Lines lines;
  for (const auto& [pair, counts] : totals.pairs) {
    if (lines.size() == kMaxPairLines) {
      lines.push_back(absl::StrFormat(
          "  and %d more pairs, which --format=csv --table=peers lists",
          totals.pairs.size() - kMaxPairLines));
      break;
    }
    lines.push_back(absl::StrFormat(
        "  %s -> %s: RPCs: %d (%3.2f kQPS) Request: %3.1f MiB/s Response: "
        "%3.1f MiB/s",
        pair.first, pair.second, counts.succeeded_count,
        KiloPerSecond(counts.succeeded_count, totals.duration_ns),
        MiBPerSecond(counts.request_bytes, totals.duration_ns),
        MiBPerSecond(counts.response_bytes, totals.duration_ns)));
  }
  return lines;
}

Lines Instances(const TestTotals& totals) {
  Lines lines;
  for (const auto& [name, traffic] : totals.instances) {
    // No space after "Rx:", because the format is a contract.
    lines.push_back(absl::StrFormat(
        "  %s: Tx: %3.1f MiB/s, Rx:%3.1f MiB/s", name,
        MiBPerSecond(traffic.sent_bytes, totals.duration_ns),
        MiBPerSecond(traffic.received_bytes, totals.duration_ns)));
  }
  return lines;
}

Lines Global(const TestTotals& totals) {
  const results::RpcCounts& all = totals.all;
  const int64_t total_count = base::SaturatingAdd(
      all.succeeded_count,
      base::SaturatingAdd(all.failed_count, all.warmup_count));
  const double bytes =
      static_cast<double>(all.request_bytes) + all.response_bytes;
  return {
      absl::StrFormat("  Total samples: %d", total_count),
      absl::StrFormat("  Failed samples: %d", all.failed_count),
      absl::StrFormat("  Warmup samples: %d", all.warmup_count),
      absl::StrFormat("  Total time: %3.3fs", totals.duration_ns / 1e9),
      absl::StrFormat("  Total Tx: %d MiB (%3.1f MiB/s), Total Nb RPCs: %d "
                      "(%3.2f kQPS)",
                      static_cast<int64_t>(bytes / kMiB),
                      MiBPerSecond(bytes, totals.duration_ns),
                      all.succeeded_count,
                      KiloPerSecond(all.succeeded_count, totals.duration_ns)),
  };
}

// ---- Additional sections
// -----------------------------------------------------

// Covers open loops. RPCs that failed or were never sent rank above the others.
Lines ResponseTime(const TestTotals& totals) {
  Lines lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    const stats::Outcomes outcomes = ResponseTimeOf(totals, name);
    if (outcomes.count() == 0) continue;
    lines.push_back(LatencyLine(name, outcomes.count(), outcomes));
  }
  return lines;
}

// Of the RPCs that were stamped; which share that is, and how many of them
// shared their stamps with others.
Lines WireTime(const TestTotals& totals) {
  Lines lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    const stats::LogHistogram& wire_ns =
        report::TimesOf(rpc, results::TimePart::kWire);
    if (wire_ns.count() == 0) continue;
    const auto percent_of = [](uint64_t count, uint64_t all) {
      return 100.0 * static_cast<double>(count) / static_cast<double>(all);
    };
    lines.push_back(absl::StrFormat(
        "%s (stamped: %.2f%% of the RPCs; sharing a stamp: %.2f%% of these)",
        LatencyLine(name, static_cast<int64_t>(wire_ns.count()), wire_ns),
        percent_of(wire_ns.count(), rpc.service_time_ns.count()),
        percent_of(rpc.counts.wire_shared_count, wire_ns.count())));
  }
  return lines;
}

// The time that unsent RPCs had waited by the end is a lower bound of their
// response times.
void AppendOffered(const std::string& name, const OfferedLoad& offered,
                   Lines& lines) {
  if (offered.offered_count() == 0) return;
  const int64_t sent_count =
      base::SaturatingSubtract(offered.offered_count(), offered.unsent_count());
  lines.push_back(absl::StrFormat(
      "  %s: offered: %d sent: %d (%.2f%%) unsent: %d held back by a cap: %d",
      name, offered.offered_count(), sent_count,
      100.0 * static_cast<double>(sent_count) /
          static_cast<double>(offered.offered_count()),
      offered.unsent_count(), offered.held_back_count()));
  stats::LogHistogram wait_ns;
  results::AddHistogram(offered.unsent_wait_ns(), wait_ns).IgnoreError();
  if (wait_ns.count() == 0) return;
  lines.push_back(absl::StrCat("  ", name, ": never sent, had waited: ",
                               FiguresText(wait_ns, kWaitFigures)));
}

// How accurately the generator produced the load: what it sent, how late, and
// how many RPCs it kept in flight (by Little's law, over the time that rates of
// the RPC are over).
Lines GeneratorHealth(const TestTotals& totals) {
  Lines lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    AppendOffered(name, totals.load(name), lines);
    if (const stats::LogHistogram& lateness_ns = rpc.lateness_ns;
        lateness_ns.count() > 0) {
      lines.push_back(absl::StrCat(
          "  ", name, ": lateness: ", FiguresText(lateness_ns, kFewFigures)));
    }
    const int64_t duration_ns = rpc.counts.duration_ns();
    if (rpc.service_time_ns.count() > 0 && duration_ns > 0) {
      lines.push_back(absl::StrFormat(
          "  %s: in flight: mean: %.1f", name,
          rpc.service_time_ns.sum() / static_cast<double>(duration_ns)));
    }
  }
  if (totals.all.dropped_sample_count > 0) {
    lines.push_back(absl::StrFormat(
        "  samples not kept: %d (counts and percentiles include them)",
        totals.all.dropped_sample_count));
  }
  return lines;
}

std::string ResourceLine(const std::string& name, const RUsageStats& usage) {
  const RUsage& start = usage.rusage_start();
  const RUsage& added = usage.rusage_diff();
  // In KiB. Both values are absolute: peaks cannot be added.
  const int64_t peak_kib =
      std::max(start.max_resident_set_size(), added.max_resident_set_size());
  return absl::StrFormat(
      "  %s: CPU: %.2fs (user: %.2fs system: %.2fs) max RSS: %.1f MiB", name,
      added.user_cpu_time_seconds() + added.system_cpu_time_seconds(),
      added.user_cpu_time_seconds(), added.system_cpu_time_seconds(),
      peak_kib / 1024.0);
}

// Usage of a node's host CPUs and network, including loopback.
Lines HostLines(const std::string& node, const NodeResources& resources) {
  double duration_ns = 0;
  double host_cpu_ns = 0;
  double busiest = 0;
  double sent_bytes = 0;
  double received_bytes = 0;
  const double cpus = std::max(1, results::CpuCountOf(resources.host()));
  for (const ResourceSample& sample : resources.samples()) {
    if (sample.duration_ns() <= 0) continue;
    const double sample_ns = static_cast<double>(sample.duration_ns());
    const double cpu_ns = static_cast<double>(sample.host_cpu_ns());
    duration_ns += sample_ns;
    host_cpu_ns += cpu_ns;
    busiest = std::max(busiest, cpu_ns / sample_ns / cpus);
    for (const auto& [device, counters] : sample.network()) {
      sent_bytes += static_cast<double>(counters.sent_bytes());
      received_bytes += static_cast<double>(counters.received_bytes());
    }
  }
  if (duration_ns <= 0) return {};
  // The kernel counts CPU time in ticks, which may fall just into a sample.
  const auto percent = [](double share) { return 100 * std::min(1.0, share); };
  return {absl::StrFormat(
      "  %s: host %s: CPU: %.0f%% of %.0f (busiest second: %.0f%%) network Tx: "
      "%.1f MiB/s, Rx: %.1f MiB/s",
      node, resources.host().hostname(),
      percent(host_cpu_ns / duration_ns / cpus), cpus, percent(busiest),
      sent_bytes / kMiB / duration_ns * 1e9,
      received_bytes / kMiB / duration_ns * 1e9)};
}

Lines Resources(const ResourceUsageLogs& usages) {
  std::map<std::string, Lines> by_node;
  for (const auto& [node, usage] : usages.node_usages()) {
    by_node[node].push_back(ResourceLine(node, usage));
  }
  for (const auto& [node, resources] : usages.node_resources()) {
    for (std::string& line : HostLines(node, resources)) {
      by_node[node].push_back(std::move(line));
    }
  }
  Lines lines;
  for (auto& [node, of_node] : by_node) {
    for (std::string& line : of_node) lines.push_back(std::move(line));
  }
  if (usages.has_test_sequencer_usage()) {
    lines.push_back(
        ResourceLine("test_sequencer", usages.test_sequencer_usage()));
  }
  return lines;
}

std::string TimesOf(absl::string_view title,
                    const stats::LogHistogram& times_ns) {
  if (times_ns.count() == 0) return "";
  return absl::StrCat(" ", title, ": ", FiguresText(times_ns, kFewFigures));
}

// Totals over all instances.
Lines Activities(const TestResult& result) {
  Lines lines;
  for (const auto& [name, totals] : AddUpActivities(result)) {
    std::string line = absl::StrFormat("  %s: N: %d (instances: %d)", name,
                                       totals.metric("iteration_count"),
                                       totals.instance_count);
    absl::StrAppend(&line, TimesOf("duration", totals.duration_ns),
                    TimesOf("queueing", totals.queueing_ns));
    for (const char* amount :
         {"input_bytes", "output_bytes", "operations", "failed_operations"}) {
      if (totals.metrics.count(amount) == 0) continue;
      absl::StrAppend(&line, " ", amount, ": ", totals.metric(amount));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Totals over all instances.
Lines DriverCounters(const TestResult& result) {
  struct Sum {
    int64_t value = 0;
    int instance_count = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    for (const auto& [name, value] : log.driver_counters()) {
      Sum& sum = sums[name];
      base::SaturatingAddTo(sum.value, value);
      ++sum.instance_count;
    }
  }
  Lines lines;
  for (const auto& [name, sum] : sums) {
    lines.push_back(absl::StrFormat("  %s: %d (instances: %d)", name, sum.value,
                                    sum.instance_count));
  }
  return lines;
}

Lines NetworkSettings(const TestResult& result) {
  Lines lines;
  for (const ServiceConnections& folded : FoldNetworkSettings(result)) {
    lines.push_back(absl::StrCat("  ", Describe(folded)));
  }
  return lines;
}

// Other programs' percentiles leave out what failed, too, as the first section
// of the documented format does; those of all other formats do not.
Lines Failures(const TestResult& result, const TestTotals& totals) {
  Lines lines = FailureLines(result, totals);
  if (totals.all.failed_count > 0) {
    lines.push_back(
        "  The RPC latency summary leaves out the RPCs that failed");
  }
  return lines;
}

// The worst first.
Lines Findings(const TestResult& result, const TestTotals& totals) {
  Lines lines;
  for (const FindingKind& kind : KindsOf(FindingsOf(result, totals))) {
    const std::string code =
        kind.code.empty() ? "" : absl::StrCat(" (", kind.code, ")");
    for (const std::string& message : kind.messages) {
      lines.push_back(
          absl::StrCat("  ", SeverityName(kind.severity), code, ": ", message));
    }
    if (kind.advice.empty()) continue;
    lines.push_back(absl::StrCat("    What to do: ", kind.advice));
  }
  return lines;
}

}  // namespace

std::vector<std::string> SummarizeTest(const TestResult& result) {
  const TestTotals totals = AddUp(result);
  Lines lines = OpeningLinesOf(result);
  if (const std::optional<std::string> failure = results::FailureOf(result)) {
    lines.push_back(absl::StrCat(
        "The test failed; what it measured is incomplete: ", *failure));
  }
  if (AnyHappened(PlannedFaultsOf(result))) {
    lines.push_back(
        "Servers failed on purpose (see \"Planned faults\"); these are not the "
        "numbers of a healthy system");
  }
  const std::vector<Section> sections = {
      {"RPC latency summary", RpcLatency(totals), true},
      {"Communication summary", Communication(totals), true},
      {"Instance summary", Instances(totals), true},
      {"Global summary", Global(totals), true},
      {"Response time summary", ResponseTime(totals)},
      {"Wire time summary", WireTime(totals)},
      {"Generator health", GeneratorHealth(totals)},
      {"Time parts", TimePartLines(totals)},
      {"Streams", StreamLines(result, totals)},
      {"Policies", PolicyLines(result, totals)},
      {"Recovery", RecoveryLines(result)},
      {"Failures", Failures(result, totals)},
      {"Planned faults", FaultLines(result)},
      {"Admission", AdmissionLines(result)},
      {"Engines", EngineLines(result)},
      {"Resources", Resources(result.resource_usage_logs())},
      {"Network settings", NetworkSettings(result)},
      {"Activities", Activities(result)},
      {"Driver counters", DriverCounters(result)},
      {"Findings", Findings(result, totals)}};
  AppendSections(result, sections, lines);
  // Names of older results, and messages of other hosts, may be any text.
  for (std::string& line : lines) line = base::PrintableLine(line);
  return lines;
}

}  // namespace distbench::report
