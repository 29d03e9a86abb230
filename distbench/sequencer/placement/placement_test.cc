// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/placement/placement.h"

#include <pthread.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto ParseTest = base::FromText<DistributedSystemDescription>;

std::vector<PlacementNode> Nodes(int count) {
  std::vector<PlacementNode> nodes;
  for (int i = 0; i < count; ++i) {
    const std::string alias = absl::StrCat("node", i);
    nodes.push_back({alias, {{"node_alias", alias}}});
  }
  return nodes;
}

const char kClientsAndServers[] = R"(
  services { name: "client" count: 2 x_size: 2 }
  services { name: "server" count: 1 x_size: 1 }
)";

std::string RackConstraint(const std::string& key, const std::string& rack) {
  return absl::StrCat("service_constraints { key: '", key,
                      "' value { constraint_sets { constraints { "
                      "attribute_name: 'rack' string_values: '",
                      rack, "' relation: EQUAL } } } }");
}

TEST(PlacementTest, GivesEachInstanceANodeInOrder) {
  const auto placement =
      PlaceInstances(ParseTest(kClientsAndServers), Nodes(4));
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement,
              ElementsAre(ElementsAre("client/0"), ElementsAre("client/1"),
                          ElementsAre("server/0"), IsEmpty()));
}

TEST(PlacementTest, NamesInstancesOfGridsByTheirCoordinates) {
  const auto placement = PlaceInstances(
      ParseTest("services { name: 'g' count: 4 x_size: 2 y_size: 2 }"),
      Nodes(4));
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement,
              ElementsAre(ElementsAre("g/0/0"), ElementsAre("g/1/0"),
                          ElementsAre("g/0/1"), ElementsAre("g/1/1")));
}

const char kNewServer[] = R"(
  protocol_driver_options { name: "new_grpc" protocol_name: "grpc" engine: "new" }
  services { name: "client" count: 2 x_size: 2 }
  services { name: "server" count: 1 x_size: 1
             protocol_driver_options_name: "new_grpc" }
)";

TEST(PlacementTest, ServicesAreOnNodesThatHaveTheirEngine) {
  std::vector<PlacementNode> nodes = Nodes(3);
  nodes[0].engines = {"newer", "new"};
  const auto placement = PlaceInstances(ParseTest(kNewServer), nodes);
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement,
              ElementsAre(ElementsAre("server/0"), ElementsAre("client/0"),
                          ElementsAre("client/1")));
}

TEST(PlacementTest, SaysThatNoNodeHasTheEngine) {
  std::vector<PlacementNode> nodes = Nodes(3);
  nodes[1].engines = {"newer"};
  const absl::Status error =
      PlaceInstances(ParseTest(kNewServer), nodes).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(error.message()),
      AllOf(HasSubstr("server/0 cannot be placed"),
            HasSubstr("node0: has no engine but its own program, not \"new\""),
            HasSubstr("node1: has the engines newer, not \"new\""),
            HasSubstr("--engine=new=PATH")));
}

TEST(PlacementTest, ABundleNeedsTheEngineToo) {
  const absl::Status error =
      PlaceInstances(ParseTest(absl::StrCat(kNewServer, R"(
        node_service_bundles { key: "node1" value { services: "server/0" } })")),
                     Nodes(3))
          .status();
  EXPECT_THAT(std::string(error.message()),
              HasSubstr("node1 is not suitable for server/0: has no engine"));
}

TEST(PlacementTest, BundlesShareTheNodeThatTheyName) {
  const auto placement =
      PlaceInstances(ParseTest(absl::StrCat(kClientsAndServers, R"(
        node_service_bundles {
          key: "node1" value { services: "server/0" services: "client/0" }
        })")),
                     Nodes(2));
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement, ElementsAre(ElementsAre("client/1"),
                                      ElementsAre("client/0", "server/0")));
}

TEST(PlacementTest, AnEmptyBundleTakesNoNode) {
  const auto placement = PlaceInstances(
      ParseTest(absl::StrCat(kClientsAndServers,
                             "node_service_bundles { key: 'node0' value {} }")),
      Nodes(3));
  EXPECT_TRUE(placement.ok()) << placement.status();
}

TEST(PlacementTest, RefusesBundlesThatNameWhatDoesNotExist) {
  const auto place = [](const std::string& bundle) {
    return PlaceInstances(ParseTest(absl::StrCat(kClientsAndServers, bundle)),
                          Nodes(3))
        .status();
  };
  absl::Status status = place(
      "node_service_bundles { key: 'node7' value { services: 'server/0' } }");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("node_service_bundles[\"node7\"]"),
                    HasSubstr("node0, node1, node2")));

  status = place(
      "node_service_bundles { key: 'node1' value { services: 'server/5' } }");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"server/5\""));

  status = place(
      "node_service_bundles { key: 'node1' value { services: 'server/0' } }"
      "node_service_bundles { key: 'node2' value { services: 'server/0' } }");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("server/0 is in the bundle of node1 already"));
}

