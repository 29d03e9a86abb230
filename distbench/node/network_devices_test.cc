#include "distbench/node/network_devices.h"

#include <linux/pkt_sched.h>

#include <filesystem>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

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
