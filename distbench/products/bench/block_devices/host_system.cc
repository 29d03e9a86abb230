// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/block_devices/host_system.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/base/index_list.h"
#include "distbench/products/bench/block_devices/io_cost.h"

namespace distbench::bench {
namespace {

constexpr int64_t kKibibyte = 1024;

// Kernels differ by less in what they keep for themselves.
constexpr int64_t kMemoryStep = int64_t{64} << 20;

// "SwapTotal:  33554428 kB" of /proc/meminfo.
std::optional<int64_t> MemoryInfo(absl::string_view text,
                                  absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, absl::StrCat(name, ":"))) continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kibibytes = 0;
    if (words.size() >= 2 && absl::SimpleAtoi(words[1], &kibibytes)) {
      return kibibytes * kKibibyte;
    }
  }
  return std::nullopt;
}

void ReadMemory(const std::string& root, BenchSystem& system) {
  const absl::StatusOr<std::string> text =
      base::ReadFile(root + "/proc/meminfo");
  if (!text.ok()) return;
  if (const auto total = MemoryInfo(*text, "MemTotal"); total.has_value()) {
    system.set_memory_bytes(*total);
  }
  if (const auto swap = MemoryInfo(*text, "SwapTotal"); swap.has_value()) {
    system.set_swap_bytes(*swap);
  }
}

}  // namespace

BenchSystem ReadHostSystem(const std::string& root) {
  BenchSystem system;
  utsname names;
  if (uname(&names) == 0) {
    system.set_hostname(names.nodename);
    system.set_kernel(names.release);
  }
  ReadMemory(root, system);
  const absl::StatusOr<base::IndexSet> cpus = base::ParseIndexList(
      base::FirstLine(root + "/sys/devices/system/cpu/online"));
  if (cpus.ok()) system.set_cpu_count(static_cast<int>(cpus->size()));
  int swappiness = 0;
  if (absl::SimpleAtoi(base::FirstLine(root + "/proc/sys/vm/swappiness"),
                       &swappiness)) {
    system.set_swappiness(swappiness);
  }
  system.set_is_zswap_enabled(
      base::FirstLine(root + "/sys/module/zswap/parameters/enabled") == "Y");
  return system;
}

int64_t RoundedMemory(const BenchSystem& system) {
  return system.memory_bytes() / kMemoryStep * kMemoryStep;
}

std::vector<std::string> MissedStorageRequirements(const BenchSystem& system) {
  std::vector<std::string> missed;
  if (system.has_swap_bytes() && system.swap_bytes() == 0) {
    missed.push_back(
        "there is no swap: memory that is short cannot be written to a disk");
  }
  if (system.is_zswap_enabled()) {
    missed.push_back("zswap is on: memory is compressed before it is swapped");
  }
  for (const BlockDeviceFacts& device : system.devices()) {
    if (!device.scheduler().empty() && device.scheduler() != "none") {
      missed.push_back(absl::StrCat(device.name(), " has the scheduler ",
                                    device.scheduler(), ", not none"));
    }
    if (device.write_back_throttling_us() > 0) {
      missed.push_back(
          absl::StrCat(device.name(), " throttles write-back (wbt_lat_usec)"));
    }
  }
  return missed;
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t kSectorBytes = 512;  // in /sys, whatever the device has
constexpr char kRemedy[] =
    "; name a folder on a file system that is directly on a disk";

std::string NumberText(dev_t device) {
  return absl::StrCat(major(device), ":", minor(device));
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

absl::Status NoDisk(absl::string_view subject, absl::string_view problem) {
  return absl::FailedPreconditionError(
      absl::StrCat(subject, " ", problem, kRemedy));
}

// Devices that consist of others have a folder that says so.
absl::Status CheckIsDisk(const fs::path& device) {
  const std::string name = device.filename().string();
  if (Exists(device / "dm")) {
    return NoDisk(name,
                  absl::StrCat("is made by the device mapper (",
                               base::FirstLine(device / "dm" / "name"), ")"));
  }
  if (Exists(device / "md")) return NoDisk(name, "is a RAID of other devices");
  if (Exists(device / "loop")) {
    return NoDisk(
        name,
        absl::StrCat("is a file used as a device (",
                     base::FirstLine(device / "loop" / "backing_file"), ")"));
  }
  for (const char* kind : {"zram", "ram", "nbd"}) {
    absl::string_view number = name;
    if (absl::ConsumePrefix(&number, kind) && !number.empty() &&
        absl::c_all_of(number, absl::ascii_isdigit)) {
      return NoDisk(name, "is a device in memory or on a network");
    }
  }
  return absl::OkStatus();
}

// The number of the device on which the file is. File systems such as btrfs
// show a number of their own, and the device only in the list of mounts.
absl::StatusOr<std::string> DeviceNumberOf(const std::string& path,
                                           const std::string& root) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot look at ", path));
  }
  if (S_ISBLK(file.st_mode)) return NumberText(file.st_rdev);
  if (major(file.st_dev) != 0) return NumberText(file.st_dev);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const absl::StatusOr<std::string> mounts =
      base::ReadFile(base::ProcFolder(root, 0) + "/mountinfo");
  if (error || !mounts.ok()) return NoDisk(path, "is on no known device");
  const std::string device = MountedDevice(*mounts, real.string());
  struct stat mounted;
  if (device.empty() || stat(device.c_str(), &mounted) != 0 ||
      !S_ISBLK(mounted.st_mode)) {
    return NoDisk(path, "is on a file system without a device of its own");
  }
  return NumberText(mounted.st_rdev);
}

