// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A node's part of one test.

#ifndef DISTBENCH_NODE_TEST_PART_H_
#define DISTBENCH_NODE_TEST_PART_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/node/data_connections.h"
#include "distbench/node/hardware_counting.h"
#include "distbench/node/host_limits.h"
#include "distbench/node/instance_bindings.h"
#include "distbench/node/node_extension.h"
#include "distbench/node/node_manager.h"
#include "distbench/node/resource_sampler.h"
#include "distbench/node/traffic_metrics.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::node {

// Shared by all tests of a node; must outlive them.
struct NodeEnvironment : NodeSetup {
  hosting::EngineFactory& engines;
  const base::Clock& clock;
  std::string hostname;
  std::vector<Attribute> attributes = {};

  // Where the traffic of all tests is counted; null: nowhere.
  TrafficMetrics* traffic_metrics = nullptr;

  // The parent of /proc and /sys; empty: the real ones.
  std::string system_root = {};

  // What products do on this node.
  NodeExtensions extensions = base::Plugins<NodeExtension>::All();

  NodeSite site() const {
    return {.root = system_root,
            .settings = product_settings,
            .has_engine_processes = !engines.disturbs_engines()};
  }
};

// The sequence of calls is Prepare, Connect, Start, Collect, End. Each may
// block, and all are made by one thread; End and destruction are allowed at any
// point. Stop() and TakeProgress() may be called on any thread at any time.
class TestPart {
 public:
  // Called once after Start() succeeded, when all instances have ended their
  // traffic, with an error if they had to end it early, and with their final
  // totals. Called again, with an error, if this node is interrupted after that
  // while it serves the traffic of other nodes. Called on any thread, also
  // within Start(); must not call the test.
  using FinishedHandler = std::function<void(const absl::Status& status,
                                             const TrafficProgress& totals)>;

  TestPart(PrepareTest request, const NodeEnvironment& environment,
           FinishedHandler on_finished);
  ~TestPart();

  TestPart(const TestPart&) = delete;
  TestPart& operator=(const TestPart&) = delete;

  PrepareReply Prepare();
  CommandStatus Connect(const ConnectPeers& request);
  StartReply Start(const StartTraffic& request) ABSL_LOCKS_EXCLUDED(mutex_);

  // Shuts the instances down and emits their measurements.
  CollectReply Collect(absl::FunctionRef<void(ResultChunk chunk)> emit);

  // Shuts the instances down and frees their resources, and undoes what
  // products did for the test. So does the destructor.
  void End();

  // Ends the traffic. Later steps fail with `reason`.
  void Stop(absl::string_view reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // Like Stop(), but for an error on this node, with which the traffic then
  // finishes. Only the first error counts.
  void Interrupt(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the traffic if it is long overdue and has not been ended otherwise.
  void StopIfOverdue();

  // Ends the traffic if the node manager and its engines exceed the limits of
  // the test or of the host.
  void StopIfOverloaded();

  // Records how busy the host is. The thread of the steps must call it once a
  // second while the test is active.
  void SampleResources();

  // Whether this node's own traffic is running.
  bool is_running() const { return running_instances_ > 0; }

  // Whether this node's or other nodes' traffic may be running: from Start() to
  // Collect() or End().
  bool is_active() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return is_started_ && !instances_.empty();
  }

  // Returns the sum over the instances; its recent measurements cover the time
  // since the previous call.
  TrafficProgress TakeProgress() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // An instance that this node runs.
  struct Hosted {
    const std::string& name() const { return plan->name; }

    const config::InstancePlan* plan;
    std::unique_ptr<hosting::HostedEngine> engine;
  };

  // Puts the instance before the message.
  static absl::Status Annotate(const std::string& instance,
                               const absl::Status& status);

  const DistributedSystemDescription& test() const {
    return request_.config().traffic_config();
  }

  absl::Status CheckClockOffset() const;
  absl::Status MakePlan();
  absl::Status CheckGuards() const;
  absl::Status CheckRequirements() const;
  HostFacts ReadFacts() const;
  absl::Status BeginExtensions();
  absl::Status PrepareInstances(PrepareReply& reply)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status PrepareInstance(int instance, PrepareReply& reply)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether nobody runs the instance: its servers are outside of the test.
  bool IsOutside(int instance) const {
    const int service = plan_->instances[instance].service;
    return !plan_->services[service].outside_addresses.empty();
  }
  const config::DriverOptions& DriverOf(
      const config::InstancePlan& instance) const {
    return plan_->services[instance.service].driver;
  }
  int WorkerCount(const config::InstancePlan& instance) const;
  int CpuShare(const config::InstancePlan& instance) const;
  std::string ServiceAddress(const config::DriverOptions& options) const;
  absl::Status CheckNeededSockets() const;
  absl::Status ConnectEngine(hosting::HostedEngine& engine,
                             const ConnectPeers& request, absl::Time deadline);
  // Adds the names of the peers whose addresses the error mentions.
  absl::Status NamePeers(const absl::Status& error,
                         const hosting::HostedEngine& engine,
                         const std::vector<std::string>& addresses) const;

  // Returns an error if the test was stopped.
  absl::Status CheckNotStopped() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns why a step failed: the error of the instance, unless an
  // interruption made it fail.
  absl::Status Blame(const std::string& instance,
                     const absl::Status& error) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckRoom(const config::InstancePlan& plan, int instance) const;
  absl::Status CheckThreadCount(int64_t more = 0) const;
  absl::Status CheckEngineThreads() const;

  // None if the engines run in this process.
  EngineProcesses Processes() const;

  // Of the node manager and its engines. A process that was lost counts with
  // what it had used when it was last looked at.
  RUsage Usage();
  void OnEngineFinished() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<Hosted> TakeInstances() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether processes of instances start in control groups of products.
  bool PlacesProcesses() const;

  // Undoes what products did when the processes of destroyed engines have
  // ended.
  std::vector<Finding> UndoExtensions();

  const PrepareTest request_;
  const NodeEnvironment& environment_;
  const FinishedHandler on_finished_;
  const base::ShiftedClock clock_;
  CountedTraffic counted_;
  std::shared_ptr<const config::Plan> plan_;
  absl::flat_hash_map<std::string, int> indices_;  // in the plan, by name
  std::optional<MemoryLimit> memory_limit_;
  RUsage usage_at_start_;
  std::map<pid_t, RUsage> engine_usages_;

  // Names of the programs besides the node's own that host instances.
  std::set<std::string> engines_;
  std::vector<std::unique_ptr<TestPartExtension>> extensions_;  // of products
  DataConnectionWatch connections_;
  const HardwareCounting hardware_counting_;
  ResourceSampler resources_;
  std::optional<InstanceBindings> bindings_;  // absent until Prepare()
  int64_t stop_deadline_ns_ = 0;              // monotonic
  std::atomic<int> running_instances_ = 0;

  mutable absl::Mutex mutex_;
  // Changed by the thread of the steps, which reads it without the mutex.
  std::vector<Hosted> instances_;
  bool is_started_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::string stop_reason_ ABSL_GUARDED_BY(mutex_);  // empty: not stopped
  absl::Status interruption_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TEST_PART_H_
