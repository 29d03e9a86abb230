#include "distbench/products/search/report/search_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "distbench/products/search/report/search_answer.h"

namespace distbench::search {
namespace {

std::string UtcClock(int64_t unix_ns) {
  return absl::FormatTime("%H:%M:%S", absl::FromUnixNanos(unix_ns),
                          absl::UTCTimeZone());
}

void AddProbe(const SearchProbe& probe, std::vector<std::string>& lines) {
  lines.push_back(absl::StrFormat(
      "  %3d %-9s %12.6g %-17s %s to %s  %s", probe.number(), probe.phase(),
      probe.requested_load(), probe.outcome(),
      UtcClock(probe.start_timestamp_ns()), UtcClock(probe.end_timestamp_ns()),
      absl::StrJoin(probe.measured(), "; ")));
  for (const std::string& failure : probe.instance_failures()) {
    lines.push_back(absl::StrCat("      ", failure));
  }
}

}  // namespace

std::vector<std::string> SummarizeSearch(const SearchReport& report) {
  const char* const extreme = report.finds_lowest() ? "lowest" : "highest";
  std::vector<std::string> lines;
  if (report.simulated()) lines.push_back("Simulated, not measured:");
  lines.push_back(
      absl::StrCat("Search for the ", extreme, " load with ",
                   absl::StrJoin(report.search().objectives(), " and "), ":"));
  if (report.has_verdict()) {
    lines.push_back(
        absl::StrCat("  ", report.verdict(), ": ", report.evidence()));
  } else {
    lines.push_back("  not ended: --resume continues it");
  }
  if (report.has_load()) {
    lines.push_back(
        absl::StrCat("  ", extreme, " load that met: ", SearchAnswer(report)));
  }
  lines.push_back(absl::StrFormat("  %3s %-9s %12s %-17s %-20s  %s", "#",
                                  "phase", "load", "outcome", "measured (UTC)",
                                  "what"));
  for (const SearchProbe& probe : report.probes()) AddProbe(probe, lines);
  return lines;
}

}  // namespace distbench::search
