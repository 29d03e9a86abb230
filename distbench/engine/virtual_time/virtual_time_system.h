// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_VIRTUAL_TIME_VIRTUAL_TIME_SYSTEM_H_
#define DISTBENCH_ENGINE_VIRTUAL_TIME_VIRTUAL_TIME_SYSTEM_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/engine.h"
#include "distbench/protocol/driver.h"
#include "proto/results.pb.h"

namespace distbench::engine {

struct VirtualTimeOptions {
  int workers = 1;  // per instance

  // For each instance; see EngineOptions.
  int64_t sample_memory_bytes = EngineOptions().sample_memory_bytes;

  // The name of an instance that is connected, but that the caller starts, at
  // start_ns() or later. Empty: none.
  std::string late_instance = {};

  // Virtual time that each busy turn takes. 0: almost none.
  int64_t turn_ns = 0;

  // Run() gives up after this many turns of all instances.
  int64_t max_turns = std::numeric_limits<int64_t>::max();

  // Wraps the driver of an engine.
  std::function<std::unique_ptr<protocol::ProtocolDriver>(
      int instance, std::unique_ptr<protocol::ProtocolDriver> driver)>
      wrap_driver = [](int /*instance*/,
                       std::unique_ptr<protocol::ProtocolDriver> driver) {
        return driver;
      };

  // The monotonic time of the next event that the engines do not know about.
  std::function<int64_t()> next_due_ns = [] {
    return std::numeric_limits<int64_t>::max();
  };
};

// Parses a DistributedSystemDescription; dies if the text is invalid.
DistributedSystemDescription ParseTest(absl::string_view config);

// Runs all instances of a test in one thread, over the loopback driver inside
// the decorators of their services, on a clock that jumps to the next due time.
// Traffic then takes no real time.
class VirtualTimeSystem {
 public:
  // Dies if the test is invalid.
  explicit VirtualTimeSystem(absl::string_view config, int workers = 1);
  VirtualTimeSystem(const DistributedSystemDescription& test, int workers);
  VirtualTimeSystem(const DistributedSystemDescription& test,
                    VirtualTimeOptions options);
  ~VirtualTimeSystem();

  // Freezes the instance from start_ns to end_ns (monotonic), like a host that
  // stalls. Call this before Run() or between two runs; one freeze at a time.
  void FreezeBetween(absl::string_view instance, int64_t start_ns,
                     int64_t end_ns);

  // Runs until all main lists have ended. Returns false if that takes longer
  // than limit_ns of virtual time or more turns than allowed, or if nothing
  // is due any more.
  bool Run(int64_t limit_ns = 3'600'000'000'000);

  // Runs until duration_ns of virtual time have passed or all main lists have
  // ended.
  void RunFor(int64_t duration_ns);

  // Stops the traffic of all instances.
  void StopAll(absl::string_view reason);

  // The number of turns that Run() may still take.
  int64_t turns_left() const { return turns_left_; }
  void AllowTurns(int64_t turns) { turns_left_ = turns; }

  // Shuts all engines down and returns their logs.
  ServiceLogs Finish();

  const config::Plan& plan() const { return *plan_; }
  base::ManualClock& clock() { return clock_; }
  Engine& engine(absl::string_view instance);
  int64_t start_ns() const { return start_ns_; }
  bool finished() const { return unfinished_ == 0; }
  const std::vector<absl::Status>& overloads() const { return overloads_; }

 private:
  struct Freeze {
    Engine* engine = nullptr;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };

  void Connect();
  bool IsFrozen(const Engine& engine) const;
  int64_t NextDueNs() const;
  void RunUntilIdle(int64_t end_ns);

  const VirtualTimeOptions options_;
  int64_t turns_left_;
  base::ManualClock clock_;
  std::shared_ptr<const config::Plan> plan_;
  std::vector<std::unique_ptr<Engine>> engines_;  // by Plan::instances
  std::vector<absl::Status> overloads_;
  Freeze freeze_;
  int unfinished_ = 0;
  int64_t start_ns_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_VIRTUAL_TIME_VIRTUAL_TIME_SYSTEM_H_
