// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/block_devices/host_system.h"

#include <filesystem>
#include <fstream>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// A host with an NVMe disk that has a partition.
class BlockDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / "block_device_test";
    fs::remove_all(root_);
    AddDevice("devices/pci/nvme0n1", "259:0");
    AddDevice("devices/pci/nvme0n1/nvme0n1p1", "259:1");
    Write("sys/devices/pci/nvme0n1/nvme0n1p1/partition", "1");
    fs::create_directories(root_ / "sys/block");
    fs::create_symlink("../devices/pci/nvme0n1", root_ / "sys/block/nvme0n1");
  }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }

  void AddDevice(const std::string& folder, const std::string& number) {
    Write("sys/" + folder + "/dev", number);
    fs::create_directories(root_ / "sys/dev/block");
    fs::create_symlink("../../" + folder, root_ / "sys/dev/block" / number);
  }

  std::string root() const { return root_.string(); }

  std::string Problem(const std::string& number) {
    return base::Message(DiskOfNumber(number, root()).status());
  }

  fs::path root_;
};

TEST_F(BlockDeviceTest, APartitionIsOnItsDisk) {
  EXPECT_EQ(*DiskOfNumber("259:0", root()), "nvme0n1");
  EXPECT_EQ(*DiskOfNumber("259:1", root()), "nvme0n1");
}

TEST_F(BlockDeviceTest, DevicesMadeOfOthersAreRefusedByName) {
  AddDevice("devices/virtual/block/dm-0", "253:0");
  Write("sys/devices/virtual/block/dm-0/dm/name", "vg-root");
  AddDevice("devices/virtual/block/md0", "9:0");
  Write("sys/devices/virtual/block/md0/md/level", "raid1");
  AddDevice("devices/virtual/block/loop0", "7:0");
  Write("sys/devices/virtual/block/loop0/loop/backing_file", "/image");
  EXPECT_THAT(Problem("253:0"), AllOf(HasSubstr("dm-0 is made by the device "
                                                "mapper (vg-root)"),
                                      HasSubstr("name a folder")));
  EXPECT_THAT(Problem("9:0"), HasSubstr("md0 is a RAID"));
  EXPECT_THAT(Problem("7:0"), HasSubstr("/image"));
  EXPECT_THAT(Problem("1:1"), HasSubstr("no block device 1:1"));
}

TEST_F(BlockDeviceTest, MemoryAndNetworksAreNoDisks) {
  AddDevice("devices/virtual/block/zram0", "254:0");
  AddDevice("devices/virtual/block/ram1", "1:1");
  AddDevice("devices/virtual/block/nbd15", "43:15");
  EXPECT_THAT(Problem("254:0"), HasSubstr("zram0 is a device in memory"));
  EXPECT_THAT(Problem("1:1"), HasSubstr("ram1 is a device in memory"));
  EXPECT_THAT(Problem("43:15"), HasSubstr("nbd15 is a device in memory"));
}

TEST_F(BlockDeviceTest, AFileInMemoryIsOnNoDisk) {
  const auto disk = DiskOfFile("/proc/self/status", "");
  EXPECT_EQ(disk.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      base::Message(disk.status()),
      AllOf(HasSubstr("/proc/self/status"), HasSubstr("name a folder")));
  EXPECT_TRUE(absl::IsNotFound(DiskOfFile("/no/such/file", "").status()));
}

TEST(MountedDeviceTest, IsThatOfTheInnermostMount) {
  constexpr char kMounts[] =
      "22 1 0:20 / / rw,relatime shared:1 - btrfs /dev/vda1 rw\n"
      "23 22 0:21 /@home /home rw shared:2 - btrfs /dev/vdb rw\n"
      "24 22 0:22 / /home/a/tmp rw - tmpfs tmpfs rw\n"
      "25 22 0:23 / /mnt rw - ext4 /dev/vdc rw\n"
      "26 22 0:24 / /mnt rw - ext4 /dev/vdd rw\n"
      "broken line\n";
  EXPECT_EQ(MountedDevice(kMounts, "/var/x"), "/dev/vda1");
  EXPECT_EQ(MountedDevice(kMounts, "/home"), "/dev/vdb");
  EXPECT_EQ(MountedDevice(kMounts, "/home/a"), "/dev/vdb");
  EXPECT_EQ(MountedDevice(kMounts, "/homes"), "/dev/vda1");
  EXPECT_EQ(MountedDevice(kMounts, "/home/a/tmp/x"), "");
  EXPECT_EQ(MountedDevice(kMounts, "/mnt/x"), "/dev/vdd");
  EXPECT_EQ(MountedDevice("", "/"), "");
}

