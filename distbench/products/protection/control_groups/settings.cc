// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "distbench/base/files.h"
#include "distbench/base/index_list.h"
#include "distbench/base/memory.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/products/protection/control_groups/group_files.h"

namespace distbench::protection {
namespace {

// The kernel's default period of cpu.max, and its shortest quota.
constexpr int64_t kPeriodUs = 100'000;
constexpr int64_t kMinQuotaUs = 1'000;

constexpr char kNoLimit[] = "max";

FileSetting Setting(absl::string_view file, absl::string_view text,
                    absl::StatusOr<std::string> value) {
  if (value.ok()) return {std::string(file), *std::move(value)};
  return {std::string(file), std::string(text), value.status()};
}

std::optional<double> ParseShare(absl::string_view text) {
  const std::optional<double> percent = base::ParsePercent(text);
  if (!percent || *percent <= 0 || *percent > 100) return std::nullopt;
  return *percent / 100;
}

// Rounded down to whole pages, as the kernel does and reads back.
absl::StatusOr<std::string> MemoryValue(absl::string_view text,
                                        const HostAmounts& host) {
  if (text == kNoLimit) return kNoLimit;
  int64_t bytes = 0;
  if (const std::optional<double> share = ParseShare(text)) {
    if (host.memory_bytes <= 0) {
      return absl::UnavailableError(
          "the host does not say how much memory it has; write a size with its "
          "unit instead of a share");
    }
    bytes = static_cast<int64_t>(*share * host.memory_bytes);
  } else {
    const auto size = config::ParseSizeWithUnit(text);
    if (!size.ok()) return size.status();
    bytes = *size;
  }
  return absl::StrCat(bytes / host.page_bytes * host.page_bytes);
}

absl::StatusOr<std::string> CpuMaxValue(absl::string_view text,
                                        const HostAmounts& host) {
  if (text == kNoLimit) return absl::StrCat(kNoLimit, " ", kPeriodUs);
  const std::optional<double> share = ParseShare(text);
  const std::optional<double> cpus =
      share ? *share * host.cpu_count : base::ParseNumber(text);
  if (!cpus || (!share && (*cpus <= 0 || *cpus > base::kMaxIndex))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text,
        "\" is not an amount of CPU time; write a number of CPUs "
        "such as \"1.5\", a share of the host's such as \"50%\", or \"max\""));
  }
  const int64_t quota_us = std::llround(*cpus * kPeriodUs);
  if (quota_us < kMinQuotaUs) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text,
                     "\" is less than 0.01 CPUs, the least that the "
                     "kernel accepts"));
  }
  return absl::StrCat(quota_us, " ", kPeriodUs);
}

absl::StatusOr<std::string> BytesPerSecond(absl::string_view text) {
  if (text.empty() || text == kNoLimit) return kNoLimit;
  const auto bytes = config::ParseSizeWithUnit(text);
  if (!bytes.ok()) return bytes.status();
  return absl::StrCat(*bytes);
}

std::string PerSecond(bool is_set, int64_t count) {
  return is_set ? absl::StrCat(count) : kNoLimit;
}

absl::StatusOr<std::string> IoMaxValue(const IoLimit& limit,
                                       const HostAmounts& host) {
  const auto device = FindDevice(host.root, limit.device());
  if (!device.ok()) return device.status();
  const auto read = BytesPerSecond(limit.read_bytes());
  if (!read.ok()) return read.status();
  const auto write = BytesPerSecond(limit.write_bytes());
  if (!write.ok()) return write.status();
  return absl::StrCat(
      *device, " rbps=", *read, " wbps=", *write, " riops=",
      PerSecond(limit.has_read_operations(), limit.read_operations()),
      " wiops=",
      PerSecond(limit.has_write_operations(), limit.write_operations()));
}

void AppendNumber(absl::string_view key, bool is_set, int64_t value,
                  std::string& line) {
  if (is_set) absl::StrAppend(&line, " ", key, "=", value);
}

// With two decimal places, as the kernel has them.
void AppendPercent(absl::string_view key, bool is_set, double value,
                   std::string& line) {
  if (is_set) absl::StrAppendFormat(&line, " %s=%.2f", key, value);
}

std::string ModelValue(const IoCostModel& model) {
  std::string line = " ctrl=user model=linear";
  AppendNumber("rbps", model.has_rbps(), model.rbps(), line);
  AppendNumber("rseqiops", model.has_rseqiops(), model.rseqiops(), line);
  AppendNumber("rrandiops", model.has_rrandiops(), model.rrandiops(), line);
  AppendNumber("wbps", model.has_wbps(), model.wbps(), line);
  AppendNumber("wseqiops", model.has_wseqiops(), model.wseqiops(), line);
  AppendNumber("wrandiops", model.has_wrandiops(), model.wrandiops(), line);
  return line;
}

