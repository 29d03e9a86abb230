// Tests what samples say of control groups, and of the waits of a host's tasks.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/node/resource_sampler.h"
#include "distbench/node/testing/resource_sampler_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::SizeIs;

// What groups have used so far.
std::map<std::string, GroupUse> Used(int64_t cpu_ns, int64_t memory_bytes) {
  std::map<std::string, GroupUse> groups;
  for (const char* name : {"", "client/0"}) {
    groups[name].set_cpu_ns(cpu_ns);
    groups[name].set_memory_bytes(memory_bytes);
  }
  return groups;
}

TEST_F(ResourceSamplerTest, GroupsHaveWhatTheyUsedInBetween) {
  std::map<std::string, GroupUse> used = Used(100, 7);
  ResourceSampler::Options options = Options();
  options.group_use = [&] { return used; };
  ResourceSampler sampler(options);
  sampler.Start();
  used = Used(130, 5);
  used["late/0"].set_cpu_ns(9);
  clock_.Advance(kSecond);
  sampler.Sample();
  const auto& groups = sampler.samples().at(0).groups();
  ASSERT_THAT(groups, SizeIs(2)) << "one was not there at the start";
  EXPECT_EQ(groups.at("").cpu_ns(), 30);
  EXPECT_EQ(groups.at("client/0").cpu_ns(), 30);
  EXPECT_EQ(groups.at("client/0").memory_bytes(), 5) << "at the end";
}

TEST_F(ResourceSamplerTest, MergedIntervalsHaveTheSumOfTheGroups) {
  int64_t cpu_ns = 0;
  ResourceSampler::Options options = Options();
  options.max_samples = 2;
  options.group_use = [&] {
    cpu_ns += 10;
    return Used(cpu_ns, 1000 - cpu_ns);
  };
  ResourceSampler sampler(options);
  sampler.Start();
  for (int i = 0; i < 2; ++i) {
    clock_.Advance(kSecond);
    sampler.Sample();
  }
  ASSERT_THAT(sampler.samples(), SizeIs(1));
  const GroupUse& merged = sampler.samples()[0].groups().at("client/0");
  EXPECT_EQ(merged.cpu_ns(), 20);
  EXPECT_EQ(merged.memory_bytes(), 970) << "that of the last reading";
}

TEST_F(ResourceSamplerTest, MemoryForGroupsIsBounded) {
  int readings = 0;
  ResourceSampler::Options options = Options();
  options.max_group_uses = 3;
  options.group_use = [&] {
    ++readings;
    return Used(0, 0);
  };
  ResourceSampler sampler(options);
  sampler.Start();
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(kSecond);
    sampler.Sample();
  }
  EXPECT_THAT(sampler.samples().at(1).groups(), SizeIs(2));
  EXPECT_THAT(sampler.samples().at(2).groups(), SizeIs(0));
  EXPECT_EQ(readings, 3) << "reading them takes time";
}

TEST_F(ResourceSamplerTest, CountsThrottlingByGroupsOfVersion2AndThoseAbove) {
  Write("/proc/self/cgroup", "0::/pod/node\n");
  Write("/sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  Write("/sys/fs/cgroup/pod/cpu.stat", "nr_throttled 1\nthrottled_usec 10\n");
  const std::string stat = "/sys/fs/cgroup/pod/node/cpu.stat";
  Write(stat, "usage_usec 5\nnr_throttled 2\nthrottled_usec 300\n");
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  Write("/sys/fs/cgroup/pod/cpu.stat", "nr_throttled 2\nthrottled_usec 11\n");
  Write(stat, "usage_usec 9\nnr_throttled 5\nthrottled_usec 700\n");
  sampler.Sample();
  const HostCounters& counters = sampler.samples().at(0).host_counters();
  EXPECT_EQ(counters.throttled_count(), 4);
  EXPECT_EQ(counters.throttled_ns(), 401'000);
}

TEST_F(ResourceSamplerTest, CountsThrottlingByGroupsOfVersion1) {
  Write("/proc/self/cgroup", "2:cpu,cpuacct:/pod\n1:memory:/pod\n");
  const std::string stat = "/sys/fs/cgroup/cpu/pod/cpu.stat";
  Write(stat, "nr_periods 9\nnr_throttled 2\nthrottled_time 300\n");
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  Write(stat, "nr_periods 19\nnr_throttled 3\nthrottled_time 750\n");
  sampler.Sample();
  const HostCounters& counters = sampler.samples().at(0).host_counters();
  EXPECT_EQ(counters.throttled_count(), 1);
  EXPECT_EQ(counters.throttled_ns(), 450);
}

TEST_F(ResourceSamplerTest, MeasuresPressure) {
  const auto set = [this](const std::string& resource, int64_t some_us) {
    Write("/proc/pressure/" + resource,
          absl::StrCat("some avg10=1.00 avg60=2.00 avg300=3.00 total=", some_us,
                       "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"));
  };
  set("cpu", 100);
  set("memory", 200);
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  set("cpu", 103);
  set("memory", 205);
  sampler.Sample();
  const HostCounters& counters = sampler.samples().at(0).host_counters();
  EXPECT_EQ(counters.cpu_pressure_ns(), 3000);
  EXPECT_EQ(counters.memory_pressure_ns(), 5000);
  EXPECT_FALSE(counters.has_io_pressure_ns()) << "the host does not count it";
  set("io", 50);
  for (const int64_t total_us : {60, 67}) {
    clock_.Advance(kSecond);
    set("io", total_us);
    sampler.Sample();
  }
  EXPECT_EQ(sampler.samples().at(2).host_counters().io_pressure_ns(), 7000);
}

TEST_F(ResourceSamplerTest, AddsUpHowLongThreadsWaitedForACpu) {
  const auto set = [this](const std::string& thread, int64_t delay_ns) {
    Write(absl::StrCat("/proc/", thread, "/schedstat"),
          absl::StrCat("123456 ", delay_ns, " 7\n"));
  };
  set("self/task/10", 100);
  set("self/task/11", 5000);
  set("70/task/70", 1000);
  set("80/task/80", 0);
  ResourceSampler::Options options = Options();
  options.engine_processes = [] { return std::set<pid_t>{70}; };
  ResourceSampler sampler(options);
  sampler.Start();
  clock_.Advance(kSecond);
  set("self/task/10", 101);
  std::filesystem::remove_all(root_ + "/proc/self/task/11");
  set("70/task/70", 1020);
  set("70/task/71", 300);
  set("80/task/80", 4000);
  sampler.Sample();
  EXPECT_EQ(sampler.samples().at(0).run_queue_delay_ns(), 321)
      << "of this process, the engine and its new thread; a thread that ended "
         "takes nothing away; process 80 is someone else's";
}

}  // namespace
}  // namespace distbench::node
