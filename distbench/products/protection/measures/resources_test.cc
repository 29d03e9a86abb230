// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/resources.h"

#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/report/testing/report_testing.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

constexpr int kCpuTime = 0;
constexpr int kDeviceBytes = 1;
constexpr int kActivityBytes = 2;

// A run whose node uses so many CPUs in the baseline and beside the antagonist.
ExampleRun RunWithCpus(double baseline, double interference) {
  ExampleRun run = SteadyRun(100, 1'000'000);
  for (ExampleSecond& second : run.seconds) second.cpus_used = baseline;
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->cpus_used = interference;
  }
  return run;
}

RunUses UsesOfRun(const ExampleRun& run) { return UsesOf(ResultOf(run)); }

WorkConservation Conserved(const RunUses& run, const RunUses& alone,
                           size_t resource, double most = 0) {
  return ConservationOf({run}, {alone}, resource, most);
}

TEST(ProtectionResourcesTest, NothingIsWastedIfNoCpuIsIdle) {
  // Both want 0.5 + 2 CPUs, and there are 2.
  const WorkConservation work = Conserved(
      UsesOfRun(RunWithCpus(0.5, 2)), UsesOfRun(RunWithCpus(0, 2)), kCpuTime);
  EXPECT_DOUBLE_EQ(work.share.value_or(-1), 1);
  EXPECT_DOUBLE_EQ(work.subject_alone, 0.5);
  EXPECT_DOUBLE_EQ(work.antagonist_alone, 2);
  EXPECT_DOUBLE_EQ(work.together, 2);
  EXPECT_DOUBLE_EQ(work.possible, 2);
}

TEST(ProtectionResourcesTest, IdleCpusThatWereWantedAreWasted) {
  // Both want 2.5 CPUs and use 1.5, so the idle 0.5 could have been used.
  const WorkConservation work = Conserved(
      UsesOfRun(RunWithCpus(0.5, 1.5)), UsesOfRun(RunWithCpus(0, 2)), kCpuTime);
  EXPECT_DOUBLE_EQ(work.possible, 2);
  EXPECT_DOUBLE_EQ(work.share.value_or(-1), 0.75);
}

TEST(ProtectionResourcesTest, IdleCpusThatNobodyWantsAreNotWasted) {
  // Both want 1 CPU and use 0.8 of 2.
  const WorkConservation work =
      Conserved(UsesOfRun(RunWithCpus(0.5, 0.8)),
                UsesOfRun(RunWithCpus(0, 0.5)), kCpuTime);
  EXPECT_DOUBLE_EQ(work.possible, 1);
  EXPECT_DOUBLE_EQ(work.share.value_or(-1), 0.8);
}

TEST(ProtectionResourcesTest, UnknownRestIsTheMostThatWasSeen) {
  ExampleRun run = RunWithCpus(0, 0);
  for (ExampleSecond& second : run.seconds) second.device_bytes = 100;
  for (ExampleSecond* second : InterferenceOf(run)) second->device_bytes = 300;
  ExampleRun alone = RunWithCpus(0, 0);
  for (ExampleSecond& second : alone.seconds) second.device_bytes = 0;
  for (ExampleSecond* second : InterferenceOf(alone)) {
    second->device_bytes = 500;
  }
  // Of the 600 that both want, 500 were seen to be possible.
  const WorkConservation work =
      Conserved(UsesOfRun(run), UsesOfRun(alone), kDeviceBytes, 500);
  EXPECT_DOUBLE_EQ(work.possible, 500);
  EXPECT_DOUBLE_EQ(work.share.value_or(-1), 0.6);
  EXPECT_EQ(MostUsed({UsesOfRun(run)}, kDeviceBytes), 300);
}

