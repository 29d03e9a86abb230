// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/mpstat.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "distbench/base/printable_line.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/resource_usage.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

constexpr const char* kColumns[] = {"%usr", "%nice", "%sys",   "%iowait",
                                    "%irq", "%soft", "%steal", "%idle"};

// The times of one CPU or of several, in nanoseconds, by column.
using Times = std::array<double, std::size(kColumns)>;

void AddTo(Times& sum, const Times& times) {
  for (size_t i = 0; i < times.size(); ++i) sum[i] += times[i];
}

// Damaged results may have negative times.
double NotNegative(int64_t ns) {
  return static_cast<double>(std::max<int64_t>(ns, 0));
}

Times TimesOf(const CpuUse& use) {
  const double nice = NotNegative(use.nice_ns());
  return {std::max(0.0, NotNegative(use.user_ns()) - nice),
          nice,
          NotNegative(use.system_ns()),
          NotNegative(use.iowait_ns()),
          NotNegative(use.irq_ns()),
          NotNegative(use.softirq_ns()),
          NotNegative(use.steal_ns()),
          NotNegative(use.idle_ns())};
}

std::string TimeText(int64_t unix_ns) {
  return absl::FormatTime("%H:%M:%S", absl::FromUnixNanos(unix_ns),
                          absl::UTCTimeZone());
}

void AppendHeader(const std::string& time, std::string& text) {
  absl::StrAppendFormat(&text, "\n%-11s  CPU", time);
  for (const char* column : kColumns) {
    absl::StrAppendFormat(&text, " %7s", column);
  }
  text += '\n';
}

// mpstat computes shares of the time that was counted, too.
void AppendRow(const std::string& time, const std::string& cpu,
               const Times& times, std::string& text) {
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  absl::StrAppendFormat(&text, "%-11s %4s", time, cpu);
  for (const double value : times) {
    absl::StrAppendFormat(&text, " %7.2f", sum > 0 ? 100 * value / sum : 0);
  }
  text += '\n';
}

using TimesByCpu = std::map<int, Times>;

void AppendRows(const std::string& time, const TimesByCpu& cpus,
                std::string& text) {
  AppendHeader(time, text);
  Times all = {};
  for (const auto& [cpu, times] : cpus) AddTo(all, times);
  AppendRow(time, "all", all, text);
  for (const auto& [cpu, times] : cpus) {
    AppendRow(time, absl::StrCat(cpu), times, text);
  }
}

void AppendNode(const NodeResources& resources, std::string& text) {
  TimesByCpu total;
  for (const ResourceSample& sample : resources.samples()) {
    TimesByCpu cpus;
    for (const CpuUse& use : sample.cpus()) {
      AddTo(cpus[use.cpu()], TimesOf(use));
      AddTo(total[use.cpu()], TimesOf(use));
    }
    if (cpus.empty()) continue;
    AppendRows(TimeText(sample.end_timestamp_ns()), cpus, text);
  }
  if (!total.empty()) AppendRows("Average:", total, text);
}

// mpstat's first line. HostFacts.kernel is "NAME RELEASE MACHINE".
std::string HostLine(const NodeResources& resources) {
  const HostFacts& host = resources.host();
  const std::vector<std::string> kernel = absl::StrSplit(
      base::PrintableLine(host.kernel()), absl::MaxSplits(' ', 2));
  const int64_t start_ns = resources.samples_size() == 0
                               ? 0
                               : resources.samples(0).end_timestamp_ns();
  return absl::StrCat(
      kernel[0], " ", kernel.size() > 1 ? kernel[1] : "", " (",
      base::PrintableLine(host.hostname()), ")\t",
      absl::FormatTime("%m/%d/%Y", absl::FromUnixNanos(start_ns),
                       absl::UTCTimeZone()),
      "\t_", kernel.size() > 2 ? kernel[2] : "", "_\t(",
      results::CpuCountOf(host), " CPU)\n");
}

}  // namespace

std::string RenderMpstat(absl::Span<const TestRun> runs) {
  std::string text;
  for (const TestRun& run : runs) {
    for (const auto* node :
         results::Sorted(run.result->resource_usage_logs().node_resources())) {
      absl::StrAppend(&text, text.empty() ? "" : "\n", "# ", run.source, ": ",
                      base::PrintableLine(MarkedName(run.name, *run.result)),
                      ", repetition ", run.repetition, ", ",
                      base::PrintableLine(node->first), "\n",
                      HostLine(node->second));
      AppendNode(node->second, text);
    }
  }
  return text;
}

}  // namespace distbench::report
