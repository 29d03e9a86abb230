// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Makes the engines of a node's service instances: in processes of their own,
// in the node's own process (test_preview), or fake ones for tests.

#ifndef DISTBENCH_HOSTING_ENGINE_FACTORY_H_
#define DISTBENCH_HOSTING_ENGINE_FACTORY_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/engine/engine.h"
#include "distbench/numa/binding.h"
#include "distbench/protocol/driver_environment.h"
#include "distbench/security/test_guards.h"
#include "distbench/stats/interval_series.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::hosting {

// The limits of each engine process; 0: the same limits as its node manager.
struct EngineLimits {
  // Open files: the process's RLIMIT_NOFILE.
  int64_t max_files = 0;

  // Threads, including those of libraries. The kernel has no such limit per
  // process (RLIMIT_NPROC counts all threads of a user), so the host of the
  // engines counts them before it makes an engine and while traffic runs.
  int64_t max_threads = 0;
};

// Stands for the calling process.
inline constexpr pid_t kThisProcess = 0;

// One service instance. Methods, their order and their thread rules are those
// of Engine (engine/engine.h), except where explained here.
class HostedEngine {
 public:
  virtual ~HostedEngine() = default;

  // The process that the engine runs in, or kThisProcess. Engines of one test
  // may share a process.
  virtual pid_t pid() const { return kThisProcess; }

  virtual const std::string& address() const = 0;
  virtual const std::vector<int>& peers() const = 0;
  virtual absl::Status Connect(const std::vector<std::string>& addresses,
                               absl::Time deadline) = 0;
  virtual void Start(int64_t start_ns) = 0;
  virtual void Stop(absl::string_view reason) = 0;

  // May be up to a second old until the traffic has finished.
  virtual TrafficProgress progress() const = 0;
  virtual void TakeRecent(stats::SeriesByRpc& recent) = 0;
  virtual void Shutdown() = 0;

  // Returns an error if the engine was lost. It then emits what is left, with
  // the time until which that was measured.
  virtual absl::Status Collect(
      absl::FunctionRef<void(ResultChunk chunk)> emit) = 0;

  // The resource usage of the engine's own process over its life. Absent if the
  // engine has none, and before Collect().
  virtual std::optional<RUsage> process_usage() const { return std::nullopt; }
};

// The input for making an engine.
struct EngineRequest {
  // Checked and canonical; options.plan is this test, compiled. Must outlive
  // Make() only.
  const DistributedSystemDescription& test;

  // options.on_overload is also called if the engine's process is lost, with an
  // error that names the process and the reason. on_traffic_finished follows.
  engine::EngineOptions options;

  // The environment of the driver, except for what the plan specifies.
  protocol::DriverEnvironment environment;

  // What the instance may do at most.
  security::InstanceLimits limits = {};

  // How far the host's Unix time is ahead of options.clock.
  int64_t clock_offset_ns = 0;

  // The binding of the instance, if any. The thread that calls Make() and
  // Connect() has the same binding.
  std::optional<numa::ResolvedBinding> binding = {};

  // A descriptor of the folder of the control group (version 2) in which the
  // engine's process starts; negative for that of this process. An engine that
  // runs in an existing process ignores it. Must outlive Make() only.
  int group = -1;
};

class EngineFactory {
 public:
  virtual ~EngineFactory() = default;

  // Whether engines run in this process, which makes their measurements
  // unreliable.
  virtual bool disturbs_engines() const { return false; }

  // The limits of each engine's process.
  virtual EngineLimits limits() const { return {}; }

  // The programs besides this one that can host engines, by whose names tests
  // ask for them.
  virtual std::vector<EngineProgram> programs() const { return {}; }

  // Announces that `count` engines with neither a binding nor a group will be
  // made soon; 0: no more of the expected ones will be.
  virtual void Expect(int /*count*/) {}

  // Makes an engine; returns when its driver listens.
  virtual absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineRequest request) = 0;

  // Waits until the processes of destroyed engines have ended, up to
  // `patience`.
  virtual void AwaitEnds(absl::Duration /*patience*/) {}
};

// Engines that run in this process.

// The factory of engines that run in this process. Never destroyed;
// thread-safe.
EngineFactory& InProcessEngines();

// Runs a test of one RPC over gRPC within this process and discards its
// results: what an engine needs the first time (code that is loaded, threads
// that libraries start) is then ready for the real one. Takes some 30 ms.
absl::Status WarmUp(EngineFactory& engines);

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_ENGINE_FACTORY_H_
