#include "distbench/products/protection/control_groups/group_statistics.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace distbench::protection {
namespace {

constexpr int64_t kNsPerUs = 1'000;

class GroupReader {
 public:
  GroupReader(const std::string& folder, const GroupFiles& files)
      : folder_(folder), files_(files) {}

  // The only number in a file.
  std::optional<int64_t> Number(absl::string_view file) const {
    return Parse(Text(file));
  }

  // The number of a line "NAME NUMBER".
  std::optional<int64_t> Line(absl::string_view file,
                              absl::string_view name) const {
    for (const Words& words : Lines(file)) {
      if (words.size() == 2 && words[0] == name) return Parse(words[1]);
    }
    return std::nullopt;
  }

  // The number of "KEY=NUMBER" in a line that begins with a name.
  std::optional<int64_t> Key(absl::string_view file, absl::string_view name,
                             absl::string_view key) const {
    for (const Words& words : Lines(file)) {
      if (words[0] == name) return FindKey(words, key);
    }
    return std::nullopt;
  }

  // The sum of "KEY=NUMBER" in all lines: 0 if there are none, as in a group
  // that has not used any device.
  std::optional<int64_t> Sum(absl::string_view file,
                             absl::string_view key) const {
    if (!Read(file).ok()) return std::nullopt;
    int64_t sum = 0;
    for (const Words& words : Lines(file)) {
      sum += FindKey(words, key).value_or(0);
    }
    return sum;
  }

 private:
  using Words = std::vector<std::string>;

  // Each file is read once: opening it takes the kernel longer than writing its
  // text, and all numbers of a file are then of the same moment.
  const absl::StatusOr<std::string>& Read(absl::string_view file) const {
    const auto known = texts_.find(file);
    if (known != texts_.end()) return known->second;
    return texts_.emplace(file, files_.Read(absl::StrCat(folder_, "/", file)))
        .first->second;
  }

  std::string Text(absl::string_view file) const {
    return Read(file).value_or("");
  }

  // Each has at least one word.
  std::vector<Words> Lines(absl::string_view file) const {
    const std::string text = Text(file);
    std::vector<Words> lines;
    for (absl::string_view line :
         absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
      lines.push_back(absl::StrSplit(line, ' ', absl::SkipEmpty()));
    }
    return lines;
  }

  static std::optional<int64_t> Parse(const std::string& text) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
    return number;
  }

  static std::optional<int64_t> FindKey(const Words& words,
                                        absl::string_view key) {
    for (const std::string& word : words) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      if (parts.first == key) return Parse(parts.second);
    }
    return std::nullopt;
  }

  const std::string& folder_;
  const GroupFiles& files_;
  mutable std::map<std::string, absl::StatusOr<std::string>, std::less<>>
      texts_;
};

using Setter = void (GroupUse::*)(int64_t);

void SetIf(std::optional<int64_t> value, int64_t unit, Setter set,
           GroupUse& use) {
  if (value.has_value()) (use.*set)(*value * unit);
}

}  // namespace

GroupUse ReadGroupUse(const std::string& folder, const GroupFiles& files) {
  const GroupReader group(folder, files);
  GroupUse use;
  const auto set = [&](std::optional<int64_t> value, Setter setter) {
    SetIf(value, 1, setter, use);
  };
  const auto set_us = [&](std::optional<int64_t> value, Setter setter) {
    SetIf(value, kNsPerUs, setter, use);
  };
  set_us(group.Line("cpu.stat", "usage_usec"), &GroupUse::set_cpu_ns);
  set_us(group.Line("cpu.stat", "system_usec"), &GroupUse::set_system_cpu_ns);
  set_us(group.Line("cpu.stat", "throttled_usec"), &GroupUse::set_throttled_ns);
  set(group.Number("memory.current"), &GroupUse::set_memory_bytes);
  set(group.Number("memory.swap.current"), &GroupUse::set_swap_bytes);
  set(group.Sum("io.stat", "rbytes"), &GroupUse::set_read_bytes);
  set(group.Sum("io.stat", "wbytes"), &GroupUse::set_written_bytes);
  set(group.Sum("io.stat", "rios"), &GroupUse::set_read_operations);
  set(group.Sum("io.stat", "wios"), &GroupUse::set_write_operations);
  set_us(group.Key("cpu.pressure", "some", "total"),
         &GroupUse::set_some_cpu_pressure_ns);
  set_us(group.Key("memory.pressure", "some", "total"),
         &GroupUse::set_some_memory_pressure_ns);
  set_us(group.Key("memory.pressure", "full", "total"),
         &GroupUse::set_full_memory_pressure_ns);
  set_us(group.Key("io.pressure", "some", "total"),
         &GroupUse::set_some_io_pressure_ns);
  set_us(group.Key("io.pressure", "full", "total"),
         &GroupUse::set_full_io_pressure_ns);
  return use;
}

}  // namespace distbench::protection