TEST(ProtectionResourcesTest, SaysWhyNothingIsAccounted) {
  const RunUses run = UsesOfRun(RunWithCpus(0.5, 1.5));
  EXPECT_EQ(ConservationOf({run}, {}, kCpuTime, 0).reason,
            "there is no run of the antagonist alone");
  EXPECT_EQ(Conserved(run, run, kDeviceBytes).reason,
            "the nodes have no control groups that count it");
  EXPECT_EQ(Conserved(run, RunUses(), kCpuTime).reason,
            "it was not recorded in all phases");
  EXPECT_EQ(Conserved(run, UsesOfRun(RunWithCpus(0, 0)), kCpuTime).reason,
            "the antagonist alone did not use it");
  for (const WorkConservation& work : {Conserved(run, RunUses(), kCpuTime),
                                       Conserved(run, run, kDeviceBytes)}) {
    EXPECT_EQ(work.share, std::nullopt);
  }
}

TEST(ProtectionResourcesTest, BytesOfActivitiesNeedThoseOfBoth) {
  ExampleRun run = RunWithCpus(0, 0);
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->completed_count = 1;
    second->bytes = 1'000;
  }
  const RunUses uses = UsesOfRun(run);
  EXPECT_EQ(Conserved(uses, uses, kActivityBytes).reason,
            "the subject alone did not use it");
}

TEST(ProtectionResourcesTest, NothingOfWhatWasPossibleIsNotUnaccounted) {
  RunUses run;
  run[kDeviceBytes] = {.baseline = ResourceUse{.used = 100, .unused = {}},
                       .interference = ResourceUse{.used = 0, .unused = {}}};
  RunUses alone;
  alone[kDeviceBytes].interference = ResourceUse{.used = 500, .unused = {}};
  const WorkConservation work = Conserved(run, alone, kDeviceBytes, 500);
  EXPECT_EQ(work.reason, "");
  EXPECT_EQ(work.share, 0);
  EXPECT_EQ(work.possible, 500);
}

TEST(ProtectionResourcesTest,
     GroupsThatDoNotCountBytesHaveUsedNoneThatIsKnown) {
  ExampleRun run = RunWithCpus(0, 0);
  for (ExampleSecond& second : run.seconds) second.device_bytes = 100;
  TestResult result = ResultOf(run);
  auto& node = (*result.mutable_resource_usage_logs()
                     ->mutable_node_resources())["node0"];
  // As after the first 65 536 of a node.
  for (int i = 15; i < 20; ++i) node.mutable_samples(i)->clear_groups();
  EXPECT_EQ(UsesOf(result)[kDeviceBytes].interference->used, 100);
  for (ResourceSample& sample : *node.mutable_samples()) {
    (*sample.mutable_groups())[""].clear_read_bytes();
  }
  EXPECT_FALSE(UsesOf(result)[kDeviceBytes].interference.has_value());
}

TEST(ProtectionResourcesTest, WorkIsThatUntilTheRunFailed) {
  ExampleRun run = RunWithCpus(0, 0);
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->completed_count = 1;
    second->bytes = 1'000;
  }
  run.seconds.resize(14);
  TestResult result = ResultOf(run);
  result.mutable_run_info()->set_failure("server/0 was killed");
  result.mutable_run_info()->set_end_timestamp_ns((kExampleStartSecond + 14) *
                                                  base::kNsPerSecond);
  ASSERT_TRUE(UsesOf(result)[kActivityBytes].interference.has_value());
  EXPECT_EQ(UsesOf(result)[kActivityBytes].interference->used, 1'000);
  // What the activities of a lost engine did is not known.
  (*result.mutable_service_logs()->mutable_instance_logs())["server/0"]
      .set_measurements_end_timestamp_ns(0);
  EXPECT_FALSE(UsesOf(result)[kActivityBytes].interference.has_value());
}

TEST(ProtectionResourcesTest, TheMainResourceIsThatOfTheAntagonist) {
  WorkConservation cpu;
  cpu.resource = WorkResource::kCpuTime;
  cpu.subject_alone = 1;
  cpu.antagonist_alone = 0.5;
  cpu.share = 1;
  WorkConservation device;
  device.resource = WorkResource::kDeviceBytes;
  device.subject_alone = 10;
  device.antagonist_alone = 1000;
  device.share = 0.4;
  WorkConservation unknown;
  unknown.resource = WorkResource::kActivityBytes;
  unknown.antagonist_alone = 1e9;
  const std::vector<WorkConservation> all = {cpu, device, unknown};
  EXPECT_EQ(MainConservation(all), &all[1]);
  EXPECT_EQ(MainConservation({}), nullptr);
}

