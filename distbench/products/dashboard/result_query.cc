#include "distbench/products/dashboard/result_query.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace distbench::dashboard {
namespace {

constexpr char kAttribute[] = "attribute";

absl::Status ReadTime(const Target& target, const std::string& name,
                      std::optional<int64_t>& time_ms) {
  const std::string text = ParameterOf(target, name);
  if (text.empty()) return absl::OkStatus();
  int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is \"", text, "\"; it must be a time in Unix milliseconds"));
  }
  time_ms = value;
  return absl::OkStatus();
}

absl::Status ReadLimit(const Target& target, int& limit) {
  const std::string text = ParameterOf(target, "limit");
  if (text.empty() || (absl::SimpleAtoi(text, &limit) && limit > 0 &&
                       limit <= history::kMaxPageSize)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "limit is \"", text, "\"; it must be 1 to ", history::kMaxPageSize));
}

absl::Status ReadAttributes(const Target& target, history::ResultQuery& query) {
  const auto [begin, end] = target.parameters.equal_range(kAttribute);
  for (auto it = begin; it != end; ++it) {
    const std::pair<std::string, std::string> attribute =
        absl::StrSplit(it->second, absl::MaxSplits('=', 1));
    if (attribute.first.empty() || attribute.second.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute is \"", it->second, "\"; it must be NAME=VALUE"));
    }
    query.attributes.insert(attribute);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckParameters(const Target& target,
                             std::initializer_list<absl::string_view> known) {
  for (const auto& [name, value] : target.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no parameter \"", name, "\"; ",
          known.size() == 0
              ? "there are none"
              : absl::StrCat("there are ", absl::StrJoin(known, ", "))));
    }
    if (name != kAttribute && target.parameters.count(name) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("give \"", name, "\" only once"));
    }
  }
  return absl::OkStatus();
}

std::string ParameterOf(const Target& target, const std::string& name) {
  const auto found = target.parameters.find(name);
  return found == target.parameters.end() ? "" : found->second;
}

absl::StatusOr<history::ResultQuery> ReadResultQuery(const Target& target) {
  history::ResultQuery query;
  absl::Status status =
      CheckParameters(target, {"search", "test", "label", kAttribute, "host",
                               "after", "before", "limit", "cursor"});
  query.search = ParameterOf(target, "search");
  query.test = ParameterOf(target, "test");
  query.label = ParameterOf(target, "label");
  query.host = ParameterOf(target, "host");
  query.cursor = ParameterOf(target, "cursor");
  status.Update(ReadTime(target, "after", query.after_ms));
  status.Update(ReadTime(target, "before", query.before_ms));
  status.Update(ReadLimit(target, query.limit));
  status.Update(ReadAttributes(target, query));
  if (!status.ok()) return status;
  return query;
}

}  // namespace distbench::dashboard
