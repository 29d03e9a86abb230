// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/instance_bindings.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/numa/thread_watch.h"
#include "distbench/numa/topology.h"

namespace distbench::node {
namespace {

absl::Status CannotBind(const absl::Status& reason) {
  return absl::Status(
      reason.code(),
      absl::StrCat("its numa_binding cannot be made: ", reason.message()));
}

}  // namespace

absl::Status CheckBinding(const NumaBinding& asked, int instance,
                          const HostTopology& topology) {
  const absl::Status status =
      numa::ResolveBinding(asked, instance, topology).status();
  return status.ok() ? status : CannotBind(status);
}

InstanceBindings::InstanceBindings(
    const DistributedSystemDescription& test, std::string root,
    const std::optional<NumaBinding>& process_binding)
    : test_(test),
      root_(std::move(root)),
      process_binding_(process_binding),
      topology_(numa::ReadHostTopology(root_)),
      memory_(root_) {
  memory_.NoteBaseline();
}

absl::Status InstanceBindings::Resolve(const config::InstancePlan& plan) {
  Instance& instance = instances_.try_emplace(plan.name).first->second;
  const ServiceSpec& service = test_.services(plan.service);
  instance.is_of_service = service.has_numa_binding();
  if (!instance.is_of_service && !process_binding_) return absl::OkStatus();
  const NumaBinding& asked =
      instance.is_of_service ? service.numa_binding() : *process_binding_;
  instance.is_strict = asked.strict();
  absl::StatusOr<numa::ResolvedBinding> resolved =
      numa::ResolveBinding(asked, plan.number, topology_);
  if (!resolved.ok()) return NoteFailure(instance, resolved.status());
  instance.binding = *std::move(resolved);
  return absl::OkStatus();
}

// Returns an error if the binding is strict; otherwise keeps it for the proof.
absl::Status InstanceBindings::NoteFailure(Instance& instance,
                                           const absl::Status& status) {
  absl::Status problem = CannotBind(status);
  if (instance.is_strict) return problem;
  instance.failures.emplace_back(problem.message());
  instance.binding.reset();
  return absl::OkStatus();
}

int InstanceBindings::CpuCount(const config::InstancePlan& plan) const {
  const auto found = instances_.find(plan.name);
  if (found == instances_.end() || !found->second.binding) return 0;
  return static_cast<int>(found->second.binding->cpus.size());
}

absl::Status InstanceBindings::RunBound(
    const std::string& name, absl::FunctionRef<absl::Status()> step) {
  const auto found = instances_.find(name);
  if (found == instances_.end()) {
    return absl::InternalError(
        absl::StrCat("the binding of ", name, " was never resolved"));
  }
  Instance& instance = found->second;
  std::unique_ptr<numa::ScopedThreadBinding> scope;
  // The node manager's threads already have its binding.
  if (instance.binding && instance.is_of_service) {
    auto made = numa::ScopedThreadBinding::Make(*instance.binding);
    if (made.ok()) {
      scope = *std::move(made);
    } else if (absl::Status status = NoteFailure(instance, made.status());
               !status.ok()) {
      return status;
    }
  }
  if (instance.pid != 0 || watched_thread_count_ >= kMaxWatchedThreads) {
    return step();
  }
  const std::set<int> before = numa::ReadThreadIds(root_, 0);
  absl::Status status = step();
  if (instance.pid == 0) {
    Watch(base::Without(numa::ReadThreadIds(root_, 0), before), instance);
  }
  return status;
}

std::optional<numa::ResolvedBinding> InstanceBindings::OwnBinding(
    const std::string& name) const {
  const auto found = instances_.find(name);
  if (found == instances_.end() || !found->second.is_of_service) return {};
  return found->second.binding;
}

void InstanceBindings::LivesIn(const std::string& name, pid_t pid) {
  const auto found = instances_.find(name);
  if (found == instances_.end()) return;
  bool is_shared = false;
  for (auto& [other, instance] : instances_) {
    if (instance.pid != pid) continue;
    is_shared = true;
    instance.threads.reset();
  }
  Instance& instance = found->second;
  instance.pid = pid;
  instance.memory.emplace(root_, pid);
  if (!is_shared) instance.threads.emplace(root_, pid);
}

void InstanceBindings::Watch(const std::set<int>& threads, Instance& instance) {
  if (watched_thread_count_ + threads.size() > kMaxWatchedThreads) {
    watched_thread_count_ = kMaxWatchedThreads;
    return;
  }
  watched_thread_count_ += static_cast<int>(threads.size());
  if (!instance.threads) instance.threads.emplace(root_);
  instance.threads->AddThreads(threads);
}

void InstanceBindings::Start() {
  memory_.Start();
  for (auto& [name, instance] : instances_) {
    if (instance.memory) instance.memory->Start();
    if (!instance.threads) continue;
    if (instance.pid != 0)
      Watch(numa::ReadThreadIds(root_, instance.pid), instance);
    instance.threads->Start();
  }
}

void InstanceBindings::Sample() {
  for (auto& [name, instance] : instances_) {
    if (instance.threads) instance.threads->Sample();
  }
}

// The nodes to which the memory of all instances together is bound; absent if
// one of the instances may use any node.
std::optional<base::IndexSet> InstanceBindings::CommonMemory() const {
  base::IndexSet nodes;
  for (const auto& [name, instance] : instances_) {
    if (!instance.binding || instance.binding->policy != NumaBinding::BIND) {
      return std::nullopt;
    }
    nodes.insert(instance.binding->memory_nodes.begin(),
                 instance.binding->memory_nodes.end());
  }
  return nodes;
}

std::vector<std::string> InstanceBindings::MemoryViolations(
    const Instance& instance) const {
  if (!instance.binding) return {};
  if (instance.memory) {
    if (instance.binding->policy != NumaBinding::BIND || !instance.threads) {
      return {};
    }
    return instance.memory->Violations(instance.binding->memory_nodes);
  }
  const std::optional<base::IndexSet> common = CommonMemory();
  return common ? memory_.Violations(*common) : std::vector<std::string>();
}

void InstanceBindings::Finish(NodeResources& resources) {
  Sample();
  memory_.Finish();
  if (process_binding_) memory_.CountAll();
  for (auto& [name, instance] : instances_) {
    if (instance.memory) instance.memory->Finish();
    BindingProof& proof = (*resources.mutable_binding_proofs())[name];
    if (instance.threads) instance.threads->Report(proof);
    (instance.memory ? *instance.memory : memory_).Report(proof);
    const auto add_violations = [&](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) proof.add_violations(text);
    };
    add_violations(instance.failures);
    if (instance.binding) {
      *proof.mutable_binding() = instance.binding->proto;
      if (instance.threads) {
        add_violations(instance.threads->Violations(instance.binding->cpus));
      }
    } else if (instance.is_of_service) {
      proof.mutable_binding()->set_strict(false);
    }
    add_violations(MemoryViolations(instance));
  }
}

}  // namespace distbench::node
