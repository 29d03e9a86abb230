// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/sequence_ids.h"

#include <cstdint>
#include <vector>

#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "gtest/gtest.h"

namespace distbench::thrift {
namespace {

class SequenceIdsTest : public testing::Test {
 protected:
  using Calls = protocol::CallTable<protocol::CallOwner>;

  uint64_t AddCall() { return calls_.Add(&call_, &owner_); }
  Calls::Match Find(uint32_t sequence_id) {
    return ids_.Find(sequence_id, entry_);
  }

  protocol::CallOwner owner_;
  Calls calls_;
  SequenceIds<protocol::CallOwner> ids_{calls_};
  Calls::Entry* entry_ = nullptr;
  protocol::ClientCall call_;
};

// A call that lasts while others come and go keeps its id, and its memory does
// not grow with their number.
TEST_F(SequenceIdsTest, AnIdIsNotUsedTwice) {
  const uint64_t slow_call = AddCall();
  const uint32_t slow = ids_.Add(slow_call);
  std::vector<uint32_t> earlier;
  for (int i = 0; i < 10'000; ++i) {
    const uint32_t quick = ids_.Add(AddCall());
    ASSERT_EQ(Find(quick), Calls::Match::kFound);
    calls_.Remove(*entry_);
    ASSERT_EQ(Find(quick), Calls::Match::kEnded);
    earlier.push_back(quick);
  }
  for (const uint32_t id : earlier) {
    ASSERT_NE(id, slow);
    ASSERT_EQ(Find(id), Calls::Match::kEnded);
  }
  EXPECT_EQ(Find(slow), Calls::Match::kFound);
  EXPECT_EQ(Find(earlier.back() + 1), Calls::Match::kUnknown);
}

TEST_F(SequenceIdsTest, ManyCallsAreInFlight) {
  std::vector<uint32_t> ids;
  for (int i = 0; i < 10'000; ++i) ids.push_back(ids_.Add(AddCall()));
  for (const uint32_t id : ids) {
    ASSERT_EQ(Find(id), Calls::Match::kFound);
    calls_.Remove(*entry_);
  }
}

}  // namespace
}  // namespace distbench::thrift
