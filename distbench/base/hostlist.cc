// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/hostlist.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace distbench::base {
namespace {

// More digits could not be counted with.
constexpr size_t kMaxDigits = 18;

using Names = std::vector<std::string>;

absl::Status Wrong(absl::string_view problem) {
  return absl::InvalidArgumentError(problem);
}

absl::Status TooMany() {
  return Wrong(absl::StrCat("it has more than ", kMaxHostsInList, " hosts"));
}

bool ParseNumber(absl::string_view text, int64_t& number) {
  return !text.empty() && text.size() <= kMaxDigits &&
         text.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(text, &number);
}

// Appends the numbers of "7" or "08-11".
absl::Status AppendRange(absl::string_view text, Names& numbers) {
  const std::vector<absl::string_view> ends =
      absl::StrSplit(text, absl::MaxSplits('-', 1));
  int64_t first = 0;
  int64_t last = 0;
  if (!ParseNumber(ends.front(), first) || !ParseNumber(ends.back(), last)) {
    return Wrong(absl::StrCat("\"", text,
                              "\" in brackets is not a number or a range such "
                              "as 1-3"));
  }
  if (last < first) {
    return Wrong(absl::StrCat("the range ", text, " runs backwards"));
  }
  if (last - first >= static_cast<int64_t>(kMaxHostsInList - numbers.size())) {
    return TooMany();
  }
  const int width = static_cast<int>(ends.front().size());
  for (int64_t number = first; number <= last; ++number) {
    numbers.push_back(absl::StrFormat("%0*d", width, number));
  }
  return absl::OkStatus();
}

absl::StatusOr<Names> ParseBracket(absl::string_view text) {
  Names numbers;
  for (const absl::string_view range : absl::StrSplit(text, ',')) {
    const absl::Status status = AppendRange(range, numbers);
    if (!status.ok()) return status;
  }
  return numbers;
}

// Appends each of the endings to each of the names.
absl::Status Multiply(const Names& endings, Names& names) {
  if (names.size() * endings.size() > kMaxHostsInList) return TooMany();
  Names longer;
  longer.reserve(names.size() * endings.size());
  for (const std::string& name : names) {
    for (const std::string& ending : endings) {
      longer.push_back(absl::StrCat(name, ending));
    }
  }
  names = std::move(longer);
  return absl::OkStatus();
}

// Expands one element of the list, such as "rack[1-2]-n[08-11]".
absl::StatusOr<Names> Expand(absl::string_view element) {
  if (element.empty()) return Wrong("it has an empty name");
  Names names = {""};
  while (!element.empty()) {
    const size_t open = element.find('[');
    const absl::string_view plain = element.substr(0, open);
    if (plain.find(']') != absl::string_view::npos) {
      return Wrong("a \"]\" has no \"[\"");
    }
    absl::Status status = Multiply({std::string(plain)}, names);
    if (!status.ok()) return status;
    if (open == absl::string_view::npos) break;
    const size_t close = element.find(']', open);
    if (close == absl::string_view::npos) return Wrong("a \"[\" has no \"]\"");
    const absl::StatusOr<Names> numbers =
        ParseBracket(element.substr(open + 1, close - open - 1));
    if (!numbers.ok()) return numbers.status();
    status = Multiply(*numbers, names);
    if (!status.ok()) return status;
    element.remove_prefix(close + 1);
  }
  return names;
}

// Splits at commas outside of brackets.
std::vector<absl::string_view> SplitElements(absl::string_view list) {
  std::vector<absl::string_view> elements;
  size_t begin = 0;
  bool in_bracket = false;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') in_bracket = true;
    if (list[i] == ']') in_bracket = false;
    if (list[i] != ',' || in_bracket) continue;
    elements.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  elements.push_back(list.substr(begin));
  return elements;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseHostlist(absl::string_view list) {
  const auto error = [list](const absl::Status& problem) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", list,
        "\" is not a list of hosts such as n[1-3,7]: ", problem.message()));
  };
  Names hosts;
  for (const absl::string_view element : SplitElements(list)) {
    const absl::StatusOr<Names> names = Expand(element);
    if (!names.ok()) return error(names.status());
    if (names->size() > kMaxHostsInList - hosts.size()) return error(TooMany());
    hosts.insert(hosts.end(), names->begin(), names->end());
  }
  return hosts;
}

}  // namespace distbench::base