std::string QosValue(const IoCostSettings& device) {
  std::string line;
  AppendNumber("enable", device.has_enable(), device.enable() ? 1 : 0, line);
  if (!device.has_qos()) return line;
  const IoCostQos& qos = device.qos();
  absl::StrAppend(&line, " ctrl=user");
  AppendPercent("rpct", qos.has_rpct(), qos.rpct(), line);
  AppendNumber("rlat", qos.has_rlat(), qos.rlat(), line);
  AppendPercent("wpct", qos.has_wpct(), qos.wpct(), line);
  AppendNumber("wlat", qos.has_wlat(), qos.wlat(), line);
  AppendPercent("min", qos.has_min(), qos.min(), line);
  AppendPercent("max", qos.has_max(), qos.max(), line);
  return line;
}

}  // namespace

HostAmounts ReadHostAmounts(const std::string& root) {
  HostAmounts host = {.root = root,
                      .memory_bytes = base::ReadMemInfoBytes(root, "MemTotal"),
                      .page_bytes = sysconf(_SC_PAGESIZE)};
  const auto online = base::ParseIndexList(
      base::FirstLine(root + "/sys/devices/system/cpu/online"));
  if (online.ok()) host.cpu_count = std::max<int>(1, online->size());
  return host;
}

std::vector<FileSetting> SettingsOf(const ControlGroup& group,
                                    const HostAmounts& host) {
  std::vector<FileSetting> settings;
  const auto add = [&](bool is_set, absl::string_view file,
                       absl::string_view text,
                       absl::StatusOr<std::string> value) {
    if (is_set) settings.push_back(Setting(file, text, std::move(value)));
  };
  const auto add_text = [&](bool is_set, absl::string_view file,
                            const std::string& text) {
    add(is_set, file, text, text);
  };
  const auto add_memory = [&](bool is_set, absl::string_view file,
                              const std::string& text) {
    if (is_set) add(true, file, text, MemoryValue(text, host));
  };
  add_text(group.has_cpu_weight(), "cpu.weight",
           absl::StrCat(group.cpu_weight()));
  if (group.has_cpu_max()) {
    add(true, "cpu.max", group.cpu_max(), CpuMaxValue(group.cpu_max(), host));
  }
  add_text(group.has_cpuset_cpus(), "cpuset.cpus", group.cpuset_cpus());
  add_text(group.has_cpuset_mems(), "cpuset.mems", group.cpuset_mems());
  add_memory(group.has_memory_min(), "memory.min", group.memory_min());
  add_memory(group.has_memory_low(), "memory.low", group.memory_low());
  add_memory(group.has_memory_high(), "memory.high", group.memory_high());
  add_memory(group.has_memory_max(), "memory.max", group.memory_max());
  add_memory(group.has_memory_swap_max(), "memory.swap.max",
             group.memory_swap_max());
  add_text(group.has_io_weight(), "io.weight",
           absl::StrCat("default ", group.io_weight()));
  for (const IoLimit& limit : group.io_max()) {
    add(true, "io.max", limit.device(), IoMaxValue(limit, host));
  }
  add_text(group.has_io_priority_class(), "io.prio.class",
           group.io_priority_class());
  RefuseRepeatedDevices(settings);
  return settings;
}

std::vector<FileSetting> SettingsOf(const IoCostSettings& device,
                                    const HostAmounts& host) {
  const auto numbers = FindDevice(host.root, device.device());
  std::vector<FileSetting> settings;
  const auto add = [&](absl::string_view file, const std::string& values) {
    settings.push_back(
        numbers.ok() ? Setting(file, "", absl::StrCat(*numbers, values))
                     : Setting(file, absl::StrCat(device.device(), values),
                               numbers.status()));
  };
  if (device.has_model()) add("io.cost.model", ModelValue(device.model()));
  if (device.has_enable() || device.has_qos()) {
    add("io.cost.qos", QosValue(device));
  }
  return settings;
}

void RefuseRepeatedDevices(std::vector<FileSetting>& settings) {
  std::set<std::pair<std::string, std::string>> seen;
  for (FileSetting& setting : settings) {
    const std::string device = setting.value.substr(0, setting.value.find(' '));
    if (!HasDevices(setting.file) || !setting.problem.ok() ||
        seen.emplace(setting.file, device).second) {
      continue;
    }
    setting.problem = absl::InvalidArgumentError(
        absl::StrCat("device ", device,
                     " is listed twice, by its name or by its numbers; list it "
                     "once"));
  }
}

