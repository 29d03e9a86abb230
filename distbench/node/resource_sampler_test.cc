// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/resource_sampler.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/node/testing/resource_sampler_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST_F(ResourceSamplerTest, MeasuresWhatWasUsedInBetween) {
  usage_.set_user_cpu_time_seconds(1);
  usage_.set_voluntary_context_switches(10);
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  const int64_t ticks = sysconf(_SC_CLK_TCK);
  SetHost(1000 + ticks / 2, 9000);
  usage_.set_user_cpu_time_seconds(1.25);
  usage_.set_system_cpu_time_seconds(0.125);
  usage_.set_voluntary_context_switches(17);
  usage_.set_involuntary_context_switches(3);
  sampler.Sample();
  ASSERT_THAT(sampler.samples(), SizeIs(1));
  const ResourceSample& sample = sampler.samples()[0];
  EXPECT_EQ(sample.end_timestamp_ns(), clock_.UnixNs());
  EXPECT_EQ(sample.duration_ns(), kSecond);
  EXPECT_EQ(sample.process_cpu_ns(), 375'000'000);
  EXPECT_EQ(sample.host_cpu_ns(), kSecond / 2);
  EXPECT_EQ(sample.resident_bytes(), 25 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(sample.host_available_memory_bytes(), 12000 * 1024);
  EXPECT_EQ(sample.voluntary_context_switches(), 7);
  EXPECT_EQ(sample.involuntary_context_switches(), 3);
  const NetworkCounters& eth0 = sample.network().at("eth0");
  EXPECT_EQ(eth0.received_bytes(), 4000);
  EXPECT_EQ(eth0.sent_bytes(), 0);
  EXPECT_EQ(sample.network().at("lo").received_bytes(), 0);
}

TEST_F(ResourceSamplerTest, SplitsTheHostsCpuTimeByUse) {
  Write("/proc/stat",
        "cpu  10 20 30 40 50 60 70 80 0 0\n"
        "cpu0 10 20 30 40 50 60 70 80 0 0\n"
        "cpu1 0 0 0 0 0 0 0 0 0 0\n"
        "intr 99 98 97 96 95 94 93 92 91\n");
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  Write("/proc/stat",
        "cpu  11 22 34 48 66 92 134 208 5 5\n"
        "cpu0 10 20 31 41 51 61 71 81 0 0\n"
        "cpu1 1 2 3 7 15 31 63 127 5 5\n");
  sampler.Sample();
  const ResourceSample& sample = sampler.samples().at(0);
  const HostCounters& counters = sample.host_counters();
  const int64_t tick_ns = kSecond / sysconf(_SC_CLK_TCK);
  EXPECT_EQ(counters.user_cpu_ns(), 3 * tick_ns) << "with nice";
  EXPECT_EQ(counters.system_cpu_ns(), 4 * tick_ns);
  EXPECT_EQ(counters.idle_cpu_ns(), 8 * tick_ns);
  EXPECT_EQ(counters.iowait_cpu_ns(), 16 * tick_ns);
  EXPECT_EQ(counters.irq_cpu_ns(), 32 * tick_ns);
  EXPECT_EQ(counters.softirq_cpu_ns(), 64 * tick_ns);
  EXPECT_EQ(counters.steal_cpu_ns(), 128 * tick_ns);
  EXPECT_EQ(sample.host_cpu_ns(), (3 + 4 + 32 + 64) * tick_ns)
      << "neither stolen nor idle time is the host's work";
  EXPECT_EQ(sample.busiest_cpu_ns(), (1 + 2 + 3 + 31 + 63) * tick_ns) << "cpu1";
  ASSERT_THAT(sample.cpus(), SizeIs(2));
  EXPECT_EQ(sample.cpus(0).cpu(), 0);
  EXPECT_EQ(sample.cpus(0).user_ns(), 0);
  const CpuUse& cpu1 = sample.cpus(1);
  EXPECT_EQ(cpu1.cpu(), 1);
  EXPECT_EQ(cpu1.user_ns(), 3 * tick_ns);
  EXPECT_EQ(cpu1.nice_ns(), 2 * tick_ns);
  EXPECT_EQ(cpu1.system_ns(), 3 * tick_ns);
  EXPECT_EQ(cpu1.idle_ns(), 7 * tick_ns);
  EXPECT_EQ(cpu1.iowait_ns(), 15 * tick_ns);
  EXPECT_EQ(cpu1.irq_ns(), 31 * tick_ns);
  EXPECT_EQ(cpu1.softirq_ns(), 63 * tick_ns);
  EXPECT_EQ(cpu1.steal_ns(), 127 * tick_ns);
}

