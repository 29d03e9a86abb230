#include "distbench/sequencer/execution/node_clocks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kMs = 1'000'000;

class NodeClocksTest : public testing::Test {
 protected:
  NodeClocksTest() {
    for (int i = 0; i < 2; ++i) {
      nodes_.push_back(std::make_shared<FakeNode>("node" + std::to_string(i)));
      shares_.push_back({.node = nodes_[i]});
    }
    participants_.emplace(shares_);
  }

  std::vector<std::shared_ptr<FakeNode>> nodes_;
  std::vector<NodeShare> shares_;
  std::optional<Participants> participants_;
};

TEST_F(NodeClocksTest, AreCorrectedOnlyIfTheyAreKnownToDiffer) {
  FakeNode& node = *nodes_[0];
  node.set_is_local(false);
  EXPECT_FALSE(OffsetToCorrect(node).has_value()) << "nothing is known";
  node.set_clock_offset({.offset_ns = -100, .error_ns = 100});
  EXPECT_FALSE(OffsetToCorrect(node).has_value());
  node.set_clock_offset({.offset_ns = -101, .error_ns = 100});
  ASSERT_TRUE(OffsetToCorrect(node).has_value());
  EXPECT_EQ(OffsetToCorrect(node)->offset_ns, -101);
  node.set_is_local(true);
  EXPECT_FALSE(OffsetToCorrect(node).has_value()) << "it is our clock";
}

TEST_F(NodeClocksTest, TheLeadGrowsWithNodesAndRoundTrips) {
  constexpr absl::Duration kLead = absl::Microseconds(5600);
  EXPECT_EQ(StartLead(*participants_), kLead);
  nodes_[0]->set_clock_offset({.error_ns = 1 * kMs});
  nodes_[1]->set_clock_offset({.error_ns = 10 * kMs});
  EXPECT_EQ(StartLead(*participants_), kLead + absl::Milliseconds(40));
}

TEST_F(NodeClocksTest, NodesThatShareAHostNeedMoreTime) {
  nodes_[1]->mutable_registration().set_hostname(
      nodes_[0]->registration().hostname());
  EXPECT_EQ(StartLead(*participants_), absl::Milliseconds(6));
}

TEST_F(NodeClocksTest, UsersAreToldWhatWasDone) {
  EXPECT_EQ(CorrectionNote(*(participants_->begin() + 1),
                           {.offset_ns = -2'500'000, .error_ns = 1'000}),
            "the clock of node1 (host host-of-node1) is -2.500 ms ahead of the "
            "sequencer's, give or take 0.001 ms; its start and its time stamps "
            "were corrected");
  EXPECT_EQ(LateStartWarning(*(participants_->begin() + 1), 3 * kMs),
            "node1 (host host-of-node1) started 3.000 ms after the others, as "
            "the command came late; look for load on its host and its network");
}

TEST_F(NodeClocksTest, TheResultHasThoseOfOtherHosts) {
  RunInfo info;
  nodes_[0]->set_clock_offset({.offset_ns = 1, .error_ns = 2});
  AddClockOffsets(*participants_, info);
  EXPECT_THAT(info.clock_offsets(), IsEmpty());
  nodes_[0]->set_is_local(false);
  nodes_[1]->set_is_local(false);
  AddClockOffsets(*participants_, info);
  ASSERT_THAT(info.clock_offsets(), SizeIs(1)) << "of node1 nothing is known";
  EXPECT_EQ(info.clock_offsets().at("node0").offset_ns(), 1);
  EXPECT_EQ(info.clock_offsets().at("node0").error_ns(), 2);
}

}  // namespace
}  // namespace distbench::sequencer
