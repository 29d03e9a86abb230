#include "distbench/report/text/controls_text.h"

#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/report/text/failure_lines.h"

namespace distbench::report {
namespace {

using Lines = std::vector<std::string>;

bool WasUndone(const ControlProof& proof) {
  return proof.after() == "restored" || proof.after() == "removed";
}

std::string DescribeProof(const ControlProof& proof) {
  std::string line = absl::StrCat(proof.group(), " ", proof.file());
  if (proof.has_wanted()) absl::StrAppend(&line, " = ", proof.wanted());
  if (!proof.held()) absl::StrAppend(&line, ": not held: ", proof.problem());
  if (proof.has_after() && !WasUndone(proof)) {
    absl::StrAppend(&line, ": ", proof.after(), " as others had set it");
  }
  return OneLine(line);
}

void AppendNode(const std::string& node, const NodeResources& resources,
                Lines& lines) {
  const auto& proofs = resources.controls();
  if (proofs.empty()) return;
  const auto held_count = absl::c_count_if(
      proofs, [](const ControlProof& proof) { return proof.held(); });
  lines.push_back(absl::StrCat("  ", node, ": ", held_count, " of ",
                               proofs.size(), " settings held"));
  for (const ControlProof& proof : proofs) {
    if (proof.held() && (!proof.has_after() || WasUndone(proof))) continue;
    lines.push_back(absl::StrCat("  ", node, ": ", DescribeProof(proof)));
  }
}

}  // namespace

std::vector<std::string> ControlLines(const TestResult& result) {
  std::map<std::string, const NodeResources*> nodes;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    nodes[node] = &resources;
  }
  Lines lines;
  for (const auto& [node, resources] : nodes) {
    AppendNode(node, *resources, lines);
  }
  return lines;
}

}  // namespace distbench::report
