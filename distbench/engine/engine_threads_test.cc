// Engines on a system that cannot provide enough threads.

#include <memory>
#include <utility>

#include "distbench/base/testing/scarce_memory.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/rpc_logs.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::HasSubstr;

constexpr char kComputeConfig[] = R"pb(
  services { name: "lonely" count: 1 }
  default_protocol: "loopback"
  action_lists { name: "lonely" action_names: "work" }
  actions { name: "work" activity_config_name: "compute" }
  activity_configs {
    name: "compute"
    pool_name: "pool"
    activity_settings { name: "activity_func" string_value: "SpinFor" }
    activity_settings { name: "duration_us" int64_value: 1 }
  }
  activity_pools { name: "pool" size: 2 }
)pb";

// Creates an engine when the system can provide only `threads` more threads.
absl::Status Create(int threads, int workers) {
  TestSequence sequence;
  *sequence.add_tests() = ParseTest(kComputeConfig);
  const auto checked = config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  EngineOptions options;
  options.plan =
      std::make_shared<const config::Plan>(config::Compile(checked->tests(0)));
  options.worker_count = workers;
  const base::ScarceThreads scarce(threads);
  return Engine::Create(std::move(options), protocol::MakeLoopbackDriver())
      .status();
}

TEST(EngineThreadsTest, AllCanBeStarted) {
  const absl::Status status = Create(4, 2);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(EngineThreadsTest, TooFewForActivitiesAreAnError) {
  for (const int threads : {0, 1}) {
    const absl::Status status = Create(threads, 2);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.ToString(), HasSubstr("a thread for activities"));
  }
}

TEST(EngineThreadsTest, TooFewForWorkersAreAnError) {
  for (const int threads : {2, 3}) {
    const absl::Status status = Create(threads, 2);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.ToString(), HasSubstr("a thread for workers"));
  }
}

}  // namespace
}  // namespace distbench::engine
