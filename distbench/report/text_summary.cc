#include "distbench/report/text_summary.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/test_totals.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"

namespace distbench {
namespace {

using Lines = std::vector<std::string>;

constexpr double kMiB = 1 << 20;

// Distinct causes shown for each RPC. A broken run may have thousands.
constexpr int kMaxCauses = 10;

void AppendSection(absl::string_view title, const Lines& section,
                   Lines& lines) {
  lines.push_back(absl::StrCat(title, ":"));
  lines.insert(lines.end(), section.begin(), section.end());
}

void AppendSectionIfAny(absl::string_view title, const Lines& section,
                        Lines& lines) {
  if (!section.empty()) {
    AppendSection(title, section, lines);
  }
}

// Messages of others may span lines; those of the summary do not.
std::string OneLine(absl::string_view message) {
  return absl::StrReplaceAll(message, {{"\r", ""}, {"\n", " "}});
}

std::string LatencyLine(const std::string& name, int64_t count,
                        const LogHistogram& latency_ns) {
  std::string line = absl::StrFormat("  %s: N: %d", name, count);
  if (latency_ns.count() == 0) {
    return line;
  }
  absl::StrAppendFormat(
      &line,
      " min: %dns median: %dns 90%%: %dns 99%%: %dns 99.9%%: %dns max: %dns",
      latency_ns.min(), latency_ns.ValueAtQuantile(0.5),
      latency_ns.ValueAtQuantile(0.9), latency_ns.ValueAtQuantile(0.99),
      latency_ns.ValueAtQuantile(0.999), latency_ns.max());
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

Lines Communication(const TestTotals& totals) {
  Lines lines;
  for (const auto& [pair, counts] : totals.pairs) {
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
    // No space after "Rx:": the format is a contract.
    lines.push_back(absl::StrFormat(
        "  %s: Tx: %3.1f MiB/s, Rx:%3.1f MiB/s", name,
        MiBPerSecond(traffic.sent_bytes, totals.duration_ns),
        MiBPerSecond(traffic.received_bytes, totals.duration_ns)));
  }
  return lines;
}

Lines Global(const TestTotals& totals) {
  const RpcCounts& all = totals.all;
  const int64_t total_count = SaturatingAdd(
      all.succeeded_count, SaturatingAdd(all.failed_count, all.warmup_count));
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

// ---- Our own ----------------------------------------------------------------

Lines ResponseTime(const TestTotals& totals) {
  Lines lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    if (rpc.response_time_ns.count() > 0) {
      lines.push_back(LatencyLine(name, rpc.response_time_ns.count(),
                                  rpc.response_time_ns));
    }
  }
  return lines;
}

// How close the generator came to what it was told: how late it sent, and how
// many RPCs it kept in flight (by Little's law).
Lines GeneratorHealth(const TestTotals& totals) {
  Lines lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    if (const LogHistogram& lateness_ns = rpc.lateness_ns;
        lateness_ns.count() > 0) {
      lines.push_back(absl::StrFormat(
          "  %s: lateness: median: %dns 99%%: %dns max: %dns", name,
          lateness_ns.ValueAtQuantile(0.5), lateness_ns.ValueAtQuantile(0.99),
          lateness_ns.max()));
    }
    if (rpc.service_time_ns.count() > 0 && totals.duration_ns > 0) {
      lines.push_back(
          absl::StrFormat("  %s: in flight: mean: %.1f", name,
                          rpc.service_time_ns.sum() / totals.duration_ns));
    }
  }
  if (totals.all.dropped_sample_count > 0) {
    lines.push_back(absl::StrFormat(
        "  samples not kept: %d (counts and percentiles include them)",
        totals.all.dropped_sample_count));
  }
  return lines;
}

void AppendCauses(const std::string& rpc,
                  const std::map<std::string, int64_t>& causes, Lines& lines) {
  std::vector<std::pair<std::string, int64_t>> by_count(causes.begin(),
                                                        causes.end());
  std::stable_sort(
      by_count.begin(), by_count.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  const int shown = std::min<int>(by_count.size(), kMaxCauses);
  for (int i = 0; i < shown; ++i) {
    lines.push_back(absl::StrFormat("  %s: %d failed: %s", rpc,
                                    by_count[i].second,
                                    OneLine(by_count[i].first)));
  }
  int64_t rest = 0;
  for (int i = shown; i < by_count.size(); ++i) {
    rest = SaturatingAdd(rest, by_count[i].second);
  }
  if (rest > 0) {
    lines.push_back(absl::StrFormat("  %s: %d failed: %d more causes", rpc,
                                    rest, by_count.size() - shown));
  }
}

// Instances that stopped early, by reason: often it is the same for all.
void AppendStoppedInstances(const TestResult& result, Lines& lines) {
  std::map<std::string, std::vector<std::string>> instances_by_reason;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    if (log.has_engine_error_message()) {
      instances_by_reason[log.engine_error_message()].push_back(name);
    }
  }
  for (auto& [reason, instances] : instances_by_reason) {
    std::sort(instances.begin(), instances.end());
    const std::string others =
        instances.size() == 1
            ? ""
            : absl::StrCat(" and ", instances.size() - 1, " more");
    lines.push_back(absl::StrFormat("  %s%s: stopped early: %s",
                                    instances.front(), others,
                                    OneLine(reason)));
  }
}

Lines Failures(const TestResult& result, const TestTotals& totals) {
  Lines lines;
  for (const auto& [rpc, causes] : totals.failures) {
    AppendCauses(rpc, causes, lines);
  }
  AppendStoppedInstances(result, lines);
  return lines;
}

std::string ResourceLine(const std::string& name, const RUsageStats& usage) {
  const RUsage& start = usage.rusage_start();
  const RUsage& added = usage.rusage_diff();
  // In KiB. A peak is no amount that could be added: both are absolute.
  const int64_t peak_kib =
      std::max(start.max_resident_set_size(), added.max_resident_set_size());
  return absl::StrFormat(
      "  %s: CPU: %.2fs (user: %.2fs system: %.2fs) max RSS: %.1f MiB", name,
      added.user_cpu_time_seconds() + added.system_cpu_time_seconds(),
      added.user_cpu_time_seconds(), added.system_cpu_time_seconds(),
      peak_kib / 1024.0);
}

Lines Resources(const ResourceUsageLogs& usages) {
  std::map<std::string, const RUsageStats*> by_node;
  for (const auto& [node, usage] : usages.node_usages()) {
    by_node[node] = &usage;
  }
  Lines lines;
  for (const auto& [node, usage] : by_node) {
    lines.push_back(ResourceLine(node, *usage));
  }
  if (usages.has_test_sequencer_usage()) {
    lines.push_back(
        ResourceLine("test_sequencer", usages.test_sequencer_usage()));
  }
  return lines;
}

// Of all instances together.
Lines DriverCounters(const TestResult& result) {
  struct Sum {
    int64_t value = 0;
    int instance_count = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    for (const auto& [name, value] : log.driver_counters()) {
      Sum& sum = sums[name];
      sum.value = SaturatingAdd(sum.value, value);
      ++sum.instance_count;
    }
  }
  Lines lines;
  for (const auto& [name, sum] : sums) {
    lines.push_back(absl::StrFormat("  %s: %d (instances: %d)", OneLine(name),
                                    sum.value, sum.instance_count));
  }
  return lines;
}

absl::string_view SeverityName(Finding::Severity severity) {
  switch (severity) {
    case Finding::INVALID:
      return "invalid";
    case Finding::WARN:
      return "warn";
    case Finding::NOTE:
    case Finding::UNKNOWN:
      break;
  }
  return "note";
}

// The worst first.
Lines Findings(const RunInfo& run_info, const TestTotals& totals) {
  std::vector<Finding> findings(run_info.findings().begin(),
                                run_info.findings().end());
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return a.severity() > b.severity();
                   });
  Lines lines;
  if (totals.invalid_log_count > 0) {
    lines.push_back(absl::StrFormat(
        "  invalid: logs left out because their statistics are damaged: %d; "
        "the first: %s",
        totals.invalid_log_count, totals.first_invalid_log));
  }
  for (const Finding& finding : findings) {
    lines.push_back(absl::StrFormat("  %s: %s",
                                    SeverityName(finding.severity()),
                                    OneLine(finding.message())));
  }
  return lines;
}

}  // namespace

std::vector<std::string> SummarizeTest(const TestResult& result) {
  const TestTotals totals = AddUp(result);
  Lines lines;
  if (result.run_info().has_failure()) {
    lines.push_back(
        absl::StrCat("The test failed; what it measured is incomplete: ",
                     OneLine(result.run_info().failure())));
  }
  AppendSection("RPC latency summary", RpcLatency(totals), lines);
  AppendSection("Communication summary", Communication(totals), lines);
  AppendSection("Instance summary", Instances(totals), lines);
  AppendSection("Global summary", Global(totals), lines);
  AppendSectionIfAny("Response time summary", ResponseTime(totals), lines);
  AppendSectionIfAny("Generator health", GeneratorHealth(totals), lines);
  AppendSectionIfAny("Failures", Failures(result, totals), lines);
  AppendSectionIfAny("Resources", Resources(result.resource_usage_logs()),
                     lines);
  AppendSectionIfAny("Driver counters", DriverCounters(result), lines);
  AppendSectionIfAny("Findings", Findings(result.run_info(), totals), lines);
  return lines;
}

}  // namespace distbench
