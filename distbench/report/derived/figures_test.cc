// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/derived/figures.h"

#include <limits>
#include <optional>

#include "distbench/report/testing/report_testing.h"
#include "gtest/gtest.h"
#include "proto/report.pb.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

stats::LogHistogram Times(int count, int64_t ns) {
  stats::LogHistogram times;
  times.RecordN(ns, count);
  return times;
}

TEST(SetTimesTest, SetsWhatTheMessageHasFieldsFor) {
  Report::RpcTimes times;
  SetTimes(Times(2000, 100), times);
  EXPECT_EQ(times.min_ns(), 100);
  EXPECT_EQ(times.mean_ns(), 100);
  EXPECT_EQ(times.p50_ns(), 100);
  EXPECT_EQ(times.p999_ns(), 100);
  EXPECT_EQ(times.max_ns(), 100);
  EXPECT_FALSE(times.has_p9999_ns()) << "2000 values do not support it";
}

TEST(SetTimesTest, OfNothingThereIsNothing) {
  Report::PairTimes times;
  SetTimes(stats::LogHistogram(), times);
  EXPECT_EQ(times.ShortDebugString(), "");
}

TEST(SetTimesTest, PercentilesAmongFailuresAreAbsentAndSaidToBe) {
  Report::TrafficTimes times;
  const stats::LogHistogram succeeded = Times(975, 100);
  SetTimes({succeeded, 25}, times);
  EXPECT_EQ(times.p50_ns(), 100);
  EXPECT_FALSE(times.has_p99_ns());
  EXPECT_EQ(times.failed_above_percent(), 97.5);
  times.Clear();
  SetTimes({succeeded, 0}, times);
  EXPECT_TRUE(times.has_p99_ns());
  EXPECT_FALSE(times.has_failed_above_percent());
}

// From there on, exactly: the 99 % of 100 of which one failed is the failure.
TEST(SetTimesTest, FailuresBeginWhereTheQuantilesDo) {
  const stats::LogHistogram succeeded = Times(99, 100);
  Report::PairTimes times;
  SetTimes({succeeded, 1}, times);
  EXPECT_FALSE(times.has_p99_ns());
  EXPECT_EQ(FailedAbovePercent(100, 1), 99);
  EXPECT_EQ(FailedAbovePercent(1000, 1), 99.9);
  EXPECT_EQ(FailedAbovePercent(100, 0), std::nullopt);
  EXPECT_EQ(FailedAbovePercent(3, 3), 0);
}

TEST(SetTimesTest, ValuesWithoutAHistogramHaveNoPercentiles) {
  stats::RunningMoments others;
  others.count = 1;
  others.min = others.max = 50;
  others.sum = 50;
  Report::PairTimes times;
  SetTimes(Times(3, 10), times, others);
  EXPECT_EQ(times.mean_ns(), 20);
  EXPECT_EQ(times.max_ns(), 50);
  EXPECT_FALSE(times.has_p50_ns());
}

TEST(SetFigureTest, InfinityIsWhatFailed) {
  Report::Objective objective;
  SetFigure(5.0, "measured", "failed", objective);
  SetFigure(std::numeric_limits<double>::infinity(), "upper", "upper_failed",
            objective);
  SetFigure(std::nullopt, "lower", "lower_failed", objective);
  EXPECT_EQ(objective.ShortDebugString(), "measured: 5 upper_failed: true");
}

TEST(CopyByNameTest, CopiesWhatBothHave) {
  HostFacts facts;
  facts.set_hostname("h");
  facts.set_online_cpu_count(8);
  facts.add_idle_states("POLL");
  facts.add_network_devices()->set_mtu(1500);
  facts.mutable_control_groups()->set_version(2);
  (*facts.mutable_versions())["grpc"] = "1.51";
  Report::Host host;
  CopyByName(facts, host);
  EXPECT_EQ(host.ShortDebugString(),
            "hostname: \"h\" network_devices { mtu: 1500 } "
            "control_groups { version: 2 } idle_states: \"POLL\" "
            "versions { key: \"grpc\" value: \"1.51\" }");
}

TEST(CopyByNameTest, WidensNumbersAndLeavesOtherTypesAlone) {
  BindingProof proof;
  proof.mutable_binding()->set_cpus("0");
  (*proof.mutable_resident_bytes_by_node())[1] = 7;
  Report::Binding binding;
  CopyByName(proof, binding);
  EXPECT_EQ(binding.ShortDebugString(),
            "resident_bytes_by_node { key: 1 value: 7 }");
  CpuUse use;
  use.set_cpu(3);
  Report::CpuTable::Row row;
  CopyByName(use, row);
  EXPECT_EQ(row.cpu(), 3);
}

}  // namespace
}  // namespace distbench::report
