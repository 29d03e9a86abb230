// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/run_outcome.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/time_units.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/run_failure.h"

namespace distbench::report {
namespace {

// What findings say about more than themselves, by their codes
// (docs/measuring.md).
enum class Subject { kFailures, kGenerator, kNothing, kOthersOnHosts, kOther };

constexpr std::pair<absl::string_view, Subject> kSubjects[] = {
    {"failed_rpcs", Subject::kFailures},
    {"late_sends", Subject::kGenerator},
    {"nothing_measured", Subject::kNothing},
    {"other_load", Subject::kOthersOnHosts},
    {"stolen", Subject::kOthersOnHosts},
    {"unsent_load", Subject::kGenerator},
    {"waited_for_cpu", Subject::kOthersOnHosts}};

Subject SubjectOf(const Finding& finding) {
  const auto found = absl::c_find_if(kSubjects, [&](const auto& each) {
    return each.first == finding.code();
  });
  return found == std::end(kSubjects) ? Subject::kOther : found->second;
}

bool ReachedItsTimeout(const TestResult& result) {
  const RunInfo& info = result.run_info();
  const absl::StatusOr<int64_t> timeout =
      config::TestTimeoutSeconds(result.traffic_config());
  return timeout.ok() && info.has_start_timestamp_ns() &&
         info.end_timestamp_ns() - info.start_timestamp_ns() >=
             *timeout * base::kNsPerSecond;
}

// The findings that the numbers are false.
std::vector<Finding> InvalidFindings(const TestResult& result,
                                     const TestTotals& totals) {
  std::vector<Finding> findings = FindingsOf(result, totals);
  std::erase_if(findings, [](const Finding& finding) {
    return finding.severity() != Finding::INVALID;
  });
  return findings;
}

}  // namespace

RunOutcome OutcomeOf(const TestResult& result) {
  if (result.run_info().overloaded()) return RunOutcome::kOverloaded;
  if (results::FailureOf(result)) {
    return ReachedItsTimeout(result) ? RunOutcome::kTimedOut
                                     : RunOutcome::kLost;
  }
  return InvalidFindings(result, AddUp(result)).empty() ? RunOutcome::kMeasured
                                                        : RunOutcome::kInvalid;
}

std::string RunVerdict(const TestResult& result, const TestTotals& totals) {
  if (results::FailureOf(result)) return "failed";
  const std::vector<Finding> findings = FindingsOf(result, totals);
  return findings.empty() || findings.front().severity() < Finding::WARN
             ? "ok"
             : SeverityName(findings.front().severity());
}

std::string RunVerdict(const TestResult& result) {
  return RunVerdict(result, AddUp(result));
}

std::string WhyNotMeasured(const TestResult& result) {
  if (const std::optional<std::string> failure = results::FailureOf(result)) {
    return absl::StrCat("did not run to its end: ", *failure);
  }
  const std::vector<Finding> invalid = InvalidFindings(result, AddUp(result));
  return invalid.empty()
             ? ""
             : absl::StrCat("is invalid: ", invalid.front().message());
}

InvalidCauses InvalidCausesOf(const TestResult& result,
                              const TestTotals& totals) {
  InvalidCauses causes;
  bool is_empty = false;
  for (const Finding& finding : InvalidFindings(result, totals)) {
    const Subject subject = SubjectOf(finding);
    causes.requests_failed |= subject == Subject::kFailures;
    causes.generator |= subject == Subject::kGenerator;
    is_empty |= subject == Subject::kNothing;
    causes.other |=
        subject == Subject::kOther || subject == Subject::kOthersOnHosts;
  }
  // That nothing was measured needs no mention where another finding says why.
  causes.other |= is_empty && !causes.requests_failed && !causes.generator;
  return causes;
}

std::vector<std::string> DisturbancesOf(const TestResult& result) {
  std::vector<std::string> messages;
  for (const Finding& finding : result.run_info().findings()) {
    if (finding.severity() >= Finding::WARN &&
        SubjectOf(finding) == Subject::kOthersOnHosts) {
      messages.push_back(finding.message());
    }
  }
  return messages;
}

}  // namespace distbench::report
