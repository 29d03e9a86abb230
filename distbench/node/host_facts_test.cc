// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/host_facts.h"

#include <linux/pkt_sched.h>

#include <filesystem>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class HostFactsTest : public testing::Test {
 protected:
  HostFactsTest() { host_.Write("/proc/meminfo", "MemTotal: 16000 kB\n"); }

  numa::FakeHost host_;
};

TEST_F(HostFactsTest, DescribesAHost) {
  host_.Write("/proc/cpuinfo",
              "processor\t: 0\nvendor_id\t: X\n"
              "model name\t: Fast CPU @ 3 GHz\n");
  host_.Write("/sys/devices/system/node/node0/cpulist", "0\n");
  host_.Write("/sys/devices/system/node/node1/cpulist", "1\n");
  host_.Write("/sys/devices/system/node/possible", "0-1\n");
  host_.Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
              "performance\n");
  host_.Write("/sys/kernel/mm/transparent_hugepage/enabled",
              "always [madvise] never\n");
  host_.Write("/sys/devices/system/cpu/smt/active", "1\n");
  host_.Write("/sys/devices/system/cpu/cpufreq/boost", "0\n");
  host_.Write("/proc/sys/net/ipv4/tcp_congestion_control", "bbr\n");
  host_.Write("/proc/sys/net/ipv4/tcp_ecn", "2\n");
  host_.Write("/proc/sys/net/core/default_qdisc", "fq_codel\n");
  host_.Write("/sys/class/net/eth0/flags", "0x1003\n");
  host_.Write("/sys/class/net/eth0/mtu", "9000\n");
  host_.Write("/sys/class/net/eth1/flags", "0x1002\n");
  host_.Write("/sys/class/net/eth1/mtu", "1500\n");
  const HostFacts facts = ReadHostFacts(host_.root());
  EXPECT_EQ(facts.cpu_model(), "Fast CPU @ 3 GHz");
  EXPECT_GE(facts.cpu_count(), 1);
  EXPECT_EQ(facts.numa_node_count(), 2);
  EXPECT_EQ(facts.memory_bytes(), 16000 * 1024);
  EXPECT_EQ(facts.cpu_frequency_governor(), "performance");
  EXPECT_EQ(facts.transparent_huge_pages(), "madvise");
  EXPECT_TRUE(facts.is_smt_active());
  EXPECT_TRUE(facts.has_is_cpu_boost_enabled());
  EXPECT_FALSE(facts.is_cpu_boost_enabled());
  EXPECT_EQ(facts.tcp_congestion_control(), "bbr");
  EXPECT_EQ(facts.tcp_ecn_mode(), 2);
  EXPECT_EQ(facts.default_queueing_discipline(), "fq_codel");
  ASSERT_EQ(facts.network_devices_size(), 1) << "eth1 is down";
  EXPECT_EQ(facts.network_devices(0).name(), "eth0");
  EXPECT_EQ(facts.network_devices(0).mtu(), 9000);
  EXPECT_FALSE(facts.kernel().empty());
  EXPECT_FALSE(facts.versions().at("grpc").empty());
}

