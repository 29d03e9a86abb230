// Binds the instances of a test that a node hosts to CPUs and memory, and finds
// out where they really ran.

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

namespace distbench {

// Life: Resolve, RunBound and perhaps LivesIn for each instance, Start, Sample,
// Finish. An instance that was not resolved has no binding, nothing is proved of
// it, and RunBound() refuses it. Not thread-safe. Does nothing to instances for which neither the test nor the
// node manager asks for a binding, but to look where they run.
class InstanceBindings {
 public:
  // Of all instances together. Instances beyond that are bound, and nothing is
  // proved of their threads: to look at thousands would disturb them.
  static constexpr int kMaxWatchedThreads = 256;

  // root: where /proc and /sys are; empty: at their places. process_binding:
  // what the node manager itself is bound to, if its flags said so: holds for
  // services without a numa_binding.
  InstanceBindings(const DistributedSystemDescription& test, std::string root,
                   const std::optional<NumaBinding>& process_binding);

  // Finds out what the instance's binding means on this host. The error says
  // why it can not be made, if it is strict.
  absl::Status Resolve(const InstancePlan& instance);

  // CPUs that the instance may use; 0 if it may use all of the node manager's.
  int CpuCount(const InstancePlan& instance) const;

  // Takes a step towards running the instance while the calling thread is bound
  // as the instance is to be. Threads inherit that from the one that makes
  // them: those that are born meanwhile are taken for the instance's. Errors:
  // those of the step; the kernel's, if the binding is strict; INTERNAL before
  // Resolve(), without taking the step.
  absl::Status RunBound(const std::string& instance,
                        absl::FunctionRef<absl::Status()> step);

  // What the instance is bound to; null if it is not bound, or to what the node
  // manager is bound to.
  const ResolvedBinding* OwnBinding(const std::string& instance) const;

  // The instance runs in another process than this one: its proof is about all
  // of that process. If several instances live there, their threads are not told
  // apart, and nothing is proved of them.
  void LivesIn(const std::string& instance, pid_t pid);

  // The time that the proofs are about.
  void Start();
  void Sample();

  // Adds a proof for each instance. Before the instances are shut down.
  void Finish(NodeResources& resources);

 private:
  struct Instance {
    bool is_of_service = false;  // not the node manager's
    bool is_strict = false;
    std::optional<ResolvedBinding> binding;
    std::vector<std::string> failures;  // to make it, if it is not strict
    pid_t pid = 0;                      // of a process that is not this one
    std::optional<ThreadWatch> threads;  // absent: none are looked at
    std::optional<MemoryWatch> memory;   // of that process
  };

  // Null if there is none.
  const ResolvedBinding* BindingOf(const std::string& instance) const;
  void Watch(const std::set<int>& threads, Instance& instance);
  std::vector<std::string> MemoryViolations(const Instance& instance) const;
  absl::Status NoteFailure(Instance& instance, const absl::Status& status);
  std::optional<IndexSet> CommonMemory() const;

  const DistributedSystemDescription& test_;
  const std::string root_;
  const std::optional<NumaBinding> process_binding_;
  const HostTopology topology_;
  std::map<std::string, Instance> instances_;
  MemoryWatch memory_;
  int watched_thread_count_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_INSTANCE_BINDINGS_H_
