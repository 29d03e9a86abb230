// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/node_registry.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/protocol_versions.h"
#include "distbench/base/version.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NodeRegistryTest : public testing::Test {
 protected:
  // A valid registration of a new process.
  NodeRegistration Valid(int preassigned_id = -1) {
    NodeRegistration registration;
    registration.set_hostname("alpha");
    registration.set_version("1.0");
    registration.set_control_protocol(base::kControlProtocol);
    registration.set_control_port(9999);
    registration.set_preassigned_node_id(preassigned_id);
    registration.set_incarnation(++incarnation_);
    return registration;
  }

  absl::Status Register(
      const NodeRegistration& registration,
      std::shared_ptr<FakeNode> node = std::make_shared<FakeNode>("")) {
    return registry_.Register(registration, [&](const NodeConfig& config) {
      last_config_ = config;
      return node;
    });
  }

  std::string AliasFor(const NodeRegistration& registration) {
    const absl::Status status = Register(registration);
    return status.ok() ? last_config_.node_alias() : status.ToString();
  }

  absl::Status Error(const NodeRegistration& registration) {
    return Register(registration);
  }

  NodeRegistry registry_;
  NodeConfig last_config_;
  uint64_t incarnation_ = 0;
};

TEST_F(NodeRegistryTest, IsEmptyWhenNodesThatWereToldToEndHaveLeft) {
  const auto node = std::make_shared<FakeNode>("");
  ASSERT_EQ(Register(Valid(), node), absl::OkStatus());
  EXPECT_FALSE(registry_.AwaitEmpty(absl::ZeroDuration()));
  registry_.ShutDownNodes();
  EXPECT_EQ(node->CommandsOf(NodeCommand::kShutdown).size(), 1);
  EXPECT_TRUE(absl::IsUnavailable(Error(Valid())));
  std::thread leaving([&] { registry_.Remove(0, *node); });
  EXPECT_TRUE(registry_.AwaitEmpty(absl::Seconds(20)));
  leaving.join();
}

TEST_F(NodeRegistryTest, TellsItsListenerOfEachRegistration) {
  int count = 0;
  registry_.SetListener([&] { ++count; });
  const NodeRegistration first = Valid();
  ASSERT_EQ(Register(first), absl::OkStatus());
  ASSERT_EQ(Register(first), absl::OkStatus());  // it has come back
  EXPECT_EQ(count, 2);
  EXPECT_FALSE(Register(NodeRegistration()).ok());
  EXPECT_EQ(count, 2);
  registry_.SetListener(nullptr);
  ASSERT_EQ(Register(Valid()), absl::OkStatus());
  EXPECT_EQ(count, 2);
}

TEST_F(NodeRegistryTest, WaitsOnlyForNodesThatWereToldToEnd) {
  const auto node = std::make_shared<FakeNode>("");
  ASSERT_EQ(Register(Valid(), node), absl::OkStatus());
  // Would not return in time.
  EXPECT_FALSE(registry_.AwaitEmptyIfTold(absl::Hours(1)));
  registry_.ShutDownNodes();
  std::thread leaving([&] { registry_.Remove(0, *node); });
  EXPECT_TRUE(registry_.AwaitEmptyIfTold(absl::Seconds(20)));
  leaving.join();
}

TEST_F(NodeRegistryTest, NamesNodesInTheOrderInWhichTheyCome) {
  EXPECT_EQ(AliasFor(Valid()), "node0");
  EXPECT_EQ(AliasFor(Valid()), "node1");
}

// The limit is a flag of test_sequencer, and the size of a job.
TEST_F(NodeRegistryTest, RefusesMoreNodesThanAreExpected) {
  NodeRegistry of_one({.count = 1, .remedy = "be patient"});
  const auto make = [](const NodeConfig&) {
    return std::make_shared<FakeNode>("");
  };
  ASSERT_EQ(of_one.Register(Valid(), make), absl::OkStatus());
  const absl::Status refused = of_one.Register(Valid(), make);
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("no more than 1 node; be patient"));
}

TEST_F(NodeRegistryTest, GivesNodesTheNameThatTheyAskFor) {
  EXPECT_EQ(AliasFor(Valid(1)), "node1");
  EXPECT_EQ(AliasFor(Valid()), "node0");
  EXPECT_EQ(AliasFor(Valid()), "node2");
}

TEST_F(NodeRegistryTest, ListsNodesByNumberAndNotAsText) {
  const auto node10 = std::make_shared<FakeNode>("node10");
  const auto node2 = std::make_shared<FakeNode>("node2");
  ASSERT_TRUE(Register(Valid(10), node10).ok());
  ASSERT_TRUE(Register(Valid(2), node2).ok());
  EXPECT_THAT(registry_.Nodes(), ElementsAre(node2, node10));
}

TEST_F(NodeRegistryTest, RefusesANameThatAnotherNodeHas) {
  ASSERT_TRUE(Register(Valid(3)).ok());
  const absl::Status error = Error(Valid(3));
  EXPECT_EQ(error.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(error.message()),
              AllOf(HasSubstr("node3"), HasSubstr("alpha")));
}

