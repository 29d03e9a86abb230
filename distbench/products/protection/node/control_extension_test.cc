// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/node/control_extension.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/node/test_part.h"
#include "distbench/node/testing/test_part_fixture.h"
#include "distbench/products/protection/node/testing/fake_control_host.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kFailedPrecondition =
    static_cast<int>(absl::StatusCode::kFailedPrecondition);

// A node whose host has control groups that the test can look at.
class TestPartControlsTest : public node::TestPartFixture {
 protected:
  TestPartControlsTest() { host_.AddTo(environment_); }

  // The test needs the host for the way back.
  ~TestPartControlsTest() override { test_ = nullptr; }

  void SetControls(const std::string& controls) {
    DistributedSystemDescription& test =
        *request_.mutable_config()->mutable_traffic_config();
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        controls, test.mutable_controls()));
  }

  void RunTraffic() {
    ASSERT_EQ(test_->Connect(Peers()).code(), 0);
    ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
    finished_.WaitForNotification();
  }

  CollectReply Collect() {
    return test_->Collect([](ResultChunk) {});
  }

  std::string Snapshot() { return host_.hierarchy().Snapshot(); }

  FakeControlHost host_;
};

TEST_F(TestPartControlsTest, WithoutControlsNothingIsTouched) {
  const std::string before = Snapshot();
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  EXPECT_EQ(Snapshot(), before);
  EXPECT_EQ(engines_.group("client/0"), -1);
  RunTraffic();
  EXPECT_THAT(Collect().node_resources().controls(), SizeIs(0));
}

TEST_F(TestPartControlsTest, ASetOfNothingIsNone) {
  const std::string before = Snapshot();
  SetControls("name: 'none'");
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  EXPECT_EQ(Snapshot(), before);
  EXPECT_EQ(engines_.group("client/0"), -1);
}

TEST_F(TestPartControlsTest, EachInstanceStartsInAGroupOfItsOwn) {
  SetControls("groups { services: 'client' cpu_weight: 50 }");
  const PrepareReply reply = Make().Prepare();
  ASSERT_EQ(reply.status().code(), 0) << reply.status().message();
  EXPECT_GE(engines_.group("client/0"), 0);
  EXPECT_GE(engines_.group("client/1"), 0);
  EXPECT_NE(engines_.group("client/0"), engines_.group("client/1"));
}

TEST_F(TestPartControlsTest, SettingsAreProvedAndUndone) {
  const std::string before = Snapshot();
  SetControls("groups { services: 'client' cpu_weight: 50 }");
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  EXPECT_NE(Snapshot(), before);
  RunTraffic();
  const CollectReply reply = Collect();
  ASSERT_THAT(reply.node_resources().controls(), SizeIs(1));
  const ControlProof& proof = reply.node_resources().controls(0);
  EXPECT_EQ(proof.file(), "cpu.weight");
  EXPECT_TRUE(proof.held()) << proof.problem();
  EXPECT_EQ(proof.after(), "removed");
  EXPECT_THAT(reply.findings(), SizeIs(0));
  EXPECT_EQ(Snapshot(), before);
}

TEST_F(TestPartControlsTest, SamplesSayWhatGroupsUsed) {
  SetControls("groups { services: 'client' cpu_weight: 50 }");
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  RunTraffic();
  clock_.Advance(1'000'000'000);
  test_->SampleResources();
  const CollectReply reply = Collect();
  ASSERT_THAT(reply.node_resources().samples(), SizeIs(1));
  const auto& groups = reply.node_resources().samples(0).groups();
  EXPECT_TRUE(groups.contains("client/1"));
  EXPECT_TRUE(groups.contains("")) << "all of the node's groups";
}

TEST_F(TestPartControlsTest, AnEndInTheMiddleUndoesThemToo) {
  const std::string before = Snapshot();
  SetControls("groups { services: 'client' memory_high: '64MiB' }");
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  test_->Stop("cancelled");
  test_->End();
  EXPECT_EQ(Snapshot(), before);
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  test_ = nullptr;  // as when the session ends
  EXPECT_EQ(Snapshot(), before);
}

TEST_F(TestPartControlsTest, AnEngineThatCannotBeMadeLeavesNothing) {
  const std::string before = Snapshot();
  SetControls("groups { services: 'client' cpu_weight: 50 }");
  engines_.FailAt("client/1", hosting::EngineStep::kMake,
                  absl::UnavailableError("no ports left"));
  EXPECT_NE(Make().Prepare().status().code(), 0);
  test_->End();
  EXPECT_EQ(Snapshot(), before);
}

TEST_F(TestPartControlsTest, AStrictControlThatIsImpossibleIsAnErrorBefore) {
  const std::string before = Snapshot();
  SetControls(
      "groups { services: 'client' cpu_weight: 50 "
      "io_max { device: 'nodisk' read_bytes: '1MB' } }");
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(), kFailedPrecondition);
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("io.max"), HasSubstr("nodisk")));
  EXPECT_EQ(engines_.Count("client/0", hosting::EngineStep::kMake), 0);
  EXPECT_EQ(Snapshot(), before);
}

