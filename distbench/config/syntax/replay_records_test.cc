#include "distbench/config/syntax/replay_records.h"

#include <limits>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CompleteRecord, TakesFromDefaultsWhatTheRecordLeavesOut) {
  const RpcReplayTrace trace = base::FromText<RpcReplayTrace>(R"(
    defaults { request_size: 16 response_size: 32 prior_rpc_distances: [0, 1] }
    records { response_size: 64 }
    records { prior_rpc_distances: 2 })");
  EXPECT_EQ(CompleteRecord(trace, 0).request_size(), 16);
  EXPECT_EQ(CompleteRecord(trace, 0).response_size(), 64);
  EXPECT_THAT(CompleteRecord(trace, 0).prior_rpc_distances(),
              ElementsAre(0, 1));
  EXPECT_THAT(CompleteRecord(trace, 1).prior_rpc_distances(), ElementsAre(2));
}

TEST(PriorRecords, CountBackFromTheRecordJustBefore) {
  RpcReplayTraceRecord record;
  record.set_timing_mode(RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_END);
  EXPECT_THAT(PriorRecords(record, 5), ElementsAre(4));
  EXPECT_THAT(PriorRecords(record, 0), IsEmpty());
  record.add_prior_rpc_distances(0);
  record.add_prior_rpc_distances(4);
  EXPECT_THAT(PriorRecords(record, 5), ElementsAre(4, 0));
  record.set_timing_mode(RpcReplayTraceRecord::RELATIVE_TO_TRACE_START);
  EXPECT_THAT(PriorRecords(record, 5), IsEmpty());
}

TEST(PriorRecords, AreNegativeBeyondTheFirstRecord) {
  RpcReplayTraceRecord record;
  record.set_timing_mode(RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_START);
  record.add_prior_rpc_distances(5);
  record.add_prior_rpc_distances(std::numeric_limits<int>::max());
  EXPECT_THAT(PriorRecords(record, 5), ElementsAre(-1, -1));
}

}  // namespace
}  // namespace distbench::config
