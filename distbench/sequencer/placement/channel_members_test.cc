#include "distbench/sequencer/placement/channel_members.h"

#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