TEST_F(TestPartControlsTest, OtherwiseItsProofSaysThatItDidNotHold) {
  SetControls(
      "strict: false groups { services: 'client' cpu_weight: 50 "
      "io_max { device: 'nodisk' read_bytes: '1MB' } }");
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  EXPECT_GE(engines_.group("client/0"), 0);
  RunTraffic();
  const CollectReply reply = Collect();
  ASSERT_THAT(reply.node_resources().controls(), SizeIs(2));
  EXPECT_TRUE(reply.node_resources().controls(0).held());
  EXPECT_FALSE(reply.node_resources().controls(1).held());
}

TEST_F(TestPartControlsTest, AHostWithoutControlGroupsIsNamed) {
  environment_.system_root = testing::TempDir() + "/no_such_host";
  SetControls("groups { services: 'client' cpu_weight: 50 }");
  const PrepareReply strict = Make().Prepare();
  EXPECT_EQ(strict.status().code(), kFailedPrecondition);
  EXPECT_THAT(strict.status().message(),
              AllOf(HasSubstr("cpu.weight"), HasSubstr("control groups")));
  request_.mutable_config()
      ->mutable_traffic_config()
      ->mutable_controls()
      ->set_strict(false);
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  EXPECT_EQ(engines_.group("client/0"), -1);
  RunTraffic();
  const CollectReply reply = Collect();
  ASSERT_THAT(reply.node_resources().controls(), SizeIs(1));
  EXPECT_FALSE(reply.node_resources().controls(0).held());
}

TEST_F(TestPartControlsTest, InstancesThatShareAProcessShareAGroup) {
  DistributedSystemDescription& test =
      *request_.mutable_config()->mutable_traffic_config();
  test.set_default_protocol("loopback");
  SetControls("groups { services: '*' cpu_weight: 50 }");
  const PrepareReply reply = Make().Prepare();
  ASSERT_EQ(reply.status().code(), 0) << reply.status().message();
  EXPECT_GE(engines_.group("client/0"), 0) << "the one that starts it";
  EXPECT_EQ(engines_.group("client/1"), -1);
}

TEST_F(TestPartControlsTest, NamesThatTheTestDoesNotHaveMakeNoGroups) {
  const std::string before = Snapshot();
  SetControls("groups { services: 'client' cpu_weight: 50 }");
  request_.mutable_config()->add_services("../../elsewhere");
  const PrepareReply reply = Make().Prepare();
  EXPECT_THAT(reply.status().message(), HasSubstr("no such instance"));
  test_->End();
  EXPECT_EQ(Snapshot(), before);
}

// ---- Engines that run in the node manager's process -------------------------

TEST(ControlExtensionTest, OneProcessCannotBeInSeveralGroups) {
  const node::NodeSite site = {.has_engine_processes = false};
  DistributedSystemDescription test;
  ControlGroup& group = *test.mutable_controls()->add_groups();
  group.add_services("client");
  group.set_cpu_weight(50);
  const absl::Status refused =
      ControlExtension().TestBegins(site, test, {"client/0"}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("run in the process of their node manager"));
  test.mutable_controls()->set_strict(false);
  const auto lenient = ControlExtension().TestBegins(site, test, {"client/0"});
  ASSERT_TRUE(lenient.ok()) << lenient.status();
  NodeResources resources;
  (*lenient)->AddResults(resources);
  ASSERT_THAT(resources.controls(), SizeIs(1));
  EXPECT_EQ(resources.controls(0).group(), "client/0");
  EXPECT_FALSE(resources.controls(0).held());
}

