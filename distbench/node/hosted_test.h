// A node's part of one test.

#ifndef DISTBENCH_NODE_HOSTED_TEST_H_
#define DISTBENCH_NODE_HOSTED_TEST_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/base/shifted_clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/node/instance_bindings.h"
#include "distbench/node/memory_limit.h"
#include "distbench/node/resource_sampler.h"
#include "distbench/node/socket_limits.h"
#include "distbench/security/credentials.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {

// What the tests of a node share; must outlive them.
struct NodeEnvironment {
  EngineFactory& engines;
  const Clock& clock;

  // As of NodeManagerOptions.
  std::string service_address;
  std::string listen_address;
  std::shared_ptr<const TlsCredentials> tls;
  std::string hostname;
  std::vector<Attribute> attributes;

  // Told the totals of the traffic once a second and at its end; any thread.
  std::function<void(const TrafficProgress& totals)> on_progress =
      [](const TrafficProgress&) {};

  // Where /proc and /sys are found; empty: at their places.
  std::string system_root;

  // As of NodeManagerOptions.
  std::optional<NumaBinding> binding;
  int workers_per_instance = 0;
};

// Life: Prepare, Connect, Start, Collect, End, each of which may block, on one
// thread; End and destruction are allowed at any point. Stop() and
// TakeProgress() are for any thread at any time.
class HostedTest {
 public:
  // Called once after Start() succeeded, when all instances have ended their
  // traffic: an error says that they had to; then their final totals. Called
  // again, with an error, if what serves the traffic of other nodes is
  // interrupted after that. On any thread, within Start() too; must not call
  // the test.
  using FinishedHandler = std::function<void(const absl::Status& status,
                                             const TrafficProgress& totals)>;

  HostedTest(PrepareTest request, const NodeEnvironment& environment,
             FinishedHandler on_finished);
  ~HostedTest();

  HostedTest(const HostedTest&) = delete;
  HostedTest& operator=(const HostedTest&) = delete;

  PrepareReply Prepare();
  CommandStatus Connect(const ConnectPeers& request);
  StartReply Start(const StartTraffic& request) ABSL_LOCKS_EXCLUDED(mutex_);

  // Shuts the instances down and emits what they measured.
  CollectReply Collect(absl::FunctionRef<void(ResultChunk chunk)> emit);

  // Shuts the instances down and frees what they have. So does the destructor.
  void End();

  // Ends the traffic; what has not begun yet fails with the reason.
  void Stop(absl::string_view reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // The same, for a reason of this node's, which is an error: the traffic
  // finishes with it. The first one counts.
  void Interrupt(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the traffic if nobody has, and it should have ended long ago.
  void StopIfOverdue();

  // Ends the traffic if the node manager and its engines exceed what the test or the host allows.
  void StopIfOverloaded();

  // To be called once a second while the test is active, by the thread of the
  // steps: looks at how busy the host is.
  void SampleResources();

  // Whether traffic of this node's goes on.
  bool is_running() const { return running_instances_ > 0; }

  // Whether traffic of this node's or of others may go on: from Start() to
  // Collect() or End().
  bool is_active() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return is_started_ && !engines_.empty();
  }

  // Sum over the instances; of what was measured lately, what came since the
  // last call.
  TrafficProgress TakeProgress() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Engines = std::vector<std::unique_ptr<HostedEngine>>;

  absl::Status CheckClockOffset() const;
  absl::Status MakePlan();
  absl::Status PrepareInstances(PrepareReply& reply)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status PrepareInstance(const std::string& name, int instance,
                               PrepareReply& reply) ABSL_LOCKS_EXCLUDED(mutex_);
  int WorkerCount(const InstancePlan& instance) const;
  bool HasSpareCpu(const InstancePlan& instance) const;
  int CpuShare(const InstancePlan& instance) const;
  std::set<std::string> PeerNames() const;
  std::string ServiceAddress(const DriverOptions& options) const;
  absl::Status CheckNeededSockets() const;
  ConnectingInstance Connecting(int index) const;
  absl::Status ConnectEngine(HostedEngine& engine, const ConnectPeers& request,
                             absl::Time deadline);
  // Adds what the peers are called at whose addresses the error is.
  absl::Status NamePeers(const absl::Status& error, const HostedEngine& engine,
                         const std::vector<std::string>& addresses) const;

  // An error if the test was stopped.
  absl::Status CheckNotStopped() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckRoom(int instance) const;
  absl::Status CheckThreadCount(int64_t more = 0) const;
  absl::Status CheckEngineThreads() const;
  absl::Status CheckMemory() const;

  // The engines' own processes; none if they run in this one.
  std::set<pid_t> EngineProcesses() const;
  int64_t EngineBytes() const;
  RUsage Usage() const;
  void OnEngineFinished() ABSL_LOCKS_EXCLUDED(mutex_);
  Engines TakeEngines() ABSL_LOCKS_EXCLUDED(mutex_);

  const PrepareTest request_;
  const NodeEnvironment& environment_;
  const FinishedHandler on_finished_;
  const ShiftedClock clock_;
  std::shared_ptr<const Plan> plan_;
  std::optional<MemoryLimit> memory_limit_;
  RUsage usage_at_start_;
  ResourceSampler resources_;
  std::optional<InstanceBindings> bindings_;  // absent until Prepare()
  int64_t stop_deadline_ns_ = 0;  // monotonic
  std::atomic<int> running_instances_ = 0;

  mutable absl::Mutex mutex_;
  // Changed by the thread of the steps, which reads it without the mutex.
  Engines engines_;
  bool is_started_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::string stop_reason_ ABSL_GUARDED_BY(mutex_);  // empty: not stopped
  absl::Status interruption_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_HOSTED_TEST_H_
