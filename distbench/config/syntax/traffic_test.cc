// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/traffic.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<int64_t> TimeoutOf(const std::string& value) {
  DistributedSystemDescription test;
  (*test.mutable_attributes())[kTestTimeoutAttribute] = value;
  return TestTimeoutSeconds(test);
}

TEST(TestTimeout, SaysWhatEndedTheTestAndWhatToDo) {
  const absl::Status ended = TestTimedOut(absl::Minutes(2), " on node0");
  EXPECT_EQ(ended.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ended.message(),
            "the traffic did not end within the test_timeout of 2m on node0; "
            "raise that attribute of the test, or end its loops earlier, by "
            "max_duration or max_iteration_count");
}

TEST(TestTimeout, IsAnHourUnlessTheAttributeSaysOtherwise) {
  EXPECT_EQ(*TestTimeoutSeconds({}), 3600);
  EXPECT_EQ(*TimeoutOf("150"), 150);
  EXPECT_EQ(*TimeoutOf("1"), 1);
  EXPECT_EQ(*TimeoutOf("1000000000"), 1'000'000'000);
}

TEST(TestTimeout, RefusesWhatIsNoNumberOfSeconds) {
  for (const char* value : {"", "0", "-1", "30s", "1.5", "1e3", "1000000001",
                            "99999999999999999999"}) {
    const auto timeout = TimeoutOf(value);
    EXPECT_EQ(timeout.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(timeout.status().message()),
                HasSubstr("must be a whole number of seconds"))
        << value;
  }
}

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
