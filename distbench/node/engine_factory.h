// How a node makes the engines of its service instances: for real, or for
// tests.

#ifndef DISTBENCH_NODE_ENGINE_FACTORY_H_
#define DISTBENCH_NODE_ENGINE_FACTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/engine/engine.h"
#include "distbench/protocol/driver_environment.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench {

// One service instance. Its methods, their order and their threads are those of
// Engine (engine/engine.h).
class HostedEngine {
 public:
  virtual ~HostedEngine() = default;
  virtual const std::string& address() const = 0;
  virtual const std::vector<int>& peers() const = 0;
  virtual absl::Status Connect(const std::vector<std::string>& addresses,
                               absl::Time deadline) = 0;
  virtual void Start(int64_t start_ns) = 0;
  virtual void Stop(absl::string_view reason) = 0;
  virtual EngineProgress progress() const = 0;
  virtual void TakeRecentTimes(LogHistogram& service_time_ns,
                               LogHistogram& response_time_ns) = 0;
  virtual void Shutdown() = 0;
  virtual void Collect(absl::FunctionRef<void(ResultChunk chunk)> emit) = 0;
};

class EngineFactory {
 public:
  virtual ~EngineFactory() = default;

  // Makes the engine, with the driver of its service, which listens when this
  // returns. `environment`: of the driver, but for what the plan says.
  virtual absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineOptions options, DriverEnvironment environment) = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_ENGINE_FACTORY_H_