TEST_F(ResourceSamplerTest, HardwareEventsAndEnergyOfTheInterval) {
  const std::string zone = "/sys/class/powercap/intel-rapl:0/";
  Write(zone + "name", "package-0\n");
  Write(zone + "max_energy_range_uj", "1000000\n");
  Write(zone + "energy_uj", "999000\n");
  HardwareCounters totals;
  totals.set_cycles(1000);
  ResourceSampler::Options options = Options();
  options.hardware_counters = [&] { return totals; };
  ResourceSampler sampler(options);
  sampler.Start();
  clock_.Advance(kSecond);
  totals.set_cycles(1500);
  Write(zone + "energy_uj", "4000\n");
  sampler.Sample();
  const ResourceSample& sample = sampler.samples().at(0);
  EXPECT_EQ(sample.hardware_counters().cycles(), 500);
  EXPECT_FALSE(sample.hardware_counters().has_instructions());
  EXPECT_EQ(sample.energy_uj().at("package-0"), 5000);
}

TEST_F(ResourceSamplerTest, WithoutCountersThereAreNoNumbers) {
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  sampler.Sample();
  EXPECT_FALSE(sampler.samples().at(0).has_hardware_counters());
  EXPECT_TRUE(sampler.samples().at(0).energy_uj().empty());
}

// Sets up CPUs of which only these are online.
std::string CpuLines(const std::vector<int>& cpus) {
  std::string lines = "cpu  1 2 3 4 5 6 7 8 0 0\n";
  for (const int cpu : cpus) {
    absl::StrAppend(&lines, "cpu", cpu, " 1 2 3 4 5 6 7 8 0 0\n");
  }
  return lines;
}

std::vector<int> CpusOf(const ResourceSample& sample) {
  std::vector<int> cpus;
  for (const CpuUse& use : sample.cpus()) cpus.push_back(use.cpu());
  return cpus;
}

TEST_F(ResourceSamplerTest, CpusAreInTheOrderOfTheirNumbers) {
  Write("/proc/stat", CpuLines({0, 1, 2, 9, 10, 11}));
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  Write("/proc/stat", CpuLines({0, 2, 3, 9, 10, 11}));
  sampler.Sample();
  EXPECT_THAT(CpusOf(sampler.samples().at(0)), ElementsAre(0, 2, 9, 10, 11))
      << "CPU 3 was not online at the start, and CPU 1 is not any more";
}

TEST_F(ResourceSamplerTest, MemoryForSingleCpusIsBounded) {
  Write("/proc/stat", CpuLines({0, 1}));
  ResourceSampler::Options options = Options();
  options.max_cpu_uses = 5;
  ResourceSampler sampler(options);
  sampler.Start();
  for (int i = 0; i < 4; ++i) {
    clock_.Advance(kSecond);
    sampler.Sample();
  }
  std::vector<size_t> counts;
  for (const ResourceSample& sample : sampler.samples()) {
    counts.push_back(sample.cpus_size());
    EXPECT_TRUE(sample.has_busiest_cpu_ns());
  }
  EXPECT_THAT(counts, ElementsAre(2, 2, 0, 0));
  sampler.Start();
  clock_.Advance(kSecond);
  sampler.Sample();
  EXPECT_THAT(sampler.samples().at(0).cpus(), SizeIs(2));
}

// A sample of the data connections with some segments and a mean time.
DataConnections Connections(int64_t segments, int64_t mean_rtt_ns) {
  DataConnections connections;
  connections.set_connection_count(3);
  connections.set_sent_segments(segments);
  connections.set_retransmitted_segments(segments / 10);
  connections.set_congestion_marked_segments(segments / 20);
  connections.set_mean_rtt_ns(mean_rtt_ns);
  connections.set_max_rtt_ns(2 * mean_rtt_ns);
  return connections;
}

TEST_F(ResourceSamplerTest, MergedIntervalsHaveTheSumOfTheConnections) {
  std::vector<std::optional<DataConnections>> readings = {
      Connections(200, 1000), Connections(300, 3000), std::nullopt,
      Connections(500, 5000)};
  size_t next = 0;
  ResourceSampler::Options options = Options();
  options.max_samples = 4;
  options.data_connections = [&] { return readings.at(next++); };
  ResourceSampler sampler(options);
  sampler.Start();
  EXPECT_EQ(next, 0u);
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(kSecond);
    sampler.Sample();
  }
  EXPECT_EQ(sampler.samples()[1].data_connections().sent_segments(), 300);
  EXPECT_FALSE(sampler.samples()[2].has_data_connections());
  clock_.Advance(kSecond);
  sampler.Sample();
  ASSERT_THAT(sampler.samples(), SizeIs(2));
  EXPECT_FALSE(sampler.samples()[0].cpus_size() > 0) << "of different seconds";
  const DataConnections& first = sampler.samples()[0].data_connections();
  EXPECT_EQ(first.connection_count(), 3);
  EXPECT_EQ(first.sent_segments(), 500);
  EXPECT_EQ(first.retransmitted_segments(), 50);
  EXPECT_EQ(first.congestion_marked_segments(), 25);
  EXPECT_EQ(first.mean_rtt_ns(), 2000);
  EXPECT_EQ(first.max_rtt_ns(), 6000);
  const DataConnections& second = sampler.samples()[1].data_connections();
  EXPECT_EQ(second.sent_segments(), 500);
  EXPECT_EQ(second.mean_rtt_ns(), 5000);
}

