#include "distbench/products/protection/control_groups/read_back.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/index_list.h"

namespace distbench::protection {
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