TEST_F(NodeRegistryTest, ANameMayBecomeFreeWhoseNodeDoesNotAnswer) {
  const auto node = std::make_shared<FakeNode>("node3");
  ASSERT_TRUE(Register(Valid(3), node).ok());
  for (int i = 0; i < 3; ++i) node->Beat(/*beats_per_ping=*/1);
  const absl::Status error = Error(Valid(3));
  EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(error.message()),
              AllOf(HasSubstr("node3"), HasSubstr("does not answer")));
}

TEST_F(NodeRegistryTest, ANodeThatNeverHeardItsNameIsKnownAllTheSame) {
  ASSERT_TRUE(Register(Valid(0)).ok());
  const NodeRegistration registration = Valid();
  EXPECT_EQ(AliasFor(registration), "node1");
  ASSERT_TRUE(Register(Valid(3)).ok());
  EXPECT_EQ(AliasFor(registration), "node1");
  EXPECT_EQ(AliasFor(Valid()), "node2");
}

TEST_F(NodeRegistryTest, ANodeThatComesBackReplacesItsEarlierSession) {
  NodeRegistration registration = Valid();
  const auto before = std::make_shared<FakeNode>("node0");
  ASSERT_TRUE(Register(registration, before).ok());
  registration.set_preassigned_node_id(0);
  const auto after = std::make_shared<FakeNode>("node0");
  ASSERT_TRUE(Register(registration, after).ok());

  EXPECT_TRUE(before->disconnect_reason().has_value());
  // The end of the earlier session does not remove the later one.
  registry_.Remove(0, *before);
  EXPECT_THAT(registry_.Nodes(), ElementsAre(after));
}

TEST_F(NodeRegistryTest, NodesWithoutIncarnationDoNotReplaceEachOther) {
  NodeRegistration registration = Valid(0);
  registration.clear_incarnation();
  ASSERT_TRUE(Register(registration).ok());
  EXPECT_EQ(Error(registration).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(NodeRegistryTest, TheNameOfANodeThatIsGoneIsFreeAgain) {
  const auto node = std::make_shared<FakeNode>("node0");
  ASSERT_TRUE(Register(Valid(), node).ok());
  ASSERT_TRUE(Register(Valid()).ok());
  registry_.Remove(0, *node);
  EXPECT_EQ(AliasFor(Valid()), "node0");
}

// Does not look at the nodes that are there already for each new one: with as
// many nodes as there may be, that would be five billion looks.
TEST_F(NodeRegistryTest, RegistersAsManyNodesAsThereAreNames) {
  const auto node = std::make_shared<FakeNode>("");
  for (int i = 0; i < NodeRegistry::kMaxNodes; ++i) {
    ASSERT_EQ(Register(Valid(), node), absl::OkStatus()) << i;
    ASSERT_EQ(last_config_.node_id(), i);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(Error(Valid())));
  registry_.Remove(70'000, *node);
  registry_.Remove(50'000, *node);
  EXPECT_EQ(AliasFor(Valid()), "node50000");
  EXPECT_EQ(AliasFor(Valid()), "node70000");
}

TEST_F(NodeRegistryTest, NamesBelowOneThatWasAskedForAreFree) {
  EXPECT_EQ(AliasFor(Valid(2)), "node2");
  EXPECT_EQ(AliasFor(Valid()), "node0");
  EXPECT_EQ(AliasFor(Valid()), "node1");
  EXPECT_EQ(AliasFor(Valid()), "node3");
}

TEST_F(NodeRegistryTest, TakesNodesOfOtherVersionsWithAnAdjacentProtocol) {
  NodeRegistration registration = Valid();
  registration.set_version("7.0");
  registration.set_control_protocol(base::kControlProtocol + 1);
  EXPECT_EQ(AliasFor(registration), "node0");
}

TEST_F(NodeRegistryTest, RefusesNodesWhoseProtocolIsTooFarAway) {
  NodeRegistration registration = Valid();
  registration.set_version("7.0");
  registration.set_control_protocol(base::kControlProtocol + 2);
  const absl::Status error = Error(registration);
  EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(error.message()),
      AllOf(HasSubstr("7.0"), HasSubstr(std::string(base::ProgramVersion())),
            HasSubstr(absl::StrCat("version ", base::kControlProtocol + 2))));
}

TEST_F(NodeRegistryTest, RefusesNodesOfBeforeTheProtocolHadAVersion) {
  NodeRegistration registration = Valid();
  registration.clear_control_protocol();
  EXPECT_EQ(Error(registration).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(NodeRegistryTest, RefusesRegistrationsThatAreWrong) {
  NodeRegistration registration = Valid();
  registration.clear_hostname();
  EXPECT_EQ(Error(registration).code(), absl::StatusCode::kInvalidArgument);
  registration = Valid();
  registration.set_control_port(65536);
  EXPECT_EQ(Error(registration).code(), absl::StatusCode::kInvalidArgument);
  for (int id : {-2, NodeRegistry::kMaxNodes, 50'000'000}) {
    EXPECT_EQ(Error(Valid(id)).code(), absl::StatusCode::kInvalidArgument)
        << id;
  }
  EXPECT_EQ(AliasFor(Valid(NodeRegistry::kMaxNodes - 1)), "node99999");
}

TEST_F(NodeRegistryTest, RegistersNobodyOnceItIsClosed) {
  registry_.Close();
  EXPECT_EQ(Error(Valid()).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace distbench::sequencer