TEST_F(ResourceSamplerTest, CountsTcpSegments) {
  const auto set = [this](int64_t sent, int64_t retransmitted) {
    Write("/proc/net/snmp",
          absl::StrCat("Ip: Forwarding OutSegs\nIp: 1 99999\n"
                       "Tcp: RtoAlgorithm InSegs OutSegs RetransSegs InErrs\n"
                       "Tcp: 1 5 ",
                       sent, " ", retransmitted, " 0\n"));
  };
  set(1000, 10);
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  set(1500, 13);
  sampler.Sample();
  const HostCounters& counters = sampler.samples().at(0).host_counters();
  EXPECT_EQ(counters.tcp_sent_segments(), 500);
  EXPECT_EQ(counters.tcp_retransmitted_segments(), 3);
}

TEST_F(ResourceSamplerTest, IntervalsAreAsLongAsTheyShouldBe) {
  ResourceSampler sampler(Options());
  sampler.Start();
  sampler.Sample();
  clock_.Advance(kSecond / 2);
  sampler.Sample();
  EXPECT_THAT(sampler.samples(), SizeIs(0));
  sampler.Finish();
  EXPECT_THAT(sampler.samples(), SizeIs(1)) << "the rest of the last second";
  clock_.Advance(kSecond);
  sampler.Start();
  EXPECT_THAT(sampler.samples(), SizeIs(0));
}

TEST_F(ResourceSamplerTest, MemoryIsBounded) {
  ResourceSampler::Options options = Options();
  options.max_samples = 8;
  ResourceSampler sampler(options);
  Write("/proc/stat", "cpu0 0 0 0 0 0 0 0 0 0 0\n");
  Write("/proc/pressure/cpu", "some avg10=0 total=0");
  Write("/proc/self/task/1/schedstat", "0 0 0");
  sampler.Start();
  for (int i = 1; i <= 100; ++i) {
    clock_.Advance(kSecond);
    SetHost(1000, 5000 + i);
    Write("/proc/stat", absl::StrCat("cpu0 ", i, " 0 0 0 0 0 0 0 0 0\n"));
    Write("/proc/pressure/cpu", absl::StrCat("some avg10=0 total=", 4 * i));
    Write("/proc/self/task/1/schedstat", absl::StrCat("0 ", 3 * i, " 0"));
    usage_.set_user_cpu_time_seconds(0.5 * i);
    sampler.Sample();
    ASSERT_LT(sampler.samples().size(), 8u);
  }
  sampler.Finish();
  int64_t duration_ns = 0;
  int64_t cpu_ns = 0;
  int64_t received = 0;
  int64_t pressure_ns = 0;
  int64_t busiest_ns = 0;
  int64_t delay_ns = 0;
  for (const ResourceSample& sample : sampler.samples()) {
    duration_ns += sample.duration_ns();
    cpu_ns += sample.process_cpu_ns();
    received += sample.network().at("eth0").received_bytes();
    pressure_ns += sample.host_counters().cpu_pressure_ns();
    busiest_ns += sample.busiest_cpu_ns();
    delay_ns += sample.run_queue_delay_ns();
  }
  EXPECT_EQ(duration_ns, 100 * kSecond) << "nothing is lost";
  EXPECT_EQ(cpu_ns, 50 * kSecond);
  EXPECT_EQ(received, 100);
  EXPECT_EQ(pressure_ns, 400'000);
  EXPECT_EQ(busiest_ns, 100 * (kSecond / sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(delay_ns, 300);
}

TEST_F(ResourceSamplerTest, AHostWithoutProcHasNothingToSay) {
  std::filesystem::remove_all(root_);
  ResourceSampler sampler(Options());
  sampler.Start();
  clock_.Advance(kSecond);
  sampler.Sample();
  ASSERT_THAT(sampler.samples(), SizeIs(1));
  EXPECT_EQ(sampler.samples()[0].host_cpu_ns(), 0);
  EXPECT_TRUE(sampler.samples()[0].network().empty());
  EXPECT_EQ(sampler.samples()[0].host_counters().ByteSizeLong(), 0);
  EXPECT_FALSE(sampler.samples()[0].has_busiest_cpu_ns());
  EXPECT_FALSE(sampler.samples()[0].has_run_queue_delay_ns());
}

}  // namespace

// Tests what samples say of control groups, and of the waits of a host's tasks.

namespace {

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
  options.engines = [] { return EngineProcesses{{70, {"server/0"}}}; };
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
