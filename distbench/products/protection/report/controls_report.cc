// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/report/controls_report.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/products/protection/report/report.pb.h"
#include "distbench/report/derived/figures.h"
#include "distbench/results/walk.h"

namespace distbench::protection {
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
  return line;
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

// ---- Findings ---------------------------------------------------------------

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
               bool is_strict, report::FindingList& findings) {
  std::vector<std::string> failures;
  for (const ControlProof& proof : resources.controls()) {
    if (!proof.held()) failures.push_back(Describe(proof));
  }
  if (failures.empty()) return;
  const size_t count = failures.size();
  if (count > kMostNamed) failures.resize(kMostNamed);
  findings.Add(
      is_strict ? Finding::INVALID : Finding::WARN, "controls_not_held",
      absl::StrCat(node, " did not hold ", count, " of ",
                   resources.controls_size(),
                   " settings of control groups from start to end: ",
                   absl::StrJoin(failures, "; "),
                   count > kMostNamed
                       ? absl::StrCat("; and ", count - kMostNamed, " more")
                       : "",
                   is_strict ? ". The test requires them"
                             : ". This run is not one with these controls"),
      absl::StrCat(
          "Find out what else writes to these control groups, such as systemd "
          "or a container runtime, and repeat the run.",
          is_strict ? " If the test does not depend on them, set "
                      "controls.strict: false."
                    : ""));
}

}  // namespace

std::vector<std::string> ControlLines(const TestResult& result) {
  Lines lines;
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    AppendNode(node->first, node->second, lines);
  }
  return lines;
}

void JudgeControls(const TestResult& result, report::FindingList& findings) {
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    JudgeNode(node->first, node->second,
              result.traffic_config().controls().strict(), findings);
  }
}

base::Json ControlsJson(const TestResult& result,
                        const report::JsonLimits& /*limits*/) {
  base::Json json = base::Json::array();
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    for (const ControlProof& proof : node->second.controls()) {
      ReportedControl control;
      report::CopyByName(proof, control);
      control.set_node(node->first);
      json.push_back(base::MessageJson(control));
    }
  }
  return json;
}

}  // namespace distbench::protection
