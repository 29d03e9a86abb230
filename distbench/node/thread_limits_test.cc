#include "distbench/node/thread_limits.h"

#include <string>
#include <thread>

#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kTest[] = R"(
  tests {
    services { name: "client" count: 1 protocol_driver_options_name: "pool" }
    services { name: "server" count: 1 }
    default_protocol: "grpc"
    protocol_driver_options {
      name: "pool"
      protocol_name: "grpc"
      server_settings { name: "server_type" string_value: "polling" }
      server_settings { name: "threadpool_size" int64_value: 13 }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    actions { name: "run" rpc_name: "query" }
    actions { name: "own" activity_config_name: "own" }
    actions { name: "common" activity_config_name: "common" }
    actions { name: "wait" activity_config_name: "wait" }
    activity_configs {
      name: "own" pool_name: "pool"
      activity_settings { name: "activity_func" string_value: "SpinFor" }
      activity_settings { name: "duration_us" int64_value: 1 }
    }
    activity_configs {
      name: "common"
      activity_settings { name: "activity_func" string_value: "SpinFor" }
      activity_settings { name: "duration_us" int64_value: 1 }
    }
    activity_configs {
      name: "wait" pool_name: "places"
      activity_settings { name: "activity_func" string_value: "SleepFor" }
      activity_settings { name: "duration_us" int64_value: 1 }
    }
    activity_pools { name: "pool" size: 7 }
    activity_pools { name: "places" size: 100 }
    action_lists { name: "client" action_names: "run" }
    action_lists {
      name: "query"
      action_names: "own" action_names: "common" action_names: "wait"
    }
  })";

TEST(ThreadNeedsTest, AreWorkersAndPools) {
  TestSequence sequence;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kTest, &sequence));
  const auto checked = CheckTestSequence(sequence);
  ASSERT_TRUE(checked.ok()) << checked.status();
  const Plan plan = Compile(checked->tests(0));
  const ThreadNeeds client = CountThreads(plan, /*instance=*/0, 3);
  EXPECT_EQ(client.workers, 3);
  EXPECT_EQ(client.activities, 0);
  EXPECT_EQ(client.handlers, 13);
  EXPECT_EQ(client.total(), 16);
  // One pool has 7 threads, the other one thread per worker.
  const ThreadNeeds server = CountThreads(plan, /*instance=*/1, 3);
  EXPECT_EQ(server.activities, 7 + 3);
  EXPECT_EQ(server.handlers, 0);
}

constexpr ThreadNeeds kNeeds = {.workers = 20, .activities = 5, .handlers = 1};

TEST(ThreadLimitsTest, EnoughIsEnough) {
  const int64_t needed = 26 + OtherThreadsOfEngine();
  EXPECT_EQ(CheckThreads(kNeeds, {.left = needed}, needed), absl::OkStatus());
  EXPECT_EQ(CheckThreads(kNeeds, {}, 0), absl::OkStatus());
  EXPECT_EQ(CheckThreadsOfEngine(7, 7), absl::OkStatus());
  EXPECT_EQ(CheckThreadsOfEngine(7, 0), absl::OkStatus());
}

TEST(ThreadLimitsTest, TheHostsAreNamed) {
  const int64_t needed = 26 + OtherThreadsOfEngine();
  const absl::Status status = CheckThreads(
      kNeeds, {.left = needed - 1, .limit = "its group allows 64"}, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("20 workers, 5 for activities, 1 for requests"),
            HasSubstr("its group allows 64"), HasSubstr("raise that limit")));
}

TEST(ThreadLimitsTest, SoIsTheNodeManagers) {
  const int64_t needed = 26 + OtherThreadsOfEngine();
  const absl::Status foreseen = CheckThreads(kNeeds, {}, needed - 1);
  EXPECT_TRUE(absl::IsResourceExhausted(foreseen));
  EXPECT_THAT(std::string(foreseen.message()),
              HasSubstr("--engine_max_threads"));
  const absl::Status seen = CheckThreadsOfEngine(8, 7);
  EXPECT_TRUE(absl::IsResourceExhausted(seen));
  EXPECT_THAT(std::string(seen.message()),
              AllOf(HasSubstr("has 8 threads"),
                    HasSubstr("--engine_max_threads is 7")));
}

}  // namespace
}  // namespace distbench
