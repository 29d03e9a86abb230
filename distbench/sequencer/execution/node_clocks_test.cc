// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/node_clocks.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int64_t kMs = 1'000'000;

class NodeClocksTest : public testing::Test {
 protected:
  // "node0", "node1" and so on.
  void UseNodes(bool are_local, const NodeRegistration& registration = {},
                size_t count = 2) {
    nodes_.clear();
    std::vector<NodeShare> shares;
    for (size_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_shared<FakeNode>(absl::StrCat("node", i),
                                                  registration, are_local));
      shares.push_back({.node = nodes_.back()});
    }
    participants_.emplace(std::move(shares));
  }

  std::vector<std::shared_ptr<FakeNode>> nodes_;
  std::optional<Participants> participants_;
};

TEST_F(NodeClocksTest, AreCorrectedOnlyIfTheyAreKnownToDiffer) {
  UseNodes(/*are_local=*/false);
  FakeNode& node = *nodes_[0];
  EXPECT_FALSE(OffsetToCorrect(node).has_value()) << "nothing is known";
  node.ShowClock({.offset_ns = -101, .error_ns = 101});
  EXPECT_FALSE(OffsetToCorrect(node).has_value());
  node.ShowClock({.offset_ns = -101, .error_ns = 100});
  ASSERT_TRUE(OffsetToCorrect(node).has_value());
  EXPECT_EQ(OffsetToCorrect(node)->offset_ns, -101);
  UseNodes(/*are_local=*/true);
  nodes_[0]->ShowClock({.offset_ns = -101, .error_ns = 100});
  EXPECT_FALSE(OffsetToCorrect(*nodes_[0]).has_value()) << "it is our clock";
}

TEST_F(NodeClocksTest, TheLeadGrowsWithNodesAndRoundTrips) {
  constexpr absl::Duration kLead = absl::Microseconds(5600);
  UseNodes(/*are_local=*/true);
  EXPECT_EQ(StartLead(*participants_), kLead);
  nodes_[0]->ShowClock({.error_ns = 1 * kMs});
  nodes_[1]->ShowClock({.error_ns = 10 * kMs});
  EXPECT_EQ(StartLead(*participants_), kLead + absl::Milliseconds(40));
}

TEST_F(NodeClocksTest, NodesThatShareAHostNeedMoreTime) {
  NodeRegistration registration;
  registration.set_hostname("alpha");
  UseNodes(/*are_local=*/true, registration);
  EXPECT_EQ(StartLead(*participants_), absl::Milliseconds(6));
}

TEST_F(NodeClocksTest, ClocksThatNothingSetsAreOneFinding) {
  UseNodes(/*are_local=*/false, {}, 3);
  nodes_[0]->ShowClock({.offset_ns = 100 * kMs, .error_ns = 1'000});
  EXPECT_FALSE(JudgeClockOffsets(*participants_).has_value()) << "usual";
  nodes_[1]->ShowClock({.offset_ns = -2'500 * kMs, .error_ns = 1'000});
  const std::optional<Finding> one = JudgeClockOffsets(*participants_);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->severity(), Finding::NOTE);
  EXPECT_EQ(one->code(), "clock_offset");
  EXPECT_NE(one->advice(), "");
  EXPECT_EQ(one->message(),
            "the clock of node1 (host host-of-node1) is -2.50 s ahead of "
            "the sequencer's, give or take 1.00 us; starts and time stamps "
            "were corrected, and latencies do not depend on it");
  nodes_[2]->ShowClock({.offset_ns = 101 * kMs, .error_ns = 1'000});
  EXPECT_THAT(JudgeClockOffsets(*participants_)->message(),
              StartsWith("2 clocks are far off: the clock of node1 "));
}

class LateStartTest : public NodeClocksTest {
 protected:
  // Judges nodes that got the command to start so much too late, or not at all.
  std::optional<Finding> StartLateBy(
      const std::vector<std::optional<int64_t>>& latenesses_ns) {
    UseNodes(/*are_local=*/false, {}, latenesses_ns.size());
    size_t i = 0;
    for (Participant& participant : *participants_) {
      participant.start_lateness_ns = latenesses_ns[i++];
    }
    return JudgeStart(*participants_);
  }
};

TEST_F(LateStartTest, ANodeThatStartsAfterTheFirstIsNamed) {
  const std::optional<Finding> finding = StartLateBy({0, 13 * kMs, 0});
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->severity(), Finding::NOTE);
  EXPECT_EQ(finding->code(), "late_start");
  EXPECT_EQ(finding->message(),
            "node1 (host host-of-node1) started 13.0 ms after the first "
            "node, as the command came late");
  EXPECT_NE(finding->advice(), "");
}

// As on any host with many nodes.
TEST_F(LateStartTest, AFewMillisecondsAreNothing) {
  EXPECT_FALSE(StartLateBy({0, 10 * kMs, 3 * kMs}).has_value());
}

TEST_F(LateStartTest, SeveralNodesAreOneFinding) {
  const auto finding = StartLateBy({1 * kMs, 151 * kMs, 13 * kMs});
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->severity(), Finding::WARN);
  EXPECT_THAT(finding->message(),
              StartsWith("2 nodes started late: node1 (host host-of-node1) "
                         "started 150 ms after the first node, "));
}

TEST_F(LateStartTest, NodesThatAreLateTogetherAreNotLate) {
  EXPECT_FALSE(StartLateBy({}).has_value());
  EXPECT_FALSE(StartLateBy({34'700'000, 35'600'000, 35'700'000}).has_value());
}

TEST_F(LateStartTest, AllNodesTogetherMayBeTooLate) {
  EXPECT_FALSE(StartLateBy({100 * kMs, 101 * kMs}).has_value());
  const std::optional<Finding> finding = StartLateBy({101 * kMs, 101 * kMs});
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->severity(), Finding::WARN);
  EXPECT_THAT(finding->message(),
              StartsWith("all nodes started 101 ms after the planned "));
}

TEST_F(LateStartTest, NodesThatDidNotStartAreNotCompared) {
  EXPECT_FALSE(StartLateBy({std::nullopt, 20 * kMs}).has_value());
}

TEST_F(NodeClocksTest, TheResultHasThoseOfOtherHosts) {
  RunInfo info;
  for (const bool are_local : {true, false}) {
    EXPECT_THAT(info.clock_offsets(), IsEmpty());
    UseNodes(are_local);
    nodes_[0]->ShowClock({.offset_ns = 1, .error_ns = 2});
    AddClockOffsets(*participants_, info);
  }
  ASSERT_THAT(info.clock_offsets(), SizeIs(1)) << "of node1 nothing is known";
  EXPECT_EQ(info.clock_offsets().at("node0").offset_ns(), 1);
  EXPECT_EQ(info.clock_offsets().at("node0").error_ns(), 2);
}

}  // namespace
}  // namespace distbench::sequencer
