#include "distbench/products/external/external_findings.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench::external {
namespace {

constexpr char kTimeParts[] = "time_parts_external";

}  // namespace

void JudgeExternalCalls(const TestResult& result,
                        report::FindingList& findings) {
  const DistributedSystemDescription& test = result.traffic_config();
  if (!test.measure_time_parts()) return;
  std::set<std::string> rpcs;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.has_external_call()) rpcs.insert(rpc.name());
  }
  if (rpcs.empty()) return;
  findings.Add(
      Finding::NOTE, kTimeParts,
      absl::StrCat(absl::StrJoin(rpcs, ", "),
                   ": an external service runs nothing of distbench, so the "
                   "parts of time of its server cannot be known; the section "
                   "\"Time parts\" leaves these RPCs out"));
}

absl::string_view AdviceForExternalCalls(absl::string_view code) {
  if (code != kTimeParts) return "";
  return "Look at the server's own metrics or traces for its part of the time.";
}

}  // namespace distbench::external
