#include "distbench/sequencer/execution/participant.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/sequencer/execution/lost_nodes.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ParticipantsTest : public testing::Test {
 protected:
  static std::vector<NodeShare> Shares(int count) {
    std::vector<NodeShare> shares;
    for (int i = 0; i < count; ++i) {
      shares.push_back(
          {.node = std::make_shared<FakeNode>(absl::StrCat("node", i))});
    }
    return shares;
  }

  Participant& At(int position) { return *(participants_.begin() + position); }

  Participants participants_{Shares(30)};
};

TEST_F(ParticipantsTest, AreFoundByTheirNodes) {
  for (Participant& participant : participants_) {
    EXPECT_EQ(participants_.Find(participant.share.node.get()), &participant);
  }
  const FakeNode stranger("node1");
  EXPECT_EQ(participants_.Find(&stranger), nullptr);
}

TEST_F(ParticipantsTest, AreCountedWhileTheyAreBusy) {
  participants_.Begin(At(1), Step::kStart);
  participants_.Begin(At(1), Step::kStart);
  participants_.Begin(At(1), Step::kTraffic);
  participants_.Begin(At(2), Step::kTraffic);
  EXPECT_EQ(participants_.CountAwaiting(Step::kStart), 1);
  EXPECT_EQ(participants_.CountAwaiting(Step::kTraffic), 2);
  EXPECT_TRUE(participants_.Awaits(At(1), Step::kStart));

  EXPECT_TRUE(participants_.End(At(1), Step::kStart));
  EXPECT_FALSE(participants_.End(At(1), Step::kStart)) << "once is enough";
  EXPECT_EQ(participants_.CountAwaiting(Step::kStart), 0);

  participants_.EndAll(At(1));
  EXPECT_FALSE(participants_.Awaits(At(1), Step::kTraffic));
  EXPECT_EQ(participants_.CountAwaiting(Step::kTraffic), 1);
  EXPECT_EQ(participants_.WhoAwaits(Step::kTraffic),
            "node2 (host host-of-node2)");
}

TEST_F(ParticipantsTest, ManyNodesAreNamedInFewWords) {
  for (const int i : {3, 4}) participants_.Begin(At(i), Step::kCollect);
  EXPECT_EQ(participants_.WhoAwaits(Step::kCollect),
            "node3 (host host-of-node3), node4 (host host-of-node4)");
  for (int i = 0; i < 30; ++i) {
    if (i != 7) participants_.Begin(At(i), Step::kCollect);
  }
  EXPECT_EQ(participants_.WhoAwaits(Step::kCollect),
            "29 nodes (node0-6,8-29; the first is node0 (host host-of-node0))");
}

// The status of a call has room for no more than some kilobytes.
TEST_F(ParticipantsTest, NodesHereAndThereAreNotAllNamed) {
  Participants many(Shares(6000));
  for (int i = 0; i < 6000; i += 2) {
    many.Begin(*(many.begin() + i), Step::kCollect);
  }
  const std::string names = many.WhoAwaits(Step::kCollect);
  EXPECT_LT(names.size(), 2200);
  EXPECT_THAT(names, StartsWith("3000 nodes (node0,2,4,6,"));
  EXPECT_THAT(names, ContainsRegex(",[0-9]+ and others; the first is node0"));
}

TEST_F(ParticipantsTest, LossesOfOneKindAreOneMessage) {
  LostNodes lost;
  EXPECT_THAT(lost.Messages(), IsEmpty());
  lost.Add(At(29), Step::kConnect, "its connection broke");
  for (int i = 0; i < 12; ++i) lost.Add(At(i), Step::kTraffic, "gone");
  lost.Add(At(28), Step::kConnect, "its connection broke");
  EXPECT_THAT(
      lost.Messages(),
      ElementsAre("node29 (host host-of-node29), node28 (host host-of-node28) "
                  "were lost while the instances were connected: its "
                  "connection broke",
                  "12 nodes (node0-11; the first is node0 (host "
                  "host-of-node0)) were lost during the traffic: gone"));
}

}  // namespace
}  // namespace distbench::sequencer
