// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/resumption.h"

#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/search_report.h"
#include "google/protobuf/util/message_differencer.h"

namespace distbench::search {
namespace {

// Another host's logarithms may differ in the last digit.
constexpr double kRounding = 1e-9;

bool IsSame(double a, double b) {
  return std::abs(a - b) <= kRounding * std::abs(b);
}

bool IsSame(const ProbeRequest& recorded, const ProbeRequest& asked) {
  return recorded.phase == asked.phase && IsSame(recorded.load, asked.load) &&
         IsSame(recorded.length, asked.length);
}

std::string Describe(const ProbeRequest& request) {
  return absl::StrFormat("%s at %.9g, of length %g", ToString(request.phase),
                         request.load, request.length);
}

}  // namespace

absl::Status CheckSame(absl::string_view what,
                       const google::protobuf::Message& recorded,
                       const google::protobuf::Message& asked) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  if (differencer.Compare(recorded, asked)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(what, "; the difference:\n", differences));
}

std::set<std::string> HostsOf(const GetStatusResponse& status) {
  std::set<std::string> hosts;
  for (const NodeStatus& node : status.nodes()) {
    hosts.insert(node.registration().hostname());
  }
  return hosts;
}

std::set<std::string> HostsOf(const TestSequenceResults& results) {
  std::set<std::string> hosts;
  for (const TestResult& result : results.test_results()) {
    for (const auto& [alias, node] :
         result.resource_usage_logs().node_resources()) {
      // Earlier versions did not tell.
      if (!node.host().hostname().empty()) hosts.insert(node.host().hostname());
    }
  }
  return hosts;
}

absl::Status CheckHosts(const std::set<std::string>& measured,
                        const std::set<std::string>& present,
                        absl::string_view remedy) {
  std::vector<std::string> missing;
  absl::c_set_difference(measured, present, std::back_inserter(missing));
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "it has measured on ", absl::StrJoin(missing, ", "),
      ", where no node is now (",
      present.empty()
          ? "there is none at all"
          : absl::StrCat("nodes are on ", absl::StrJoin(present, ", ")),
      "); ", remedy));
}

absl::Status CheckHosts(const TestSequenceResults& results,
                        const GetStatusResponse& status) {
  return CheckHosts(HostsOf(results), HostsOf(status),
                    "start one there, or begin anew, in another file");
}

absl::Status ReplayProbes(const SearchReport& report,
                          absl::FunctionRef<std::optional<ProbeRequest>()> next,
                          absl::FunctionRef<void(const Probe& probe)> add) {
  for (const SearchProbe& record : report.probes()) {
    if (record.outcome() == kFailedOutcome) continue;
    const absl::StatusOr<Probe> probe = ToProbe(record);
    if (!probe.ok()) return probe.status();
    const std::optional<ProbeRequest> asked = next();
    if (!asked || !IsSame(probe->request, *asked)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "probe ", record.number(), " (", Describe(probe->request),
          ") is not what is asked for in its place (",
          asked ? Describe(*asked) : "nothing",
          "): another version of distbench recorded it, or the file was "
          "changed; begin anew, in another file"));
    }
    add(*probe);
  }
  return absl::OkStatus();
}

void ClearConclusion(SearchReport& report) {
  report.clear_verdict();
  report.clear_evidence();
  report.clear_load();
  report.clear_min_load();
  report.clear_max_load();
  report.clear_confidence_level();
  report.clear_is_proven();
}

SearchReport WithoutAnswer(const SearchReport& report) {
  SearchReport question = report;
  ClearConclusion(question);
  question.clear_probes();
  question.clear_earlier_attempts();
  return question;
}

void BeginAnotherAttempt(SearchReport& report) {
  SearchReport next = WithoutAnswer(report);
  *next.mutable_earlier_attempts() =
      std::move(*report.mutable_earlier_attempts());
  // Of the attempt, only what came of it: the question is that of all.
  SearchReport& attempt = *next.add_earlier_attempts();
  *attempt.mutable_probes() = std::move(*report.mutable_probes());
  attempt.set_verdict(report.verdict());
  attempt.set_evidence(report.evidence());
  report = std::move(next);
}

}  // namespace distbench::search
