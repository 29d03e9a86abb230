#include "distbench/products/simulation/calibration/known_errors.h"

#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kClosedLoop[] = R"(
    protocol_driver_options {
      name: "default_protocol_driver_options" protocol_name: "tcp" }
    services { name: "a" count: 1 }
    action_lists { name: "a" action_names: "loop" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: 5 } })";

std::vector<std::string> Errors(const std::string& test, int hosts,
                                const std::string& measured) {
  return KnownErrors(base::FromText<DistributedSystemDescription>(test), hosts,
                     base::FromText<ValidationErrors>(measured));
}

constexpr char kFarOff[] = R"(
    kinds { driver: "tcp" several_hosts: false open_loops: false rpcs: 7
            rate { least: -0.05 most: 3.154 } p50 { least: -0.2 most: 0.2 }
            p99 { least: -0.31 most: 0.1 } })";

TEST(KnownErrorsTest, SayWhatWasFurtherOffThanAimedAt) {
  EXPECT_THAT(Errors(kClosedLoop, 1, kFarOff),
              ElementsAre("closed loops with tcp on one host: rates by -5 to "
                          "+315 %, 99th percentiles by -31 to +10 % (7 RPCs)"));
}

TEST(KnownErrorsTest, WithinTheAimsThereIsNothingToSay) {
  EXPECT_THAT(Errors(kClosedLoop, 1, R"(
    kinds { driver: "tcp" several_hosts: false open_loops: false rpcs: 7
            rate { least: -0.1 most: 0.1 } p50 { least: -0.2 most: 0.2 }
            p99 { least: -0.3 most: 0.3 } })"),
              IsEmpty());
}

TEST(KnownErrorsTest, OtherKindsDoNotCount) {
  EXPECT_THAT(Errors(kClosedLoop, 2, kFarOff), IsEmpty());
  std::string open = kClosedLoop;
  open.insert(open.rfind("} }"), " open_loop_interval_ns: 1000 ");
  EXPECT_THAT(Errors(open, 1, kFarOff), IsEmpty());
  std::string grpc = kClosedLoop;
  grpc.replace(grpc.find("tcp"), 3, "grpc");
  EXPECT_THAT(Errors(grpc, 1, kFarOff), IsEmpty());
}

// What the program contains.
TEST(KnownErrorsTest, BothDriversWereCompared) {
  for (const std::string driver : {"grpc", "tcp"}) {
    int kinds = 0;
    for (const auto& kind : MeasuredErrors().kinds()) {
      if (kind.driver() != driver) continue;
      ++kinds;
      EXPECT_GT(kind.rpcs(), 0);
      EXPECT_LE(kind.p50().least(), kind.p50().most());
      EXPECT_TRUE(kind.has_rate() && kind.has_p99());
    }
    EXPECT_EQ(kinds, 4) << driver;  // one and several hosts, both loops
  }
}

}  // namespace
}  // namespace distbench::simulation
