#include "distbench/report/measurements/run_outcome.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/config/syntax/traffic.h"

namespace distbench::report {
namespace {

// Codes of findings about others on the hosts (docs/measuring.md).
constexpr const char* kDisturbances[] = {"other_load", "stolen",
                                         "waited_for_cpu"};

bool ReachedItsTimeout(const TestResult& result) {
  const RunInfo& info = result.run_info();
  const absl::StatusOr<int64_t> timeout =
      config::TestTimeoutSeconds(result.traffic_config());
  return timeout.ok() && info.has_start_timestamp_ns() &&
         info.end_timestamp_ns() - info.start_timestamp_ns() >=
             *timeout * base::kNsPerSecond;
}

// Null if the numbers are not false.
const Finding* FindInvalid(const TestResult& result) {
  for (const Finding& finding : result.run_info().findings()) {
    if (finding.severity() == Finding::INVALID) return &finding;
  }
  return nullptr;
}

}  // namespace

RunOutcome OutcomeOf(const TestResult& result) {
  if (result.run_info().overloaded()) return RunOutcome::kOverloaded;
  if (result.run_info().has_failure()) {
    return ReachedItsTimeout(result) ? RunOutcome::kTimedOut
                                     : RunOutcome::kLost;
  }
  return FindInvalid(result) == nullptr ? RunOutcome::kMeasured
                                        : RunOutcome::kInvalid;
}

std::string WhyNotMeasured(const TestResult& result) {
  switch (OutcomeOf(result)) {
    case RunOutcome::kMeasured:
      return "";
    case RunOutcome::kInvalid:
      return absl::StrCat("is invalid: ", FindInvalid(result)->message());
    case RunOutcome::kOverloaded:
    case RunOutcome::kTimedOut:
    case RunOutcome::kLost:
      break;
  }
  return absl::StrCat("did not run to its end: ", result.run_info().failure());
}

std::vector<std::string> DisturbancesOf(const TestResult& result) {
  std::vector<std::string> messages;
  for (const Finding& finding : result.run_info().findings()) {
    if (finding.severity() >= Finding::WARN &&
        absl::c_linear_search(kDisturbances, finding.code())) {
      messages.push_back(finding.message());
    }
  }
  return messages;
}

}  // namespace distbench::report
