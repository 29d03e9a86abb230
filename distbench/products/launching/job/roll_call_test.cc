// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/roll_call.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

GetStatusResponse Nodes(const std::vector<int>& ranks) {
  GetStatusResponse status;
  for (const int rank : ranks) {
    NodeStatus& node = *status.add_nodes();
    node.mutable_config()->set_node_alias(absl::StrCat("node", rank));
    node.mutable_registration()->set_hostname(absl::StrCat("host", rank / 2));
    node.set_clock_offset_ns(0);
    node.set_clock_error_ns(1000);
  }
  return status;
}

std::string Missing(int size, const std::vector<int>& ranks,
                    bool node_on_leader = true) {
  RollCall roll_call(size, node_on_leader);
  roll_call.SetStatus(Nodes(ranks));
  EXPECT_FALSE(roll_call.is_complete());
  return base::Message(roll_call.MissingAfter(absl::Seconds(7), true));
}

TEST(RollCallTest, IsCompleteWithAllNodes) {
  RollCall roll_call(3, true);
  roll_call.SetStatus(Nodes({0, 1}));
  EXPECT_FALSE(roll_call.is_complete());
  roll_call.SetStatus(Nodes({0, 1, 2}));
  EXPECT_TRUE(roll_call.is_complete());
  EXPECT_EQ(roll_call.Summary(),
            "all 3 processes have joined: 3 nodes on 2 hosts");
}

TEST(RollCallTest, OneProcessIsNotAllProcesses) {
  RollCall roll_call(1, true);
  roll_call.SetStatus(Nodes({0}));
  EXPECT_EQ(roll_call.Summary(),
            "the only process has joined: 1 node on 1 host");
}

TEST(RollCallTest, LeaderNeedNotBeANode) {
  RollCall roll_call(3, false);
  roll_call.SetStatus(Nodes({1, 2}));
  EXPECT_TRUE(roll_call.is_complete());
  EXPECT_THAT(Missing(3, {2}, false), HasSubstr("rank 1 of 3"));
}

TEST(RollCallTest, NamesTheRanksThatAreMissing) {
  EXPECT_THAT(Missing(3, {0, 2}),
              AllOf(HasSubstr("rank 1 of 3 did not join within 7s"),
                    HasSubstr("secret of this job")));
  EXPECT_THAT(Missing(9, {0, 4}), HasSubstr("ranks 1 to 3, 5 to 8 of 9"));
  EXPECT_THAT(Missing(4, {0, 3}), HasSubstr("ranks 1, 2 of 4"));
}

// As one that was started with another --size.
TEST(RollCallTest, AnotherRankDoesNotStandInForAMissingOne) {
  EXPECT_THAT(Missing(3, {0, 1, 5}), HasSubstr("rank 2 of 3"));
}

TEST(RollCallTest, NamesOnlySomeOfVeryMany) {
  std::vector<int> even;
  for (int rank = 0; rank < 1000; rank += 2) even.push_back(rank);
  const std::string error = Missing(1000, even);
  EXPECT_THAT(error, HasSubstr("37, 39 and 480 more of 1000"));
  EXPECT_LT(error.size(), 400);
}

TEST(RollCallTest, WaitsUntilClocksAreKnown) {
  RollCall roll_call(1, true);
  GetStatusResponse status = Nodes({0});
  status.mutable_nodes(0)->clear_clock_offset_ns();
  roll_call.SetStatus(status);
  EXPECT_FALSE(roll_call.is_complete());
}

TEST(RollCallTest, WrongClocksAreSaid) {
  RollCall roll_call(3, true);
  GetStatusResponse status = Nodes({0, 1, 2});
  status.mutable_nodes(1)->set_clock_offset_ns(-75'500'000'000);
  status.mutable_nodes(2)->set_clock_offset_ns(999'000'000);
  roll_call.SetStatus(status);
  EXPECT_THAT(roll_call.Summary(),
              AllOf(HasSubstr("clock of node1 (host host0) is 75.5 s behind"),
                    Not(HasSubstr("clock of node2"))));
}

}  // namespace
}  // namespace distbench::launching