TEST(MountedDeviceTest, NamesMayHaveSpaces) {
  constexpr char kMounts[] =
      "22 1 0:20 / / rw - btrfs /dev/vda1 rw\n"
      "23 22 0:21 / /mnt/my\\040data rw - nfs4 server:/data rw\n";
  EXPECT_EQ(MountedDevice(kMounts, "/mnt/my data/x"), "");
  EXPECT_EQ(MountedDevice(kMounts, "/mnt/my"), "/dev/vda1");
}

TEST_F(BlockDeviceTest, FactsAreRead) {
  const std::string disk = "sys/devices/pci/nvme0n1/";
  Write(disk + "device/model", "WDC CL SN720");
  Write(disk + "device/firmware_rev", "10105120  ");
  Write(disk + "size", "1000215216");
  Write(disk + "queue/scheduler", "[none] mq-deadline kyber");
  Write(disk + "queue/wbt_lat_usec", "0");
  Write("sys/fs/cgroup/io.cost.qos",
        "8:0 enable=0\n259:0 enable=1 ctrl=user rpct=95.00 rlat=19562 "
        "wpct=95.00 wlat=65667 min=60.00 max=100.00");
  Write("sys/fs/cgroup/io.cost.model",
        "259:0 ctrl=user model=linear rbps=1348822120 rseqiops=235687 "
        "rrandiops=218614 wbps=601694170 wseqiops=133453 wrandiops=69308");
  Write("sys/fs/cgroup/user.slice/io.latency", "259:0 target=100");
  const BlockDeviceFacts facts = ReadBlockDevice("nvme0n1", root());
  EXPECT_EQ(facts.number(), "259:0");
  EXPECT_EQ(facts.model(), "WDC CL SN720");
  EXPECT_EQ(facts.firmware(), "10105120");
  EXPECT_EQ(facts.size_bytes(), 1000215216 * int64_t{512});
  EXPECT_EQ(facts.scheduler(), "none");
  EXPECT_EQ(facts.write_back_throttling_us(), 0);
  EXPECT_TRUE(facts.io_cost().enable());
  EXPECT_EQ(facts.io_cost().model().wrandiops(), 69308);
  EXPECT_EQ(facts.io_cost().qos().wlat(), 65667);
  EXPECT_EQ(facts.io_cost().qos().min(), 60);
  EXPECT_THAT(facts.other_controllers(), ElementsAre("io.latency"));
}

TEST_F(BlockDeviceTest, UnknownFactsAreAbsent) {
  const BlockDeviceFacts facts = ReadBlockDevice("nvme0n1", root());
  EXPECT_FALSE(facts.has_size_bytes());
  EXPECT_FALSE(facts.has_write_back_throttling_us());
  EXPECT_FALSE(facts.has_io_cost());
  EXPECT_EQ(facts.model(), "");
}

TEST_F(BlockDeviceTest, TheHostIsDescribed) {
  Write("proc/meminfo", "MemTotal: 1024 kB\nMemFree: 1 kB\nSwapTotal: 512 kB");
  Write("proc/sys/vm/swappiness", "60");
  Write("sys/module/zswap/parameters/enabled", "Y");
  Write("sys/devices/system/cpu/online", "0-3,8");
  const BenchSystem system = ReadHostSystem(root());
  EXPECT_EQ(system.memory_bytes(), 1 << 20);
  EXPECT_EQ(system.swap_bytes(), 1 << 19);
  EXPECT_EQ(system.swappiness(), 60);
  EXPECT_TRUE(system.is_zswap_enabled());
  EXPECT_EQ(system.cpu_count(), 5);
  EXPECT_FALSE(system.kernel().empty());
}

TEST(StorageRequirementsTest, EachIsNamedIfMissed) {
  BenchSystem system;
  system.set_swap_bytes(1);
  BlockDeviceFacts& device = *system.add_devices();
  device.set_name("sda");
  device.set_scheduler("none");
  EXPECT_THAT(MissedStorageRequirements(system), IsEmpty());
  system.set_swap_bytes(0);
  system.set_is_zswap_enabled(true);
  device.set_scheduler("bfq");
  device.set_write_back_throttling_us(75000);
  EXPECT_THAT(MissedStorageRequirements(system),
              ElementsAre(HasSubstr("no swap"), HasSubstr("zswap is on"),
                          HasSubstr("sda has the scheduler bfq"),
                          HasSubstr("sda throttles write-back")));
}

}  // namespace
}  // namespace distbench::bench