absl::StatusOr<std::string> FindDevice(const std::string& root,
                                       absl::string_view device) {
  const bool is_numbers = device.find(':') != absl::string_view::npos;
  const std::string folder = absl::StrCat(
      root, is_numbers ? "/sys/dev/block/" : "/sys/class/block/", device);
  const std::string numbers = base::FirstLine(folder + "/dev");
  if (device.empty() || device.find('/') != absl::string_view::npos ||
      numbers.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "this host has no block device \"", device,
        "\"; name one of those in /sys/block, such as \"nvme0n1\", or its "
        "numbers, such as \"259:0\""));
  }
  if (Exists(folder + "/partition")) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", device, "\" is a partition; name the whole device"));
  }
  return numbers;
}

namespace {

absl::string_view FirstWord(absl::string_view text) {
  return text.substr(0, text.find(' '));
}

// The line of `text` that begins with a word; empty if there is none.
absl::string_view LineOf(absl::string_view text, absl::string_view word) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (FirstWord(line) == word) return absl::StripAsciiWhitespace(line);
  }
  return "";
}

using Keys = std::map<std::string, std::string>;

Keys KeysOf(absl::string_view line) {
  Keys keys;
  for (absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    keys[std::string(parts.first)] = std::string(parts.second);
  }
  return keys;
}

// Percentages have two decimal places, which "95" and "95.00" share.
bool AreEqual(const std::string& a, const std::string& b) {
  if (a == b) return true;
  double first = 0;
  double second = 0;
  return absl::SimpleAtod(a, &first) && absl::SimpleAtod(b, &second) &&
         std::abs(first - second) < 0.005;
}

// What a key means that a line does not have.
std::string Default(absl::string_view file, const std::string& key) {
  if (file == "io.max") return "max";
  if (key == "enable") return "0";
  if (key == "ctrl") return "auto";
  return "";
}

bool LineSays(absl::string_view file, absl::string_view line,
              absl::string_view value) {
  const Keys actual = KeysOf(line);
  Keys wanted = KeysOf(value);
  wanted.erase(std::string(FirstWord(value)));
  for (const auto& [key, wanted_value] : wanted) {
    const auto found = actual.find(key);
    const std::string actual_value =
        found == actual.end() ? Default(file, key) : found->second;
    if (!AreEqual(actual_value, wanted_value)) return false;
  }
  return true;
}

bool ListSays(absl::string_view text, absl::string_view value) {
  const auto actual = base::ParseIndexList(text);
  const auto wanted = base::ParseIndexList(value);
  return actual.ok() && wanted.ok() && *actual == *wanted;
}

}  // namespace

bool HasDevices(absl::string_view file) {
  return file == "io.max" || absl::StartsWith(file, "io.cost.");
}

bool Says(absl::string_view file, absl::string_view text,
          absl::string_view value) {
  const std::string part = RelevantPart(file, text, value);
  if (HasDevices(file)) return LineSays(file, part, value);
  if (absl::StartsWith(file, "cpuset.")) return ListSays(part, value);
  return part == absl::StripAsciiWhitespace(value);
}

std::string RelevantPart(absl::string_view file, absl::string_view text,
                         absl::string_view value) {
  // io.weight has "default 100", and lines of devices.
  if (HasDevices(file) || file == "io.weight") {
    return std::string(LineOf(text, FirstWord(value)));
  }
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string UndoingValue(absl::string_view file, absl::string_view text,
                         absl::string_view value) {
  const std::string part = RelevantPart(file, text, value);
  const absl::string_view device = FirstWord(value);
  if (file == "io.max" && part.empty()) {
    return absl::StrCat(device, " rbps=max wbps=max riops=max wiops=max");
  }
  if (!absl::StartsWith(file, "io.cost.")) return part;
  // Parameters that the kernel chose must not be written: it would take them
  // for ours.
  const Keys before = KeysOf(part);
  const auto ctrl = before.find("ctrl");
  if (ctrl != before.end() && ctrl->second == "user") return part;
  if (file == "io.cost.model") return absl::StrCat(device, " ctrl=auto");
  const auto enable = before.find("enable");
  return absl::StrCat(device,
                      " enable=", enable == before.end() ? "0" : enable->second,
                      " ctrl=auto");
}

}  // namespace distbench::protection