TEST(ProtectionResourcesTest, OnlyNodesThatBothShareCount) {
  TestResult result = ResultOf(RunWithCpus(0.5, 1.5));
  auto& nodes = *result.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node1"] = nodes["node0"];
  auto& endpoints = *result.mutable_placement()->mutable_service_endpoints();
  endpoints["client/0"].set_node_alias("node1");
  ASSERT_TRUE(UsesOf(result)[kCpuTime].interference.has_value());
  EXPECT_EQ(UsesOf(result)[kCpuTime].interference->used, 1.5);
  // A second node on the same host has the same idle time.
  endpoints["antagonist_hog/1"].set_node_alias("node1");
  EXPECT_EQ(UsesOf(result)[kCpuTime].interference->used, 3);
  EXPECT_DOUBLE_EQ(UsesOf(result)[kCpuTime].interference->unused.value_or(-1),
                   0.5);
}

TEST(ProtectionUsageTest, AddsUpGroupsByWorker) {
  const TestResult result = report::ResultFromText(R"(
    resource_usage_logs { node_resources { key: "n" value {
      samples {
        end_timestamp_ns: 11400000000 duration_ns: 1000000000
        groups { key: "" value { cpu_ns: 9000000000 } }
        groups { key: "server/0" value {
          cpu_ns: 500000000 memory_bytes: 10 some_memory_pressure_ns: 250000000
        } }
        groups { key: "server/1" value {
          cpu_ns: 250000000 memory_bytes: 20 some_memory_pressure_ns: 500000000
        } }
        groups { key: "antagonist_hog/0" value { swap_bytes: 7 } }
        host_counters { io_pressure_ns: 100000000 }
      }
      samples { end_timestamp_ns: 12000000000 duration_ns: 0 }
    } } })");
  const auto usage = UsageBySecond(result, base::kNsPerSecond);
  ASSERT_EQ(usage.size(), 1);
  // The middle of the sample is in second 10.
  const SecondUsage& second = usage.at(10);
  EXPECT_EQ(second.subject.cpus, 0.75);
  EXPECT_EQ(second.subject.memory_bytes, 30);
  EXPECT_EQ(second.subject.swap_bytes, std::nullopt);
  EXPECT_EQ(second.subject.pressure.memory, 0.5);
  EXPECT_EQ(second.subject.pressure.io, std::nullopt);
  EXPECT_EQ(second.antagonist.cpus, std::nullopt);
  EXPECT_EQ(second.antagonist.swap_bytes, 7);
  EXPECT_EQ(second.host_pressure.io, 0.1);
}

// As in an interval of two seconds, or if one of two samples was late.
TEST(ProtectionUsageTest, SeveralSamplesOfAnIntervalAreNotSeveralUses) {
  const TestResult result = report::ResultFromText(R"(
    resource_usage_logs { node_resources { key: "n" value {
      samples {
        end_timestamp_ns: 11000000000 duration_ns: 1000000000
        groups { key: "server/0" value {
          cpu_ns: 500000000 memory_bytes: 10 some_io_pressure_ns: 100000000
        } }
        host_counters { io_pressure_ns: 100000000 }
      }
      samples {
        end_timestamp_ns: 12000000000 duration_ns: 1000000000
        groups { key: "server/0" value {
          cpu_ns: 1000000000 memory_bytes: 30 some_io_pressure_ns: 300000000
        } }
        host_counters { io_pressure_ns: 500000000 }
      }
    } } })");
  const auto usage = UsageBySecond(result, 2 * base::kNsPerSecond);
  ASSERT_EQ(usage.size(), 1);
  const SecondUsage& interval = usage.at(5);
  EXPECT_EQ(interval.subject.cpus, 0.75);
  EXPECT_EQ(interval.subject.memory_bytes, 30);
  EXPECT_EQ(interval.subject.pressure.io, 0.2);
  EXPECT_EQ(interval.host_pressure.io, 0.3);
}

}  // namespace
}  // namespace distbench::protection
