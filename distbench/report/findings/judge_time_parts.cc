#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/time_parts.h"

namespace distbench::report {
namespace {

// Share of RPCs above which contradictions are more than a note.
constexpr double kManyContradictions = 0.01;

void JudgeMissing(const std::string& name, int64_t succeeded, int64_t reported,
                  FindingList& findings) {
  if (reported >= succeeded) return;
  findings.Add(
      Finding::WARN, "time_parts_missing",
      absl::StrCat(name, ": for ", succeeded - reported, " of ", succeeded,
                   " RPCs, the server did not report its time parts; the "
                   "section \"Time parts\" leaves them out. If nothing else "
                   "was lost, check that all hosts run the same version"));
}

// No network is so fast that nothing is left of the service time.
void JudgeContradictions(const std::string& name,
                         const stats::LogHistogram& network_ns,
                         FindingList& findings) {
  const uint64_t count = network_ns.CountAtMost(0);
  if (count == 0) return;
  const double share =
      static_cast<double>(count) / static_cast<double>(network_ns.count());
  findings.Add(
      share > kManyContradictions ? Finding::WARN : Finding::NOTE,
      "time_parts_contradict",
      absl::StrCat(name, ": for ", count, " RPCs (", Percent(share),
                   "), the server reported at least as much time as passed at "
                   "the client; their network time counts as 0. Clocks of the "
                   "hosts run at different speeds: check their time "
                   "synchronisation"));
}

// The RPCs whose servers are not part of the test.
std::set<std::string> ExternalRpcs(const DistributedSystemDescription& test) {
  std::set<std::string> rpcs;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.has_external_call()) rpcs.insert(rpc.name());
  }
  return rpcs;
}

}  // namespace

void JudgeTimeParts(const TestResult& result, const TestTotals& totals,
                    FindingList& findings) {
  if (!result.traffic_config().measure_time_parts()) return;
  const std::set<std::string> external = ExternalRpcs(result.traffic_config());
  if (!external.empty()) {
    findings.Add(
        Finding::NOTE, "time_parts_external",
        absl::StrCat(absl::StrJoin(external, ", "),
                     ": an external service runs nothing of distbench, so the "
                     "parts of time of its server cannot be known; the section "
                     "\"Time parts\" leaves these RPCs out"));
  }
  for (const auto& [name, rpc] : totals.rpcs) {
    if (external.contains(name)) continue;
    const stats::LogHistogram& network_ns =
        TimesOf(rpc, results::TimePart::kNetwork);
    JudgeMissing(name, rpc.counts.succeeded_count,
                 static_cast<int64_t>(network_ns.count()), findings);
    JudgeContradictions(name, network_ns, findings);
  }
}

}  // namespace distbench::report
