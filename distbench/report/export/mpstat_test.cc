// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/mpstat.h"

#include <string>
#include <vector>

#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of a host with two CPUs, unless `cpus` says otherwise.
std::string Mpstat(const std::string& samples,
                   const std::string& cpus = "online_cpu_count: 2") {
  const std::vector<SourcedResults> results = Sourced({ResultFromText(
      R"(traffic_config { name: "t" }
         resource_usage_logs {
           node_resources {
             key: "n"
             value {
               host {
                 hostname: "h" kernel: "Linux 6.1 x86_64" )" +
      cpus + " } " + samples + "} } }")});
  return RenderMpstat(ListRuns(results));
}

TEST(MpstatTest, PrintsWhatMpstatWould) {
  EXPECT_EQ(Mpstat(R"(
                samples {
                  end_timestamp_ns: 1700000001000000000
                  cpus {
                    cpu: 0 user_ns: 300 nice_ns: 100 system_ns: 100
                    iowait_ns: 50 irq_ns: 20 softirq_ns: 30 steal_ns: 100
                    idle_ns: 400
                  }
                  cpus { cpu: 1 idle_ns: 1000 }
                })"),
            "# file.pb: t, repetition 0, n\n"
            "Linux 6.1 (h)\t11/14/2023\t_x86_64_\t(2 CPU)\n"
            "\n"
            "22:13:21     CPU    %usr   %nice    %sys %iowait    %irq   %soft "
            " %steal   %idle\n"
            "22:13:21     all   10.00    5.00    5.00    2.50    1.00    1.50 "
            "   5.00   70.00\n"
            "22:13:21       0   20.00   10.00   10.00    5.00    2.00    3.00 "
            "  10.00   40.00\n"
            "22:13:21       1    0.00    0.00    0.00    0.00    0.00    0.00 "
            "   0.00  100.00\n"
            "\n"
            "Average:     CPU    %usr   %nice    %sys %iowait    %irq   %soft "
            " %steal   %idle\n"
            "Average:     all   10.00    5.00    5.00    2.50    1.00    1.50 "
            "   5.00   70.00\n"
            "Average:       0   20.00   10.00   10.00    5.00    2.00    3.00 "
            "  10.00   40.00\n"
            "Average:       1    0.00    0.00    0.00    0.00    0.00    0.00 "
            "   0.00  100.00\n");
}

// As results of older versions and of simulations do.
TEST(MpstatTest, AHostMayOnlySayWhichCpusItsNodeMayUse) {
  EXPECT_THAT(Mpstat("samples { cpus { cpu: 0 idle_ns: 1 } }", "cpu_count: 4"),
              HasSubstr("\t(4 CPU)\n"));
}

TEST(MpstatTest, AveragesOverTime) {
  EXPECT_THAT(Mpstat("samples { cpus { cpu: 0 user_ns: 900 idle_ns: 100 } }"
                     "samples { cpus { cpu: 0 user_ns: 100 idle_ns: 900 } }"),
              HasSubstr("Average:       0   50.00"));
}

TEST(MpstatTest, IntervalsWithoutCpusAreLeftOut) {
  const std::string text = Mpstat("samples { end_timestamp_ns: 1 }");
  EXPECT_THAT(text, HasSubstr("Linux 6.1 (h)"));
  EXPECT_THAT(text, Not(HasSubstr("%usr")));
}

TEST(MpstatTest, DamagedTimesAreNotPrinted) {
  const std::string text =
      Mpstat("samples { cpus { cpu: 0 user_ns: -5 nice_ns: 10 idle_ns: -1 } }");
  EXPECT_THAT(text, HasSubstr("Average:       0    0.00  100.00"));
}

}  // namespace
}  // namespace distbench::report
