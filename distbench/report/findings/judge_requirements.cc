// Findings on what the test requires of its hosts. Strict requirements are
// checked before the traffic, and here again: they may have changed since then.

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/report/findings/judge_parts.h"

namespace distbench::report {

void JudgeRequirements(const TestResult& result, FindingList& findings) {
  const HostRequirements& requirements = result.traffic_config().requirements();
  // By host, because several nodes may run on one.
  std::map<std::string, std::set<std::string>> unmet_by_host;
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
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
                     absl::StrJoin(unmet, "; "),
                     ". Do not compare this run with others that do; change "
                     "the host, or use another one"));
  }
}

}  // namespace distbench::report
