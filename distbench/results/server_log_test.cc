#include "distbench/results/server_log.h"

#include <string>

#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

using ::testing::HasSubstr;

FaultLog LogOfFault(int64_t requests, int64_t begin_ns, int64_t end_ns) {
  FaultLog log;
  log.set_request_count(requests);
  log.set_connection_count(1);
  FaultTime& time = *log.add_times();
  time.set_begin_timestamp_ns(begin_ns);
  time.set_end_timestamp_ns(end_ns);
  return log;
}

AdmissionLog LogOfAdmission(int64_t wait_ns) {
  AdmissionLog log;
  log.set_admitted_count(2);
  log.set_refused_count(3);
  stats::LogHistogram histogram;
  histogram.Record(wait_ns);
  EncodeHistogram(histogram, *log.mutable_wait_ns());
  return log;
}

TEST(ServerLogTest, PiecesAddUp) {
  ServicePerformanceLog sum;
  ServicePerformanceLog piece;
  (*piece.mutable_fault_logs())["errors"] = LogOfFault(5, 100, 200);
  *piece.mutable_admission_log() = LogOfAdmission(10);
  ASSERT_TRUE(MergeServerLog(piece, sum).ok());
  (*piece.mutable_fault_logs())["errors"] = LogOfFault(7, 300, 300);
  *piece.mutable_admission_log() = LogOfAdmission(30);
  ASSERT_TRUE(MergeServerLog(piece, sum).ok());

  const FaultLog& fault = sum.fault_logs().at("errors");
  EXPECT_EQ(fault.request_count(), 12);
  EXPECT_EQ(fault.connection_count(), 2);
  ASSERT_EQ(fault.times_size(), 2);
  EXPECT_EQ(fault.times(1).begin_timestamp_ns(), 300);
  EXPECT_EQ(sum.admission_log().admitted_count(), 4);
  EXPECT_EQ(sum.admission_log().refused_count(), 6);
  stats::LogHistogram wait_ns;
  ASSERT_TRUE(AddHistogram(sum.admission_log().wait_ns(), wait_ns).ok());
  EXPECT_EQ(wait_ns.count(), 2);
  EXPECT_EQ(wait_ns.max(), 30);
}

TEST(ServerLogTest, KeepsALimitedNumberOfTimes) {
  ServicePerformanceLog sum;
  ServicePerformanceLog piece;
  (*piece.mutable_fault_logs())["errors"] = LogOfFault(1, 1, 2);
  for (int i = 0; i <= kMaxFaultTimes; ++i) {
    ASSERT_TRUE(MergeServerLog(piece, sum).ok());
  }
  EXPECT_EQ(sum.fault_logs().at("errors").times_size(), kMaxFaultTimes);
  EXPECT_EQ(sum.fault_logs().at("errors").request_count(), kMaxFaultTimes + 1);
}

TEST(ServerLogTest, RefusesDamagedLogs) {
  const auto problem = [](const FaultLog& fault,
                          const AdmissionLog* admission) {
    ServicePerformanceLog sum;
    ServicePerformanceLog piece;
    (*piece.mutable_fault_logs())["errors"] = fault;
    if (admission != nullptr) *piece.mutable_admission_log() = *admission;
    return std::string(MergeServerLog(piece, sum).message());
  };
  EXPECT_THAT(problem(LogOfFault(-1, 0, 0), nullptr),
              HasSubstr("fault errors has a negative count"));
  EXPECT_THAT(problem(LogOfFault(1, 5, 4), nullptr),
              HasSubstr("ends before it begins"));
  AdmissionLog damaged = LogOfAdmission(1);
  damaged.set_refused_count(-1);
  EXPECT_THAT(problem(FaultLog(), &damaged), HasSubstr("negative count"));
  damaged = LogOfAdmission(1);
  damaged.mutable_wait_ns()->set_sum(-1);
  EXPECT_THAT(problem(FaultLog(), &damaged), HasSubstr("wait_ns of admission"));
}

}  // namespace
}  // namespace distbench::results
