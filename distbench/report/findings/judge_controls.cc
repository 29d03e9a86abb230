// Findings on the control groups that the test asked for. Strict controls that
// are impossible fail a test before its traffic; here they may have ceased to
// hold.

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/report/findings/judge_parts.h"

namespace distbench::report {
namespace {

// All are in the result.
constexpr size_t kMostNamed = 5;

std::string Describe(const ControlProof& proof) {
  const std::string& whose =
      proof.group().empty() ? proof.path() : proof.group();
  return absl::StrCat(
      proof.file().empty() ? whose : absl::StrCat(proof.file(), " of ", whose),
      ": ", proof.problem());
}

void JudgeNode(const std::string& node, const NodeResources& resources,
               bool is_strict, FindingList& findings) {
  std::vector<std::string> failures;
  for (const ControlProof& proof : resources.controls()) {
    if (!proof.held()) failures.push_back(Describe(proof));
  }
  if (failures.empty()) return;
  const size_t count = failures.size();
  if (count > kMostNamed) failures.resize(kMostNamed);
  findings.Add(
      is_strict ? Finding::INVALID : Finding::WARN, "controls_not_held",
      absl::StrCat(
          node, " did not hold ", count, " of ", resources.controls_size(),
          " settings of control groups from start to end: ",
          absl::StrJoin(failures, "; "),
          count > kMostNamed
              ? absl::StrCat("; and ", count - kMostNamed, " more")
              : "",
          is_strict ? ". The test requires them: find out what changed them, "
                      "or set controls.strict: false"
                    : ". Do not take this run for one with these controls"));
}

}  // namespace

void JudgeControls(const TestResult& result, FindingList& findings) {
  const auto& by_node = result.resource_usage_logs().node_resources();
  std::map<std::string, const NodeResources*> nodes;
  for (const auto& [alias, resources] : by_node) nodes[alias] = &resources;
  for (const auto& [alias, resources] : nodes) {
    JudgeNode(alias, *resources, result.traffic_config().controls().strict(),
              findings);
  }
}

}  // namespace distbench::report