TEST_F(HostFactsTest, BoostAsIntelsDriverSaysIt) {
  host_.Write("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  EXPECT_TRUE(ReadHostFacts(host_.root()).is_cpu_boost_enabled());
  host_.Write("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  EXPECT_TRUE(ReadHostFacts(host_.root()).has_is_cpu_boost_enabled());
  EXPECT_FALSE(ReadHostFacts(host_.root()).is_cpu_boost_enabled());
}

TEST_F(HostFactsTest, IdleStatesAreThoseThatSomeCpuMayUse) {
  const auto state = [this](int cpu, int number, const std::string& name,
                            bool is_disabled) {
    const std::string folder = absl::StrCat("/sys/devices/system/cpu/cpu", cpu,
                                            "/cpuidle/state", number);
    host_.Write(folder + "/name", name + "\n");
    host_.Write(folder + "/disable", is_disabled ? "1\n" : "0\n");
  };
  host_.Write("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
  state(0, 0, "POLL", false);
  state(0, 1, "C1", false);
  state(0, 2, "C6", true);
  state(0, 10, "C10", true);
  state(1, 0, "POLL", false);
  state(1, 2, "C6", true);
  state(1, 10, "C10", false);
  const HostFacts facts = ReadHostFacts(host_.root());
  EXPECT_EQ(facts.idle_driver(), "intel_idle");
  EXPECT_THAT(facts.idle_states(), ElementsAre("POLL", "C1", "C10"));
}

TEST_F(HostFactsTest, MitigationsHaveTheKernelsNames) {
  const std::string folder = "/sys/devices/system/cpu/vulnerabilities/";
  host_.Write(folder + "mds", "Not affected\n");
  host_.Write(folder + "spectre_v1", "Mitigation: barriers\n");
  const HostFacts facts = ReadHostFacts(host_.root());
  EXPECT_EQ(facts.mitigations_size(), 2);
  EXPECT_EQ(facts.mitigations().at("mds"), "Not affected");
  EXPECT_EQ(facts.mitigations().at("spectre_v1"), "Mitigation: barriers");
}

TEST_F(HostFactsTest, WhatIsNotKnownIsAbsent) {
  const HostFacts facts = ReadHostFacts("/no/such/folder");
  EXPECT_FALSE(facts.has_cpu_model());
  EXPECT_FALSE(facts.has_numa_node_count());
  EXPECT_FALSE(facts.has_memory_bytes());
  EXPECT_FALSE(facts.has_cpu_frequency_governor());
  EXPECT_FALSE(facts.has_transparent_huge_pages());
  EXPECT_FALSE(facts.has_is_smt_active());
  EXPECT_FALSE(facts.has_is_cpu_boost_enabled());
  EXPECT_FALSE(facts.has_tcp_congestion_control());
  EXPECT_FALSE(facts.has_tcp_ecn_mode());
  EXPECT_FALSE(facts.has_default_queueing_discipline());
  EXPECT_TRUE(facts.network_devices().empty());
  EXPECT_TRUE(facts.idle_states().empty());
  EXPECT_FALSE(facts.has_idle_driver());
  EXPECT_TRUE(facts.mitigations().empty());
}

TEST_F(HostFactsTest, OfThisHost) {
  EXPECT_GT(ReadHostFacts("").memory_bytes(), 0);
}

// The beginning of an answer of Linux 6.18 about a device with pfifo_fast.
const char kPfifoFast[] =
    "000000000400000000000000ffffffff020000000f000100706669666f5f666173740000"
    "18000200030000000102020201020000010101010101010105000c0000000000";

TEST(QueueingDisciplinesTest, ReadsWhatTheKernelSaid) {
  const std::string message = absl::HexStringToBytes(kPfifoFast);
  const std::optional<QueueingDiscipline> discipline =
      ParseQueueingDiscipline(message);
  ASSERT_TRUE(discipline.has_value());
  EXPECT_EQ(discipline->device, 4);
  EXPECT_EQ(discipline->handle, 0u);
  EXPECT_EQ(discipline->parent, TC_H_ROOT);
  EXPECT_EQ(discipline->kind, "pfifo_fast");
  for (size_t size = 0; size < 35; ++size) {
    EXPECT_FALSE(ParseQueueingDiscipline(message.substr(0, size)).has_value())
        << size;
  }
}

TEST(QueueingDisciplinesTest, ShowsTheRootAndWhatIsBelowIt) {
  EXPECT_THAT(
      NameQueueingDisciplines({
          // A default "mq", whose handle is 0, with two queues.
          {.device = 2, .handle = 0, .parent = 1, .kind = "fq_codel"},
          {.device = 2, .handle = 0, .parent = TC_H_ROOT, .kind = "mq"},
          {.device = 2, .handle = 0, .parent = 2, .kind = "fq_codel"},
          // One with classes, whose own handle is 8001:.
          {.device = 3,
           .handle = 0x80010000,
           .parent = TC_H_ROOT,
           .kind = "htb"},
          {.device = 3, .handle = 0, .parent = 0x80010010, .kind = "fq"},
          {.device = 3, .handle = 0, .parent = 0x80010020, .kind = "netem"},
          {.device = 3, .handle = 0, .parent = 0x80020010, .kind = "other"},
          {.device = 3,
           .handle = 0xffff0000,
           .parent = TC_H_INGRESS,
           .kind = "ingress"},
          {.device = 4, .handle = 0, .parent = TC_H_ROOT, .kind = "noqueue"},
      }),
      ElementsAre(Pair(2, "mq (fq_codel)"), Pair(3, "htb (fq, netem)"),
                  Pair(4, "noqueue")));
}

TEST(QueueingDisciplinesTest, OfThisHost) {
  for (const auto& [device, name] : ReadQueueingDisciplines()) {
    EXPECT_GT(device, 0);
    EXPECT_FALSE(name.empty());
  }
}

class NetworkDevicesTest : public testing::Test {
 protected:
  NetworkDevicesTest() {
    host_.Write("/sys/class/net/eth0/flags", "0x1003\n");
    host_.Write("/sys/class/net/eth0/ifindex", "7\n");
  }

  NetworkDevice OnlyDevice() {
    HostFacts facts;
    AddNetworkDevices(host_.root(), {{7, "fq"}, {8, "mq"}}, facts);
    EXPECT_EQ(facts.network_devices_size(), 1);
    return facts.network_devices(0);
  }

  numa::FakeHost host_;
};

TEST_F(NetworkDevicesTest, ADeviceHasTheDisciplineOfItsIndex) {
  EXPECT_EQ(OnlyDevice().queueing_discipline(), "fq");
  host_.Write("/sys/class/net/eth0/ifindex", "9\n");
  EXPECT_FALSE(OnlyDevice().has_queueing_discipline());
}

TEST_F(NetworkDevicesTest, ListsTheCpusOfInterruptsOnce) {
  EXPECT_THAT(OnlyDevice().interrupt_cpus(), IsEmpty());
  for (const std::string interrupt : {"40", "41", "42", "43"}) {
    host_.Write("/sys/class/net/eth0/device/msi_irqs/" + interrupt, "msix\n");
  }
  host_.Write("/proc/irq/40/smp_affinity_list", "0-3\n");
  host_.Write("/proc/irq/41/smp_affinity_list", "4\n");
  host_.Write("/proc/irq/42/smp_affinity_list", "0-3\n");
  host_.Write("/proc/irq/99/smp_affinity_list", "5\n");
  EXPECT_THAT(OnlyDevice().interrupt_cpus(), ElementsAre("0-3", "4"));
}

// As in /sys: eth0/device is a link to the virtio device, which is in the
// folder of its PCI device.
TEST_F(NetworkDevicesTest, AVirtioDeviceHasTheInterruptsOfItsPciDevice) {
  host_.Write("/sys/devices/pci0/msi_irqs/40", "msix\n");
  host_.Write("/sys/devices/pci0/virtio2/status", "0x0000000f\n");
  host_.Write("/proc/irq/40/smp_affinity_list", "1\n");
  std::filesystem::create_directory_symlink(
      "../../../devices/pci0/virtio2",
      host_.root() + "/sys/class/net/eth0/device");
  EXPECT_THAT(OnlyDevice().interrupt_cpus(), ElementsAre("1"));
}

}  // namespace
}  // namespace distbench::node