TEST(PlacementTest, SaysHowManyNodesAreMissing) {
  EXPECT_EQ(PlaceInstances(ParseTest(kClientsAndServers), Nodes(2))
                .status()
                .message(),
            "the test needs 3 nodes but 2 are registered (node0, node1); "
            "start 1 more or bundle services with node_service_bundles");
  EXPECT_EQ(
      PlaceInstances(ParseTest(kClientsAndServers), {}).status().message(),
      "the test needs 3 nodes but none are registered; start 3 more or bundle "
      "services with node_service_bundles");
}

class ConstraintPlacementTest : public testing::Test {
 protected:
  // Three nodes, in racks a, b and b.
  ConstraintPlacementTest() : nodes_(Nodes(3)) {
    nodes_[0].attributes["rack"] = "a";
    nodes_[1].attributes["rack"] = "b";
    nodes_[2].attributes["rack"] = "b";
  }

  absl::StatusOr<Placement> Place(const std::string& constraints) {
    return PlaceInstances(
        ParseTest(absl::StrCat(kClientsAndServers, constraints)), nodes_);
  }

  std::vector<PlacementNode> nodes_;
};

// Each instance may be on its own node or on the next, and is on its own. The
// last needs the first node, so that all others have to move.
struct LongChain {
  static constexpr int kLength = 1500;

  LongChain() : nodes(Nodes(kLength + 1)) {
    std::string text = absl::StrCat("services { name: 's' count: ", kLength + 1,
                                    " x_size: ", kLength + 1, " }");
    for (int i = 0; i <= kLength; ++i) {
      nodes[i].attributes["rack"] = absl::StrCat(i);
      absl::StrAppend(
          &text,
          RackConstraint(absl::StrCat("s/", i),
                         i == kLength
                             ? "0"
                             : absl::StrCat(i, "' string_values: '", i + 1)));
    }
    test = ParseTest(text);
  }

  DistributedSystemDescription test;
  std::vector<PlacementNode> nodes;
  absl::StatusOr<Placement> placement = absl::InternalError("not placed");
};

// The depth of the stack must not depend on what somebody submits.
TEST(PlacementTest, LongChainsOfMovesNeedNoStack) {
  LongChain chain;
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 128 << 10), 0);
  pthread_t thread;
  const auto place = +[](void* argument) -> void* {
    LongChain& chain = *static_cast<LongChain*>(argument);
    chain.placement = PlaceInstances(chain.test, chain.nodes);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, place, &chain), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  ASSERT_TRUE(chain.placement.ok()) << chain.placement.status();
  EXPECT_THAT(chain.placement->front(),
              ElementsAre(absl::StrCat("s/", LongChain::kLength)));
  EXPECT_THAT(chain.placement->back(),
              ElementsAre(absl::StrCat("s/", LongChain::kLength - 1)));
}

TEST_F(ConstraintPlacementTest, PlacesConstrainedInstancesFirst) {
  const auto placement = Place(RackConstraint("server/0", "a"));
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement,
              ElementsAre(ElementsAre("server/0"), ElementsAre("client/0"),
                          ElementsAre("client/1")));
}

TEST_F(ConstraintPlacementTest, GlobsConstrainEveryInstanceThatMatches) {
  const auto placement = Place(RackConstraint("client/*", "b"));
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement,
              ElementsAre(ElementsAre("server/0"), ElementsAre("client/0"),
                          ElementsAre("client/1")));
}

TEST_F(ConstraintPlacementTest, MovesAnInstanceThatIsInTheWayOfAnother) {
  // client/0 may be on node1 or node2, and would take node1; server/0 can only
  // be on node1.
  nodes_[1].attributes["disk"] = "fast";
  const auto placement = Place(R"(
    service_constraints { key: "client/0" value { constraint_sets {
      constraints { attribute_name: "rack" string_values: "b" relation: EQUAL }
    } } }
    service_constraints { key: "server/0" value { constraint_sets {
      constraints { attribute_name: "disk" string_values: "fast"
                    relation: EQUAL }
    } } })");
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement,
              ElementsAre(ElementsAre("client/1"), ElementsAre("server/0"),
                          ElementsAre("client/0")));
}

