#include "distbench/results/policy_totals.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

// Statistics whose counts are their fields' numbers times `factor`.
PolicyStatistics NumberedPolicies(int64_t factor) {
  PolicyStatistics statistics;
  const auto* type = PolicyStatistics::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_INT64) continue;
    statistics.GetReflection()->SetInt64(&statistics, field,
                                         factor * field->number());
  }
  PolicyTotals totals;
  EXPECT_TRUE(totals.Add(statistics).ok());
  totals.quorum_time_ns.RecordN(100, factor);
  totals.attempt_time_ns.RecordN(200, factor);
  for (int64_t i = 0; i < factor; ++i) {
    totals.concurrency_limit.RecordEach(std::array{int64_t{7}},
                                        std::identity());
  }
  totals.Encode(statistics);
  return statistics;
}

// Every field of the message is added up.
TEST(PolicyTotalsTest, AddsUp) {
  PolicyStatistics into = NumberedPolicies(1);
  ASSERT_TRUE(MergePolicyStatistics(NumberedPolicies(2), into).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(into, NumberedPolicies(3)))
      << into.DebugString();
  PolicyTotals totals;
  PolicyTotals others;
  ASSERT_TRUE(totals.Add(NumberedPolicies(1)).ok());
  ASSERT_TRUE(others.Add(NumberedPolicies(2)).ok());
  totals.Merge(others);
  PolicyStatistics encoded;
  totals.Encode(encoded);
  EXPECT_TRUE(MessageDifferencer::Equals(encoded, into));
}

TEST(PolicyTotalsTest, CountsSaturate) {
  PolicyTotals most;
  most.attempt_count = std::numeric_limits<int64_t>::max();
  most.Merge(most);
  EXPECT_EQ(most.attempt_count, std::numeric_limits<int64_t>::max());
}

TEST(PolicyTotalsTest, WhatIsInvalidAddsNothing) {
  for (const auto& [text, error] :
       {std::pair("request_count: 1 retry_count: -1", "a negative count"),
        std::pair("attempt_time_ns { bucket_index_deltas: 5 }",
                  "attempt_time_ns of policies: "),
        std::pair("concurrency_limit { count: 1 min: 3 max: 2 }",
                  "contradict themselves")}) {
    PolicyStatistics into = NumberedPolicies(1);
    const absl::Status status =
        MergePolicyStatistics(FromText<PolicyStatistics>(text), into);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(error));
    EXPECT_TRUE(MessageDifferencer::Equals(into, NumberedPolicies(1)));
  }
}

}  // namespace
}  // namespace distbench::results
