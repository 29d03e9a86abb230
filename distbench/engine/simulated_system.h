#ifndef DISTBENCH_ENGINE_SIMULATED_SYSTEM_H_
#define DISTBENCH_ENGINE_SIMULATED_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/fake_clock.h"
#include "distbench/config/plan.h"
#include "distbench/engine/engine.h"
#include "proto/results.pb.h"

namespace distbench {

// All instances of a test in one thread, over the loopback driver, on a clock
// that jumps to the next due time: tests of traffic that take no time.
class SimulatedSystem {
 public:
  // config: a DistributedSystemDescription as text. Dies if it is not valid.
  explicit SimulatedSystem(absl::string_view config, int workers = 1);
  SimulatedSystem(const DistributedSystemDescription& test, int workers);
  ~SimulatedSystem();

  // Runs until all main lists have ended. Returns false if that takes longer
  // than limit_ns of simulated time, or if nothing is due any more.
  bool Run(int64_t limit_ns = 3'600'000'000'000);

  // Runs until that much simulated time has passed or all main lists have
  // ended.
  void RunFor(int64_t duration_ns);

  // Shuts all engines down and returns their logs.
  ServiceLogs Finish();

  const Plan& plan() const { return *plan_; }
  FakeClock& clock() { return clock_; }
  Engine& engine(absl::string_view instance);
  int64_t start_ns() const { return start_ns_; }
  bool finished() const { return unfinished_ == 0; }
  const std::vector<absl::Status>& overloads() const { return overloads_; }

 private:
  void Connect();
  void RunUntilIdle();

  FakeClock clock_;
  std::shared_ptr<const Plan> plan_;
  std::vector<std::unique_ptr<Engine>> engines_;  // by Plan::instances
  std::vector<absl::Status> overloads_;
  int unfinished_ = 0;
  int64_t start_ns_ = 0;
};

// The statistics of one RPC between two instances; empty if there were none.
RpcStatistics StatisticsOf(const ServiceLogs& logs, const std::string& client,
                           const std::string& server, int rpc_index = 0);

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_SIMULATED_SYSTEM_H_
