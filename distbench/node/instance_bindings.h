// Binds the instances of a test that a node hosts to CPUs and memory, and finds
// out where they really ran.

#ifndef DISTBENCH_NODE_INSTANCE_BINDINGS_H_
#define DISTBENCH_NODE_INSTANCE_BINDINGS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "distbench/config/plan.h"
#include "distbench/numa/binding.h"
#include "distbench/numa/memory_watch.h"
#include "distbench/numa/thread_watch.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Life: Resolve and RunBound for each instance, Start, Sample, Finish. Not
// thread-safe. Does nothing to instances for which neither the test nor the
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
  // them: those that are born meanwhile are taken for the instance's. Requires
  // Resolve(). Errors: those of the step; the kernel's, if the binding is
  // strict.
  absl::Status RunBound(const std::string& instance,
                        absl::FunctionRef<absl::Status()> step);

  // The time that the proofs are about.
  void Start();
  void Sample();

  // Adds a proof for each instance. Before the instances are shut down.
  void Finish(NodeResources& resources);

 private:
  struct Instance {
    explicit Instance(const std::string& root) : threads(root) {}

    bool is_of_service = false;  // not the node manager's
    bool is_strict = false;
    std::optional<ResolvedBinding> binding;
    std::vector<std::string> failures;  // to make it, if it is not strict
    ThreadWatch threads;
  };

  void WatchThreadsBornSince(const std::set<int>& before, Instance& instance);
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
