#include "distbench/products/bench/block_devices/host_system.h"

#include <sys/utsname.h>

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/index_list.h"

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

}  // namespace distbench::bench
