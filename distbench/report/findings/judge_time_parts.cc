#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/rpc_measurements.h"

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
std::set<std::string> OutsideRpcs(const DistributedSystemDescription& test) {
  std::set<std::string> rpcs;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (config::CallsOutside(rpc)) rpcs.insert(rpc.name());
  }
  return rpcs;
}

}  // namespace

void JudgeTimeParts(const TestResult& result, const TestTotals& totals,
                    FindingList& findings) {
  if (!result.traffic_config().measure_time_parts()) return;
  // Their servers do not report any.
  const std::set<std::string> outside = OutsideRpcs(result.traffic_config());
  for (const auto& [name, rpc] : totals.rpcs) {
    if (outside.contains(name)) continue;
    const stats::LogHistogram& network_ns =
        TimesOf(rpc, results::TimePart::kNetwork);
    JudgeMissing(name, rpc.counts.succeeded_count,
                 static_cast<int64_t>(network_ns.count()), findings);
    JudgeContradictions(name, network_ns, findings);
  }
}

}  // namespace distbench::report