// "none" of "[none] mq-deadline".
std::string ChosenIn(const std::string& line) {
  const size_t begin = line.find('[');
  const size_t end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return line;
  }
  return line.substr(begin + 1, end - begin - 1);
}

bool HasLineOf(const fs::path& file, const std::string& number) {
  const absl::StatusOr<std::string> text = base::ReadFile(file.string());
  if (!text.ok()) return false;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (absl::StartsWith(line, number + " ")) return true;
  }
  return false;
}

// Limits of the device in groups directly below the root.
std::set<std::string> OtherControllers(const std::string& number,
                                       const std::string& root) {
  std::set<std::string> found;
  std::error_code error;
  fs::directory_iterator group(root + "/sys/fs/cgroup", error), end;
  for (; !error && group != end; group.increment(error)) {
    for (const char* file : {"io.latency", "io.max"}) {
      if (HasLineOf(group->path() / file, number)) found.insert(file);
    }
  }
  return found;
}

void ReadQueue(const std::string& folder, BlockDeviceFacts& facts) {
  facts.set_scheduler(ChosenIn(base::FirstLine(folder + "/queue/scheduler")));
  int64_t latency_us = 0;
  if (absl::SimpleAtoi(base::FirstLine(folder + "/queue/wbt_lat_usec"),
                       &latency_us)) {
    facts.set_write_back_throttling_us(latency_us);
  }
}

}  // namespace

std::string MountedDevice(absl::string_view mounts, absl::string_view path) {
  std::string device;
  size_t longest = 0;
  for (const base::Mount& mount : base::ParseMountInfo(mounts)) {
    const std::string& point = mount.point;
    const bool is_above = point == "/" || path == point ||
                          absl::StartsWith(path, absl::StrCat(point, "/"));
    // Of several mounts on one point, the last hides the others.
    if (!is_above || point.size() < longest) continue;
    longest = point.size();
    device = absl::StartsWith(mount.source, "/dev/") ? mount.source : "";
  }
  return device;
}

absl::StatusOr<std::string> DiskOfNumber(const std::string& number,
                                         const std::string& root) {
  std::error_code error;
  fs::path device = fs::canonical(root + "/sys/dev/block/" + number, error);
  if (error) {
    return absl::NotFoundError(absl::StrCat("/sys describes no block device ",
                                            number, ": ", error.message()));
  }
  if (Exists(device / "partition")) device = device.parent_path();
  if (absl::Status status = CheckIsDisk(device); !status.ok()) return status;
  return device.filename().string();
}

absl::StatusOr<std::string> DiskOfFile(const std::string& path,
                                       const std::string& root) {
  const absl::StatusOr<std::string> number = DeviceNumberOf(path, root);
  if (!number.ok()) return number.status();
  absl::StatusOr<std::string> disk = DiskOfNumber(*number, root);
  if (disk.ok()) return disk;
  return absl::Status(disk.status().code(),
                      absl::StrCat(path, ": ", disk.status().message()));
}

BlockDeviceFacts ReadBlockDevice(const std::string& disk,
                                 const std::string& root) {
  const std::string folder = root + "/sys/block/" + disk;
  BlockDeviceFacts facts;
  facts.set_name(disk);
  facts.set_number(base::FirstLine(folder + "/dev"));
  facts.set_model(base::FirstLine(folder + "/device/model"));
  // NVMe and SCSI use different names.
  facts.set_firmware(base::FirstLine(folder + "/device/firmware_rev"));
  if (facts.firmware().empty()) {
    facts.set_firmware(base::FirstLine(folder + "/device/rev"));
  }
  int64_t sectors = 0;
  if (absl::SimpleAtoi(base::FirstLine(folder + "/size"), &sectors)) {
    facts.set_size_bytes(sectors * kSectorBytes);
  }
  ReadQueue(folder, facts);
  std::optional<IoCostSettings> io_cost =
      ReadIoCost(facts.number(), root + "/sys/fs/cgroup");
  if (io_cost.has_value()) *facts.mutable_io_cost() = *std::move(io_cost);
  for (const std::string& controller : OtherControllers(facts.number(), root)) {
    facts.add_other_controllers(controller);
  }
  return facts;
}

}  // namespace distbench::bench
