#include "distbench/node/resource_sampler.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/node/host_facts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;

// A host with /proc and /sys files that the test writes.
class ResourceSamplerTest : public testing::Test {
 protected:
  ResourceSamplerTest()
      : root_(absl::StrCat(
            testing::TempDir(), "/",
            testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(root_);
    SetHost(/*busy_ticks=*/1000, /*received_bytes=*/5000);
    Write("/proc/meminfo",
          "MemTotal:       16000 kB\n"
          "MemFree:         9000 kB\n"
          "MemAvailable:   12000 kB\n");
    Write("/proc/self/statm", "4000 25 10 1 0 90 0\n");
  }

  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path file(root_ + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  // Spreads busy_ticks over user, nice, system, irq, softirq and steal.
  void SetHost(int64_t busy_ticks, int64_t received_bytes) {
    Write("/proc/stat",
          absl::StrCat("cpu  ", busy_ticks - 5, " 1 1 777777 99999 1 1 1 0 0\n",
                       "cpu0 1 2 3 4 5 6 7 8 9 10\n"));
    Write(
        "/proc/net/dev",
        absl::StrCat("Inter-|   Receive                  |  Transmit\n"
                     " face |bytes    packets errs drop fifo frame compressed "
                     "multicast|bytes    packets errs drop fifo colls carrier "
                     "compressed\n"
                     "    lo: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n"
                     "  eth0:",
                     received_bytes, " 50 0 2 0 0 0 0 700 7 0 1 0 0 0 0\n"));
  }

  ResourceSampler::Options Options() {
    return {.clock = &clock_, .root = root_, .process_usage = [this] {
              return usage_;
            }};
  }

  const std::string root_;
  FakeClock clock_{100 * kSecond};
  RUsage usage_;
};

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
  sampler.Start();
  for (int i = 1; i <= 100; ++i) {
    clock_.Advance(kSecond);
    SetHost(1000, 5000 + i);
    usage_.set_user_cpu_time_seconds(0.5 * i);
    sampler.Sample();
    ASSERT_LT(sampler.samples().size(), 8u);
  }
  sampler.Finish();
  int64_t duration_ns = 0;
  int64_t cpu_ns = 0;
  int64_t received = 0;
  for (const ResourceSample& sample : sampler.samples()) {
    duration_ns += sample.duration_ns();
    cpu_ns += sample.process_cpu_ns();
    received += sample.network().at("eth0").received_bytes();
  }
  EXPECT_EQ(duration_ns, 100 * kSecond) << "nothing is lost";
  EXPECT_EQ(cpu_ns, 50 * kSecond);
  EXPECT_EQ(received, 100);
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
}

TEST_F(ResourceSamplerTest, HostFacts) {
  Write("/proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: X\nmodel name\t: Fast CPU @ 3 GHz\n");
  Write("/sys/devices/system/node/node0/cpulist", "0\n");
  Write("/sys/devices/system/node/node1/cpulist", "1\n");
  Write("/sys/devices/system/node/possible", "0-1\n");
  Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "performance\n");
  Write("/sys/class/net/eth0/flags", "0x1003\n");
  Write("/sys/class/net/eth0/mtu", "9000\n");
  Write("/sys/class/net/eth1/flags", "0x1002\n");
  Write("/sys/class/net/eth1/mtu", "1500\n");
  const HostFacts facts = ReadHostFacts(root_);
  EXPECT_EQ(facts.cpu_model(), "Fast CPU @ 3 GHz");
  EXPECT_GE(facts.cpu_count(), 1);
  EXPECT_EQ(facts.numa_node_count(), 2);
  EXPECT_EQ(facts.memory_bytes(), 16000 * 1024);
  EXPECT_EQ(facts.cpu_frequency_governor(), "performance");
  ASSERT_EQ(facts.network_devices_size(), 1) << "eth1 is down";
  EXPECT_EQ(facts.network_devices(0).name(), "eth0");
  EXPECT_EQ(facts.network_devices(0).mtu(), 9000);
  EXPECT_FALSE(facts.kernel().empty());
  EXPECT_FALSE(facts.versions().at("grpc").empty());
}

TEST(HostFactsTest, WhatIsNotKnownIsAbsent) {
  const HostFacts facts = ReadHostFacts("/no/such/folder");
  EXPECT_FALSE(facts.has_cpu_model());
  EXPECT_FALSE(facts.has_numa_node_count());
  EXPECT_FALSE(facts.has_memory_bytes());
  EXPECT_FALSE(facts.has_cpu_frequency_governor());
  EXPECT_TRUE(facts.network_devices().empty());
}

TEST(HostFactsTest, OfThisHost) {
  EXPECT_GT(ReadHostFacts("").memory_bytes(), 0);
}

}  // namespace
}  // namespace distbench
