#include "distbench/node/test_controls.h"

#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_resolution.h"

namespace distbench::node {
namespace {

std::string ServiceOf(const std::string& instance) {
  return instance.substr(0, instance.find('/'));
}

bool AsksForNothing(const ControlSet& controls) {
  return controls.groups().empty() && controls.io_cost().empty();
}

// One for each process.
std::vector<protection::ControlledInstance> Processes(
    const DistributedSystemDescription& test,
    const std::vector<std::string>& instances) {
  const std::set<std::string> sharing = config::ServicesInOneProcess(test);
  bool has_shared = false;
  std::vector<protection::ControlledInstance> processes;
  for (const std::string& instance : instances) {
    std::string service = ServiceOf(instance);
    if (sharing.contains(service) && std::exchange(has_shared, true)) continue;
    processes.push_back({.name = instance, .service = std::move(service)});
  }
  return processes;
}

}  // namespace

absl::Status TestControls::Apply(const DistributedSystemDescription& test,
                                 const std::vector<std::string>& instances,
                                 bool can_have_groups,
                                 const protection::ControlHost& host) {
  const ControlSet& controls = test.controls();
  if (AsksForNothing(controls)) return absl::OkStatus();
  if (!can_have_groups) return RefuseWithoutProcesses(controls, instances);
  const std::vector<protection::ControlledInstance> processes =
      Processes(test, instances);
  auto applied = protection::AppliedControls::Apply(controls, processes, host);
  if (!applied.ok()) return applied.status();
  applied_ = *std::move(applied);
  has_groups_ = absl::c_any_of(processes, [this](const auto& process) {
    return applied_->GroupOf(process.name) >= 0;
  });
  return absl::OkStatus();
}

absl::Status TestControls::RefuseWithoutProcesses(
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
  for (const std::string& instance : instances) {
    ControlProof& proof = proofs_.emplace_back();
    proof.set_group(instance);
    proof.set_held(false);
    proof.set_problem(kProblem);
  }
  return absl::OkStatus();
}

int TestControls::GroupOf(absl::string_view instance) const {
  return applied_ == nullptr ? -1 : applied_->GroupOf(instance);
}

std::map<std::string, GroupUse> TestControls::ReadUse() const {
  if (applied_ == nullptr) return {};
  return applied_->ReadUse();
}

void TestControls::Verify() {
  if (applied_ != nullptr) applied_->Verify();
}

absl::Status TestControls::Restore() {
  if (applied_ == nullptr) return absl::OkStatus();
  absl::Status status = applied_->Restore();
  proofs_ = applied_->proofs();
  applied_ = nullptr;
  has_groups_ = false;
  return status;
}

void TestControls::AddProofs(NodeResources& resources) const {
  const std::vector<ControlProof> proofs =
      applied_ == nullptr ? proofs_ : applied_->proofs();
  for (const ControlProof& proof : proofs) *resources.add_controls() = proof;
}

}  // namespace distbench::node
