// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Binds a node's instances of a test to CPUs and memory, and records where they
// really ran.

#ifndef DISTBENCH_NODE_INSTANCE_BINDINGS_H_
#define DISTBENCH_NODE_INSTANCE_BINDINGS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "distbench/config/plan/plan.h"
#include "distbench/numa/binding.h"
#include "distbench/numa/memory_watch.h"
#include "distbench/numa/thread_watch.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

// Why an instance, numbered from 0 within its service, cannot be bound on a
// host with this topology, in the words of InstanceBindings.
absl::Status CheckBinding(const NumaBinding& asked, int instance,
                          const HostTopology& topology);

// The sequence of calls is: Resolve, RunBound and possibly LivesIn for each
// instance; then Start, Sample and Finish. An instance that was not resolved
// has no binding and no proof, and RunBound() refuses it. If neither the test
// nor the node manager asks for a binding, instances are only observed. Not
// thread-safe.
class InstanceBindings {
 public:
  // Limits the watched threads of all instances together. Further instances are
  // bound, but their threads have no proof: watching thousands of threads would
  // disturb them.
  static constexpr int kMaxWatchedThreads = 256;

  // root: the parent of /proc and /sys; empty: the real ones. process_binding:
  // the binding of the node manager itself, from its flags; it applies to
  // services without a numa_binding.
  InstanceBindings(const DistributedSystemDescription& test, std::string root,
                   const std::optional<NumaBinding>& process_binding);

  // Resolves the instance's binding on this host. The error says why the
  // binding is impossible, if it is strict.
  absl::Status Resolve(const config::InstancePlan& instance);

  // The number of CPUs that the instance may use; 0 if it may use all CPUs of
  // the node manager.
  int CpuCount(const config::InstancePlan& instance) const;

  // Executes a step towards running the instance, with the calling thread bound
  // like the instance. Threads inherit the binding from the thread that creates
  // them, so threads created meanwhile are attributed to the instance. Errors:
  // those of the step; the kernel's, if the binding is strict; INTERNAL before
  // Resolve(), without executing the step.
  absl::Status RunBound(const std::string& instance,
                        absl::FunctionRef<absl::Status()> step);

  // The instance's own binding; absent if it is not bound, or has the node
  // manager's binding.
  std::optional<numa::ResolvedBinding> OwnBinding(
      const std::string& instance) const;

  // Tells that the instance runs in another process, so that its proof covers
  // that whole process. If several instances share it, their threads cannot be
  // distinguished and have no proof.
  void LivesIn(const std::string& instance, pid_t pid);

  // The time that the proofs cover.
  void Start();
  void Sample();

  // Adds a proof for each instance. Call it before the instances are shut down.
  void Finish(NodeResources& resources);

 private:
  struct Instance {
    bool is_of_service = false;  // not of the node manager
    bool is_strict = false;
    std::optional<numa::ResolvedBinding> binding;
    std::vector<std::string> failures;         // to bind, if it is not strict
    pid_t pid = 0;                             // 0: this process
    std::optional<numa::ThreadWatch> threads;  // absent: not watched
    std::optional<numa::MemoryWatch> memory;   // of that process
  };

  void Watch(const std::set<int>& threads, Instance& instance);
  std::vector<std::string> MemoryViolations(const Instance& instance) const;
  absl::Status NoteFailure(Instance& instance, const absl::Status& status);
  std::optional<base::IndexSet> CommonMemory() const;

  const DistributedSystemDescription& test_;
  const std::string root_;
  const std::optional<NumaBinding> process_binding_;
  const HostTopology topology_;
  std::map<std::string, Instance> instances_;
  numa::MemoryWatch memory_;
  int watched_thread_count_ = 0;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_INSTANCE_BINDINGS_H_