TEST_F(ConstraintPlacementTest, SaysWhyEachNodeWasNoHelp) {
  const absl::Status status = Place(RackConstraint("client/*", "a")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("client/1 cannot be placed"),
            HasSubstr("node0: is needed for client/0"), HasSubstr("node1: "),
            HasSubstr("node2: "), HasSubstr("rack")));
}

TEST_F(ConstraintPlacementTest, RefusesABundleAgainstAConstraint) {
  const absl::Status status =
      Place(
          absl::StrCat(RackConstraint("server/0", "a"),
                       "node_service_bundles { key: 'node1' "
                       "value { services: 'server/0' services: 'client/0' } }"))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("node1 is not suitable for"),
                    HasSubstr("server/0"), HasSubstr("rack")));
}

TEST_F(ConstraintPlacementTest, PlacesBundledAndConstrainedInstancesOnce) {
  const auto placement =
      Place(absl::StrCat(RackConstraint("server/0", "b"),
                         "node_service_bundles { key: 'node1' value { "
                         "services: 'server/0' services: 'client/0' } }"));
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(*placement,
              ElementsAre(ElementsAre("client/1"),
                          ElementsAre("client/0", "server/0"), IsEmpty()));
}

TEST(PlacementTest, RefusesWhatCannotReachEachOther) {
  constexpr char kOverLoopback[] = R"(
    default_protocol: "loop"
    protocol_driver_options { name: "loop" protocol_name: "loopback" })";
  const std::string test = absl::StrCat(kClientsAndServers, kOverLoopback);
  EXPECT_THAT(PlaceInstances(ParseTest(test), Nodes(3)).status().message(),
              AllOf(HasSubstr("client/0 is on node0 and client/1 on node1"),
                    HasSubstr("loopback, which stays within one process")));
  EXPECT_TRUE(PlaceInstances(ParseTest(absl::StrCat(test, R"(
                node_service_bundles { key: 'node1' value {
                  services: 'client/0' services: 'client/1'
                  services: 'server/0' } })")),
                             Nodes(3))
                  .ok());
}

// Three servers on nodes in two racks, with a channel with this constraint.
class ChannelMembersTest : public ::testing::Test {
 protected:
  void SetUpChannel(const std::string& constraint) {
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "services { name: 'client' count: 1 x_size: 1 } services { name: "
        "'server' "
        "count: 3 x_size: 3 multi_server_channels { name: 'c' constraints { "
        "constraint_sets { constraints { " +
            constraint + " } } } } }",
        &test_));
  }

  absl::Status Resolve() {
    return ResolveChannelMembers(
        {{.alias = "node0", .attributes = {{"rack", "a"}}},
         {.alias = "node1", .attributes = {{"rack", "b"}}},
         {.alias = "node2", .attributes = {}}},
        {{"client/0", "server/2"}, {"server/0"}, {"server/1"}}, test_);
  }

  const MultiServerChannel& channel() const {
    return test_.services(1).multi_server_channels(0);
  }

  DistributedSystemDescription test_;
};

TEST_F(ChannelMembersTest, ConstraintsOnNodesBecomeInstances) {
  SetUpChannel("attribute_name: 'rack' relation: EQUAL string_values: 'a'");
  ASSERT_EQ(Resolve(), absl::OkStatus());
  EXPECT_THAT(channel().selected_instances(), ElementsAre(2));
  EXPECT_FALSE(channel().has_constraints());
}

TEST_F(ChannelMembersTest, ConstraintsOnInstancesStay) {
  SetUpChannel("attribute_name: 'index' relation: EQUAL int64_values: 1");
  ASSERT_EQ(Resolve(), absl::OkStatus());
  EXPECT_TRUE(channel().has_constraints());
  EXPECT_TRUE(channel().selected_instances().empty());
}

TEST_F(ChannelMembersTest, ChannelWithoutMembersIsExplained) {
  SetUpChannel("attribute_name: 'rack' relation: EQUAL string_values: 'z'");
  EXPECT_THAT(
      std::string(Resolve().message()),
      AllOf(HasSubstr("services[\"server\"].multi_server_channels[\"c\"] has "
                      "no members"),
            HasSubstr("server/0: "), HasSubstr("rack is \"b\""),
            HasSubstr("there is no rack")));
}

}  // namespace
}  // namespace distbench::sequencer
