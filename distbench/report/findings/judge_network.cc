// The finding on network settings. Those that a socket refuses fail a test
// before its traffic; here a connection may have lost or never got them.

#include "absl/strings/str_cat.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/network_readings.h"

namespace distbench::report {

void JudgeNetworkSettings(const TestResult& result, FindingList& findings) {
  for (const ServiceConnections& folded : FoldNetworkSettings(result)) {
    if (!folded.differs) continue;
    findings.Add(Finding::WARN, "network_settings_differ",
                 absl::StrCat(Describe(folded),
                              ". Do not take this run for one with the "
                              "settings that were asked for"));
  }
}

}  // namespace distbench::report
