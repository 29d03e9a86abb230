// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/node/control_extension.h"

#include <map>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/protection/control_groups/hierarchy.h"
#include "distbench/products/protection/control_groups/undo.h"
#include "glog/logging.h"

namespace distbench::protection {
namespace {

constexpr char kStateFolderSetting[] = "control_state_dir";

bool AsksForNothing(const ControlSet& controls) {
  return controls.groups().empty() && controls.io_cost().empty();
}

// One for each process: instances that share one are represented by the first
// of them.
std::vector<ControlledInstance> Processes(
    const DistributedSystemDescription& test,
    const std::vector<std::string>& instances) {
  const std::set<std::string> sharing = config::ServicesInOneProcess(test);
  bool has_shared = false;
  std::vector<ControlledInstance> processes;
  for (const std::string& instance : instances) {
    std::string service = config::ServiceOf(instance);
    if (sharing.contains(service) && std::exchange(has_shared, true)) continue;
    processes.push_back({.name = instance, .service = std::move(service)});
  }
  return processes;
}

// The controls of a node's part of one test.
class TestControls final : public node::TestPartExtension {
 public:
  TestControls(std::unique_ptr<AppliedControls> applied,
               const std::vector<ControlledInstance>& processes)
      : applied_(std::move(applied)) {
    places_processes_ = absl::c_any_of(processes, [this](const auto& process) {
      return applied_->GroupOf(process.name) >= 0;
    });
  }

  // Controls that could not be set.
  explicit TestControls(std::vector<ControlProof> proofs)
      : proofs_(std::move(proofs)) {}

  bool places_processes() const override { return places_processes_; }

  int GroupOf(absl::string_view instance) const override {
    return applied_ == nullptr ? -1 : applied_->GroupOf(instance);
  }

  std::map<std::string, GroupUse> ReadUse() const override {
    if (applied_ == nullptr) return {};
    return applied_->ReadUse();
  }

  // Reads all settings again.
  void TrafficEnded() override {
    if (applied_ != nullptr) applied_->Verify();
  }

  std::optional<Finding> Undo() override {
    if (applied_ == nullptr) return std::nullopt;
    const absl::Status restored = applied_->Restore();
    proofs_ = applied_->proofs();
    applied_ = nullptr;
    places_processes_ = false;
    if (restored.ok()) return std::nullopt;
    Finding finding;
    finding.set_severity(Finding::WARN);
    finding.set_code("controls_not_restored");
    finding.set_message(std::string(restored.message()));
    finding.set_advice(
        "Restart the node manager on this host: it undoes what is left. Then "
        "check the files that the message names.");
    return finding;
  }

  // Adds a proof for each setting.
  void AddResults(NodeResources& resources) const override {
    const std::vector<ControlProof> proofs =
        applied_ == nullptr ? proofs_ : applied_->proofs();
    for (const ControlProof& proof : proofs) *resources.add_controls() = proof;
  }

 private:
  std::unique_ptr<AppliedControls> applied_;  // null: not applied, or undone
  bool places_processes_ = false;
  std::vector<ControlProof> proofs_;  // while applied_ is null
};

absl::StatusOr<std::unique_ptr<node::TestPartExtension>> RefuseWithoutProcesses(
    const ControlSet& controls, const std::vector<std::string>& instances) {
  constexpr char kProblem[] =
      "instances run in the process of their node manager, which cannot be in "
      "several control groups; run the test on node managers of their own";
  if (controls.strict()) {
    return absl::FailedPreconditionError(
        absl::StrCat("controls cannot be set (with strict: false, the test "
                     "runs without them): ",
                     kProblem));
  }
  std::vector<ControlProof> proofs;
  for (const std::string& instance : instances) {
    ControlProof& proof = proofs.emplace_back();
    proof.set_group(instance);
    proof.set_held(false);
    proof.set_problem(kProblem);
  }
  return std::make_unique<TestControls>(std::move(proofs));
}

}  // namespace

std::vector<node::NodeSettingDeclaration> ControlExtension::settings() const {
  return {{.name = kStateFolderSetting,
           .placeholder = "DIR",
           .help =
               "Where to note what the controls of tests change, so that it\n"
               "can be undone after a crash; default: /run/distbench or,\n"
               "without root, a folder of the user's"}};
}

// A node whose engines have no processes has nothing to do with groups.
void ControlExtension::NodeStarts(const node::NodeSite& site) const {
  if (!site.has_engine_processes) return;
  const ControlHost host = HostOf(site);
  for (const std::string& sentence :
       RecoverAbandoned(host.root, host.state_folder, *host.files)) {
    LOG(WARNING) << "control groups: " << sentence;
  }
}

void ControlExtension::AddFacts(const std::string& root,
                                HostFacts& facts) const {
  *facts.mutable_control_groups() = ReadControlGroupFacts(root, *host_.files);
}

std::vector<node::HostLack> ControlExtension::FindLacks(
    const HostFacts& facts, const DistributedSystemDescription& test,
    const std::vector<std::string>& instances) const {
  const ControlSet& controls = test.controls();
  if (AsksForNothing(controls)) return {};
  const absl::Status status =
      CheckControls(controls, Processes(test, instances), facts);
  if (status.ok()) return {};
  return {{std::string(status.message()), controls.strict()}};
}

absl::StatusOr<std::unique_ptr<node::TestPartExtension>>
ControlExtension::TestBegins(const node::NodeSite& site,
                             const DistributedSystemDescription& test,
                             const std::vector<std::string>& instances) const {
  const ControlSet& controls = test.controls();
  if (AsksForNothing(controls)) return nullptr;
  if (!site.has_engine_processes) {
    return RefuseWithoutProcesses(controls, instances);
  }
  const std::vector<ControlledInstance> processes = Processes(test, instances);
  absl::StatusOr<std::unique_ptr<AppliedControls>> applied =
      AppliedControls::Apply(controls, processes, HostOf(site));
  if (!applied.ok()) return applied.status();
  return std::make_unique<TestControls>(*std::move(applied), processes);
}

ControlHost ControlExtension::HostOf(const node::NodeSite& site) const {
  ControlHost host = host_;
  if (host.root.empty()) host.root = site.root;
  const auto folder = site.settings.find(kStateFolderSetting);
  if (host.state_folder.empty() && folder != site.settings.end()) {
    host.state_folder = folder->second;
  }
  return host;
}

}  // namespace distbench::protection
