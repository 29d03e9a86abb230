// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests which external services a cluster's tests may call.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/security/test_guards.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/control_plane/cluster.h"

namespace distbench::external {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

security::TestGuards Allow(const std::vector<std::string>& targets) {
  const auto guards = security::TestGuards::Make({{"--allow_target", targets}});
  EXPECT_TRUE(guards.ok()) << guards.status();
  return *guards;
}

sequencer::SequencerOptions SequencerThatAllows(
    const std::vector<std::string>& targets) {
  sequencer::SequencerOptions options;
  options.guards = Allow(targets);
  return options;
}

node::NodeManagerOptions NodeThatAllows(
    const std::vector<std::string>& targets) {
  node::NodeManagerOptions options;
  options.guards = Allow(targets);
  return options;
}

// Two clients call a server of the test, which calls a cache outside of it.
TestSequence TestThatCallsACache() {
  DistributedSystemDescription test = ClientServerTest("t", 2);
  ServiceSpec& cache = *test.add_services();
  cache.set_name("cache");
  cache.mutable_external()->add_addresses("cache:1");
  RpcSpec& get = *test.add_rpc_descriptions();
  get.set_name("get");
  get.add_client("server");
  get.set_server("cache");
  get.mutable_external_call()->set_method("/p.Cache/Get");
  (*get.mutable_external_call()->mutable_metadata())["token"] = "s3cret";
  return SequenceOf({test});
}

TEST(ExternalServicesTest, ATestIsRefusedAtItsSubmission) {
  Cluster cluster;
  for (int i = 0; i < 3; ++i) cluster.StartNode(NodeThatAllows({"cache:1"}));
  TestSequenceResults results;
  const absl::Status status = cluster.Run(TestThatCallsACache(), results);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(base::Message(status),
              AllOf(HasSubstr("cache:1"), HasSubstr("this test sequencer"),
                    HasSubstr("--allow_target=cache:1")));
  EXPECT_THAT(results.test_results(), SizeIs(0));
}

TEST(ExternalServicesTest, EachNodeDecidesForItself) {
  Cluster cluster(SequencerThatAllows({"cache:1"}));
  for (int i = 0; i < 3; ++i) cluster.StartNode();
  TestSequenceResults results;
  (void)cluster.Run(TestThatCallsACache(), results);
  ASSERT_THAT(results.test_results(), SizeIs(1));
  EXPECT_THAT(
      results.test_results(0).run_info().failure(),
      AllOf(HasSubstr("could not prepare"), HasSubstr("this node manager"),
            HasSubstr("--allow_target=cache:1")));
  EXPECT_THAT(results.test_results(0).SerializeAsString(),
              Not(HasSubstr("s3cret")));
}

TEST(ExternalServicesTest, ANodeDoesNotExceedItsOwnRate) {
  Cluster cluster(SequencerThatAllows({"cache:1"}));
  for (int i = 0; i < 3; ++i) cluster.StartNode(NodeThatAllows({"cache:1@5"}));
  TestSequenceResults results;
  (void)cluster.Run(TestThatCallsACache(), results);
  ASSERT_THAT(results.test_results(), SizeIs(1));
  EXPECT_THAT(results.test_results(0).run_info().failure(),
              AllOf(HasSubstr("this node allows 5 RPCs per second to cache:1"),
                    HasSubstr("no limit")));
}

// An address stands for itself, without any name server.
TestSequence TestThatCallsANamedCache() {
  TestSequence sequence = TestThatCallsACache();
  for (ServiceSpec& service : *sequence.mutable_tests(0)->mutable_services()) {
    if (!service.has_external()) continue;
    service.mutable_external()->set_addresses(0, "dns:///127.0.0.1:1");
  }
  return sequence;
}

TEST(ExternalServicesTest, EnginesLearnWhatNamesStandFor) {
  Cluster cluster(SequencerThatAllows({"127.0.0.0/8:1@50"}));
  for (int i = 0; i < 3; ++i) {
    cluster.StartNode(NodeThatAllows({"127.0.0.1:1@50"}));
  }
  TestSequenceResults results;
  const absl::Status status = cluster.Run(TestThatCallsANamedCache(), results);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_THAT(results.test_results(), SizeIs(1));
  const TestResult& result = results.test_results(0);
  EXPECT_EQ(result.run_info().failure(), "");
  EXPECT_THAT(cluster.engines().limits_of("server/0"),
              ElementsAre(Pair("dns:///127.0.0.1:1 127.0.0.1:1", 50)));
  std::vector<std::string> notes;
  for (const Finding& finding : result.run_info().findings()) {
    if (finding.code() == "external_addresses") {
      notes.push_back(finding.message());
    }
  }
  EXPECT_THAT(notes, ElementsAre(HasSubstr(
                         "cache: dns:///127.0.0.1:1 stood for 127.0.0.1:1 ")));
}

TEST(ExternalServicesTest, ATestWithANameForWhatIsNotAllowedDoesNotBegin) {
  Cluster cluster(SequencerThatAllows({"127.0.0.2:1"}));
  for (int i = 0; i < 3; ++i)
    cluster.StartNode(NodeThatAllows({"127.0.0.1:1"}));
  TestSequenceResults results;
  (void)cluster.Run(TestThatCallsANamedCache(), results);
  ASSERT_THAT(results.test_results(), SizeIs(1));
  EXPECT_THAT(results.test_results(0).run_info().failure(),
              AllOf(HasSubstr("this test sequencer"),
                    HasSubstr("--allow_target=127.0.0.1:1")));
}

TEST(ExternalServicesTest, ANodeDecidesAboutTheAddressesOfNames) {
  Cluster cluster(SequencerThatAllows({"127.0.0.1:1"}));
  for (int i = 0; i < 3; ++i)
    cluster.StartNode(NodeThatAllows({"127.0.0.2:1"}));
  TestSequenceResults results;
  (void)cluster.Run(TestThatCallsANamedCache(), results);
  ASSERT_THAT(results.test_results(), SizeIs(1));
  EXPECT_THAT(
      results.test_results(0).run_info().failure(),
      AllOf(HasSubstr("could not prepare"), HasSubstr("this node manager"),
            HasSubstr("--allow_target=127.0.0.1:1")));
}

TEST(ExternalServicesTest, AllowedOnesNeedNoNodeAndKeepNoSecrets) {
  Cluster cluster(SequencerThatAllows({"cache:1@50"}));
  for (int i = 0; i < 3; ++i) cluster.StartNode(NodeThatAllows({"cache:1@50"}));
  TestSequenceResults results;
  const absl::Status status = cluster.Run(TestThatCallsACache(), results);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_THAT(results.test_results(), SizeIs(1));
  const TestResult& result = results.test_results(0);
  EXPECT_EQ(result.run_info().failure(), "");
  EXPECT_THAT(result.placement().service_endpoints(), SizeIs(3));
  EXPECT_THAT(cluster.engines().limits_of("server/0"),
              ElementsAre(Pair("cache:1", 50)));
  EXPECT_THAT(result.SerializeAsString(), Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace distbench::external
