// Findings on whether instances ran where their bindings say.

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/report/findings/judge_parts.h"

namespace distbench {
namespace {

void JudgeProof(const std::string& node, const std::string& instance,
                const BindingProof& proof, FindingList& findings) {
  if (proof.violations().empty()) return;
  const bool is_strict = proof.binding().strict();
  findings.Add(
      is_strict ? Finding::INVALID : Finding::WARN, "binding_not_held",
      absl::StrCat(
          instance, " on ", node, " did not run where its binding says: ",
          absl::StrJoin(proof.violations(), "; "),
          is_strict ? ". The test requires this binding: find out what "
                      "moved the instance, or set strict: false"
                    : ". The measurements are those of another place"));
}

}  // namespace

void JudgeBindings(const TestResult& result, FindingList& findings) {
  std::map<std::string, const NodeResources*> nodes;
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    nodes[alias] = &node;
  }
  for (const auto& [alias, node] : nodes) {
    const std::map<std::string, BindingProof> proofs(
        node->binding_proofs().begin(), node->binding_proofs().end());
    for (const auto& [instance, proof] : proofs) {
      JudgeProof(alias, instance, proof, findings);
    }
  }
}

}  // namespace distbench
