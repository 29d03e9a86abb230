#include "distbench/report/text/failure_lines.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "distbench/base/saturating_add.h"

namespace distbench::report {
namespace {

// Maximum number of distinct causes per RPC. A broken run may have thousands.
constexpr int kMaxCauses = 10;

void AppendCauses(const std::string& rpc,
                  const std::map<std::string, int64_t>& causes,
                  std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, int64_t>> by_count(causes.begin(),
                                                        causes.end());
  std::stable_sort(
      by_count.begin(), by_count.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  const int shown = std::min<int>(by_count.size(), kMaxCauses);
  for (int i = 0; i < shown; ++i) {
    lines.push_back(absl::StrFormat("  %s: %d failed: %s", rpc,
                                    by_count[i].second,
                                    OneLine(by_count[i].first)));
  }
  int64_t rest = 0;
  for (int i = shown; i < by_count.size(); ++i) {
    base::SaturatingAddTo(rest, by_count[i].second);
  }
  if (rest > 0) {
    lines.push_back(absl::StrFormat("  %s: %d failed: %d more causes", rpc,
                                    rest, by_count.size() - shown));
  }
}

// Instances that stopped early, grouped by reason, because many often share
// one.
void AppendStoppedInstances(const TestResult& result,
                            std::vector<std::string>& lines) {
  std::map<std::string, std::vector<std::string>> instances_by_reason;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    if (log.has_engine_error_message()) {
      instances_by_reason[log.engine_error_message()].push_back(name);
    }
  }
  for (auto& [reason, instances] : instances_by_reason) {
    std::sort(instances.begin(), instances.end());
    const std::string others =
        instances.size() == 1
            ? ""
            : absl::StrCat(" and ", instances.size() - 1, " more");
    lines.push_back(absl::StrFormat("  %s%s: stopped early: %s",
                                    instances.front(), others,
                                    OneLine(reason)));
  }
}

}  // namespace

std::string OneLine(absl::string_view message) {
  return absl::StrReplaceAll(message, {{"\r", ""}, {"\n", " "}});
}

std::vector<std::string> FailureLines(const TestResult& result,
                                      const TestTotals& totals) {
  std::vector<std::string> lines;
  for (const auto& [rpc, causes] : totals.failures) {
    AppendCauses(rpc, causes, lines);
  }
  AppendStoppedInstances(result, lines);
  return lines;
}

}  // namespace distbench::report
