// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "distbench/numa/memory_watch.h"
#include "distbench/numa/testing/fake_host.h"
#include "distbench/numa/thread_watch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int64_t kMs = 1'000'000;

TEST(ThreadUsageTest, ReadsTheFilesOfAThread) {
  FakeHost host;
  host.PutThread({.id = 7,
                  .cpu_ns = 5 * kMs,
                  .last_cpu = 3,
                  .allowed_cpus = "2-3",
                  .voluntary = 11,
                  .involuntary = 2,
                  .migrations = 4});
  EXPECT_THAT(ReadThreadIds(host.root(), 0), ElementsAre(7));
  const auto usage = ReadThreadUsage(host.root(), 0, 7);
  ASSERT_TRUE(usage.has_value());
  EXPECT_EQ(usage->cpu_ns, 5 * kMs);
  EXPECT_EQ(usage->last_cpu, 3);
  EXPECT_THAT(usage->allowed_cpus, ElementsAre(2, 3));
  EXPECT_EQ(usage->voluntary_context_switches, 11);
  EXPECT_EQ(usage->involuntary_context_switches, 2);
  EXPECT_EQ(usage->cpu_migrations, 4);
  EXPECT_FALSE(ReadThreadUsage(host.root(), 0, 8).has_value());
}

TEST(ThreadUsageTest, ThisThread) {
  for (const int id : ReadThreadIds("", 0)) {
    const auto usage = ReadThreadUsage("", 0, id);
    if (!usage.has_value()) continue;
    EXPECT_TRUE(usage->allowed_cpus.contains(usage->last_cpu));
  }
}

TEST(ThreadWatchTest, CpuTimeBelongsToTheCpuThatASampleFinds) {
  FakeHost host;
  host.PutThread({.id = 1,
                  .cpu_ns = 100 * kMs,
                  .allowed_cpus = "0-3",
                  .voluntary = 10,
                  .migrations = 5});
  host.PutThread(
      {.id = 2, .cpu_ns = 0, .allowed_cpus = "0-3", .migrations = 0});
  ThreadWatch watch(host.root());
  watch.AddThreads({1, 2});
  watch.Start();
  host.PutThread({.id = 1,
                  .cpu_ns = 130 * kMs,
                  .last_cpu = 2,
                  .allowed_cpus = "0-3",
                  .voluntary = 15,
                  .migrations = 6});
  watch.Sample();
  host.PutThread({.id = 1,
                  .cpu_ns = 150 * kMs,
                  .last_cpu = 3,
                  .allowed_cpus = "0-3",
                  .voluntary = 17,
                  .migrations = 8});
  host.RemoveThread(2);
  watch.Sample();
  BindingProof proof;
  watch.Report(proof);
  EXPECT_THAT(proof.cpu_time_ns_by_cpu(),
              UnorderedElementsAre(Pair(2, 30 * kMs), Pair(3, 20 * kMs)));
  EXPECT_EQ(proof.voluntary_context_switches(), 7);
  EXPECT_EQ(proof.cpu_migrations(), 3);
  EXPECT_THAT(watch.Violations({0, 1, 2, 3}), IsEmpty());
}

TEST(ThreadWatchTest, MigrationsThatNobodyCountsAreAbsent) {
  FakeHost host;
  host.PutThread({.id = 1, .allowed_cpus = "0"});
  ThreadWatch watch(host.root());
  watch.AddThreads({1});
  watch.Start();
  watch.Sample();
  BindingProof proof;
  watch.Report(proof);
  EXPECT_TRUE(proof.has_voluntary_context_switches());
  EXPECT_FALSE(proof.has_cpu_migrations());
}

TEST(ThreadWatchTest, NoticesThreadsThatRanElsewhere) {
  FakeHost host;
  host.PutThread({.id = 1, .allowed_cpus = "0-1"});
  ThreadWatch watch(host.root());
  watch.AddThreads({1});
  watch.Start();
  host.PutThread(
      {.id = 1, .cpu_ns = 3 * kMs, .last_cpu = 6, .allowed_cpus = "0-7"});
  watch.Sample();
  EXPECT_THAT(watch.Violations({0, 1}),
              ElementsAre("its threads spent 3000 us on CPUs 6, outside of 0-1",
                          "1 of its threads could run on CPUs 2-7 as well"));
}

class MemoryWatchTest : public ::testing::Test {
 protected:
  MemoryWatchTest() {
    host_.AddNodes({{.id = 0, .cpus = "0"}, {.id = 1, .cpus = "1"}});
    host_.PutNumastat(0, 100, 0);
    host_.PutNumastat(1, 200, 5);
  }

  // Pages of 4 KiB.
  void PutPages(int64_t on_node_0, int64_t on_node_1) {
    host_.PutNumaMaps(
        {"55d9 default file=/bin/x mapped=2 N0=9999 kernelpagesize_kB=4",
         "7f00 default heap anon=9 N0=" + std::to_string(on_node_0) +
             " kernelpagesize_kB=4",
         "7f10 bind:1 anon=9 dirty=9 N1=" + std::to_string(on_node_1) +
             " kernelpagesize_kB=4"});
  }

  FakeHost host_;
};

TEST_F(MemoryWatchTest, ReportsPagesAndCounters) {
  host_.PutNumaMaps({"7f00 default anon=9 N0=3 N1=2 kernelpagesize_kB=4",
                     "7f01 default huge anon=1 N1=1 kernelpagesize_kB=2048",
                     "garbage", ""});
  MemoryWatch watch(host_.root());
  watch.Start();
  host_.PutNumastat(1, 260, 6);
  watch.Finish();
  BindingProof proof;
  watch.Report(proof);
  EXPECT_THAT(
      proof.resident_bytes_by_node(),
      UnorderedElementsAre(Pair(0, 3 * 4096), Pair(1, 2 * 4096 + 2048 * 1024)));
  EXPECT_EQ(proof.numa_counters_by_node().at(1).hit(), 60);
  EXPECT_EQ(proof.numa_counters_by_node().at(1).miss(), 1);
  EXPECT_EQ(proof.numa_counters_by_node().at(0).hit(), 0);
}

TEST_F(MemoryWatchTest, MemoryBeforeTheBaselineDoesNotCount) {
  PutPages(5000, 0);
  MemoryWatch watch(host_.root());
  watch.NoteBaseline();
  watch.Start();
  PutPages(5100, 10'000);
  watch.Finish();
  EXPECT_THAT(watch.Violations({1}), IsEmpty());
  watch.CountAll();
  EXPECT_THAT(watch.Violations({1}),
              ElementsAre("20400 of 60400 KiB of the process's memory are on "
                          "NUMA nodes 0, outside of 1"));
}

TEST_F(MemoryWatchTest, NoticesMemoryThatGrewElsewhere) {
  PutPages(1000, 1000);
  MemoryWatch watch(host_.root());
  watch.NoteBaseline();
  watch.Start();
  PutPages(9000, 1000);
  watch.Finish();
  EXPECT_THAT(watch.Violations({1}),
              ElementsAre("32000 of 32000 KiB of the process's memory are on "
                          "NUMA nodes 0, outside of 1"));
  EXPECT_THAT(watch.Violations({0, 1}), IsEmpty());
}

TEST(ProcessMemoryTest, ThisProcess) {
  for (const auto& [node, bytes] : ReadResidentBytesByNode("", 0)) {
    EXPECT_GT(bytes, 0) << node;
  }
}

}  // namespace
}  // namespace distbench::numa