TEST(ControlExtensionTest, FactsSayWhyThereAreNoControlGroups) {
  HostFacts facts;
  ControlExtension().AddFacts(testing::TempDir() + "/no_such_host", facts);
  ASSERT_TRUE(facts.has_control_groups());
  EXPECT_EQ(facts.control_groups().version(), 0);
  EXPECT_NE(facts.control_groups().problem(), "");
  EXPECT_TRUE(facts.control_groups().controllers().empty());
}

// ---- What a host lacks, by its facts ----------------------------------------

class ControlLacksTest : public TestPartControlsTest {
 protected:
  std::vector<node::HostLack> Lacks(const HostFacts& facts) {
    return ControlExtension().FindLacks(
        facts, request_.config().traffic_config(), {"client/0", "client/1"});
  }
};

HostFacts Version1() {
  HostFacts facts;
  facts.mutable_control_groups()->set_version(1);
  facts.mutable_control_groups()->set_problem(
      "this host has version 1 of them");
  return facts;
}

TEST_F(ControlLacksTest, WithoutControlsAHostLacksNothing) {
  EXPECT_THAT(Lacks(Version1()), SizeIs(0));
}

TEST_F(ControlLacksTest, AHostWithoutGroupsRefusesWhatIsStrict) {
  SetControls("strict: true groups { services: 'client' cpu_weight: 50 }");
  const auto lacks = Lacks(Version1());
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_TRUE(lacks[0].is_refusal);
  EXPECT_THAT(lacks[0].message,
              AllOf(HasSubstr("controls cannot be set"),
                    HasSubstr("cpu.weight = \"50\" for client/0, client/1"),
                    HasSubstr("version 1 of them")));
}

TEST_F(ControlLacksTest, WhatIsNotStrictRunsWithoutThem) {
  SetControls("strict: false groups { services: 'client' cpu_weight: 50 }");
  const auto lacks = Lacks(Version1());
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_FALSE(lacks[0].is_refusal);
}

TEST_F(ControlLacksTest, AControllerThatIsNotDelegatedIsNamed) {
  SetControls(
      "strict: true groups { services: 'client' cpu_weight: 50 "
      "memory_low: '1MB' }");
  HostFacts facts;
  facts.mutable_control_groups()->set_version(2);
  facts.mutable_control_groups()->set_delegated_path("/x");
  facts.mutable_control_groups()->add_controllers("cpu");
  const auto lacks = Lacks(facts);
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_THAT(lacks[0].message,
              HasSubstr("the controller memory is not passed on to the group "
                        "of the node manager, /x, which has cpu"));
  facts.mutable_control_groups()->add_controllers("memory");
  EXPECT_THAT(Lacks(facts), SizeIs(0));
}

TEST_F(ControlLacksTest, AHostWithoutIoCostIsNamed) {
  SetControls(
      "strict: true groups { everything_else: true cpu_weight: 50 } "
      "io_cost { device: 'nvme0n1' enable: true }");
  HostFacts facts;
  facts.mutable_control_groups()->set_version(2);
  facts.mutable_control_groups()->set_delegated_path("/x");
  const auto lacks = Lacks(facts);
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_THAT(
      lacks[0].message,
      AllOf(HasSubstr("io.cost.qos = \"nvme0n1 enable=1\" for /"),
            HasSubstr("io.cost of no block device"), Not(HasSubstr("cpu"))));
  facts.mutable_control_groups()->add_io_cost_devices("sda");
  EXPECT_THAT(Lacks(facts), SizeIs(0));
}

// The words are those with which the node itself refuses the test.
TEST_F(ControlLacksTest, TheHostSaysTheSameOfItself) {
  SetControls("strict: true groups { services: 'client' cpu_weight: 50 }");
  host_.hierarchy().Write(
      "/proc/self/mountinfo",
      "25 1 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  HostFacts facts;
  facts.set_cpu_count(1);
  for (const auto& [name, extension] : environment_.extensions) {
    extension->AddFacts(environment_.system_root, facts);
  }
  const auto lacks = Lacks(facts);
  ASSERT_THAT(lacks, SizeIs(1));
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().message(), lacks[0].message);
}

TEST_F(ControlLacksTest, WhatAHostDoesNotSayIsNotMissed) {
  SetControls("strict: true groups { services: 'client' cpu_weight: 50 }");
  EXPECT_THAT(Lacks(HostFacts()), SizeIs(0));
}

}  // namespace
}  // namespace distbench::protection
