// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The pattern of test_builder that calls external services.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"

namespace distbench::external {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The only test of a CONFIG, which passes all checks.
DistributedSystemDescription Build(const std::string& config) {
  test_builder::Notes notes;
  const auto tests =
      test_builder::BuildTests({.configs = {config}, .duration = "10"}, notes);
  EXPECT_TRUE(tests.ok()) << tests.status();
  if (!tests.ok() || tests->size() != 1) return {};
  const absl::Status status = test_builder::CheckTests(*tests, notes);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(notes.all(), IsEmpty());
  return tests->front();
}

TEST(ExternalPatternTest, CallsAnOpenLoop) {
  const auto test = Build(
      R"(external:target=[::1]:9000:method=example.Cache/Get:)"
      R"(request={"key": "{{random:1:9}}="}:qps=300:deadline_seconds=100ms)");
  const ExternalService& server = test.services(1).external();
  EXPECT_EQ(server.addresses(0), "[::1]:9000");
  EXPECT_FALSE(server.has_tls());
  const RpcSpec& rpc = test.rpc_descriptions(0);
  EXPECT_EQ(rpc.external_call().method(), "/example.Cache/Get");
  EXPECT_EQ(rpc.external_call().request_json(),
            R"({"key": "{{random:1:9}}="})");
  EXPECT_EQ(rpc.deadline(), "0.1s");
  const Iterations& iterations = test.actions(0).iterations();
  EXPECT_EQ(iterations.rate(), "300/s");
  EXPECT_EQ(iterations.open_loop_interval_distribution(), "exponential");
  EXPECT_EQ(iterations.warmup(), "3s");
  EXPECT_EQ(iterations.max_duration_us(), 10'000'000);
}

TEST(ExternalPatternTest, OrAClosedOne) {
  const auto test = Build("external:parallel_queries=4:client_count=2:tls=on");
  EXPECT_EQ(test.services(0).count(), 2);
  EXPECT_TRUE(test.services(1).external().has_tls());
  const Iterations& iterations = test.actions(0).iterations();
  EXPECT_EQ(iterations.max_parallel_iterations(), 4);
  EXPECT_FALSE(iterations.has_rate());
  EXPECT_FALSE(test.rpc_descriptions(0).has_deadline());
}

TEST(ExternalPatternTest, ArrivalsReplaceItsOwn) {
  const auto test = Build("external:arrivals=gamma:3");
  EXPECT_THAT(test.name(), HasSubstr("external_gamma_3_1x100"));
  const Iterations& iterations = test.actions(0).iterations();
  EXPECT_EQ(iterations.arrivals().process(), "gamma");
  EXPECT_FALSE(iterations.has_open_loop_interval_distribution());
}

}  // namespace
}  // namespace distbench::external
