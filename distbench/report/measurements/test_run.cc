// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/test_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "google/protobuf/util/message_differencer.h"

namespace distbench::report {

std::string RunNumber(const TestRun& run) {
  return run.repetition > 0 ? absl::StrCat(" #", run.repetition + 1) : "";
}

std::vector<TestRun> ListRuns(absl::Span<const SourcedResults> results) {
  std::vector<TestRun> runs;
  for (const SourcedResults& sourced : results) {
    const auto& tests = sourced.results.test_results();
    for (int i = 0; i < tests.size(); ++i) {
      const std::string& name = tests[i].traffic_config().name();
      runs.push_back(
          {.source = sourced.source,
           .name = name.empty() ? absl::StrCat("tests[", i, "]") : name,
           .repetition = tests[i].run_info().repetition(),
           .result = &tests[i],
           .sequence = &sourced.results});
    }
  }
  return runs;
}

std::vector<RunGroup> GroupRuns(
    absl::Span<const TestRun> runs,
    const std::function<std::string(const TestRun&)>& key_of) {
  std::vector<RunGroup> groups;
  std::map<std::string, size_t> positions;
  for (const TestRun& run : runs) {
    const auto [position, is_new] =
        positions.emplace(key_of(run), groups.size());
    if (is_new) groups.push_back({position->first, {}});
    groups[position->second].runs.push_back(run);
  }
  return groups;
}

ReportInput InputOf(absl::Span<const SourcedResults> results) {
  return {.runs = ListRuns(results), .results = results};
}

std::vector<int> ListRpcs(const TestResult& result) {
  std::set<int> indices;
  for (int i = 0; i < result.traffic_config().rpc_descriptions_size(); ++i) {
    indices.insert(i);
  }
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    for (const auto& [server, peer_log] : log.peer_logs()) {
      for (const auto* logs : {&peer_log.rpc_logs(), &peer_log.replay_logs()}) {
        for (const auto& [index, rpc_log] : *logs) indices.insert(index);
      }
    }
    for (const auto& [index, series] : log.rpc_time_series()) {
      indices.insert(index);
    }
  }
  return {indices.begin(), indices.end()};
}

std::string SeverityName(Finding::Severity severity) {
  switch (severity) {
    case Finding::INVALID:
      return "invalid";
    case Finding::WARN:
      return "warn";
    case Finding::NOTE:
    case Finding::UNKNOWN:
      break;
  }
  return "note";
}

namespace {

Finding OnDamage(const std::vector<std::string>& logs) {
  Finding finding;
  finding.set_severity(Finding::INVALID);
  finding.set_code("damaged_logs");
  finding.set_message(absl::StrCat(
      logs.size() == 1
          ? "1 log is left out because its"
          : absl::StrCat(logs.size(), " logs are left out because their"),
      " statistics are damaged; the first: ", logs.front()));
  finding.set_advice(
      "Do not use this result. Fetch it again from the sequencer, or repeat "
      "the run.");
  return finding;
}

}  // namespace

std::vector<Finding> FindingsOf(const TestResult& result,
                                const TestTotals& totals) {
  std::vector<Finding> findings;
  if (!totals.damaged_logs.empty()) {
    findings.push_back(OnDamage(totals.damaged_logs));
  }
  const auto& stored = result.run_info().findings();
  findings.insert(findings.end(), stored.begin(), stored.end());
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return a.severity() > b.severity();
                   });
  return findings;
}

namespace {

constexpr absl::string_view kMoreBegins = "there are ";
constexpr absl::string_view kMoreEnds = " more findings of this kind";

// How many findings a message of MoreFindings() stands for; 1 for others.
// Results have no number beside it, and those of 1.0 never will.
int CountOf(absl::string_view message) {
  int count = 0;
  const bool is_more = absl::ConsumePrefix(&message, kMoreBegins) &&
                       absl::ConsumeSuffix(&message, kMoreEnds) &&
                       absl::SimpleAtoi(message, &count);
  return is_more ? count : 1;
}

void FoldHosts(FindingKind& kind) {
  if (kind.messages.size() < 2 || !IsOfEachHost(kind.code)) return;
  int count = 0;
  for (const std::string& message : kind.messages) count += CountOf(message);
  kind.messages = {
      absl::StrCat("on ", count, " hosts, such as: ", kind.messages[0])};
}

}  // namespace

bool IsOfEachHost(absl::string_view code) {
  constexpr absl::string_view kCodes[] = {
      "brief_host", "cpu_saturated", "other_load",    "retransmits",
      "stolen",     "throttled",     "waited_for_cpu"};
  return absl::c_linear_search(kCodes, code);
}

Finding MoreFindings(Finding::Severity severity, const std::string& code,
                     int count) {
  Finding finding;
  finding.set_severity(severity);
  finding.set_code(code);
  finding.set_message(absl::StrCat(kMoreBegins, count, kMoreEnds));
  return finding;
}

std::vector<FindingKind> KindsOf(absl::Span<const Finding> findings) {
  std::vector<FindingKind> kinds;
  for (const Finding& finding : findings) {
    auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const FindingKind& each) {
          return each.severity == finding.severity() &&
                 each.code == finding.code();
        });
    if (kind == kinds.end()) {
      kind = kinds.insert(kinds.end(),
                          {finding.severity(), finding.code(), {}, ""});
    }
    kind->messages.push_back(finding.message());
    if (kind->advice.empty()) kind->advice = finding.advice();
  }
  for (FindingKind& kind : kinds) FoldHosts(kind);
  return kinds;
}

std::string MarkedName(const std::string& name, const TestResult& result) {
  return IsSimulated(result) ? absl::StrCat(name, kSimulatedMark) : name;
}

std::string OriginOf(absl::Span<const TestRun> runs) {
  if (MixesOrigins(runs)) return "real and simulated";
  const bool is_real = runs.empty() || !IsSimulated(*runs.front().result);
  return is_real ? kRealOrigin : "simulated";
}

bool MixesOrigins(absl::Span<const TestRun> runs) {
  return std::any_of(runs.begin(), runs.end(), [&](const TestRun& run) {
    return IsSimulated(*run.result) != IsSimulated(*runs.front().result);
  });
}

bool IsSameRun(const TestRun& one, const TestRun& other) {
  if (one.result == other.result) return true;
  const RunInfo& info = one.result->run_info();
  const RunInfo& of_other = other.result->run_info();
  return info.start_timestamp_ns() > 0 && !IsSimulated(*one.result) &&
         info.start_timestamp_ns() == of_other.start_timestamp_ns() &&
         info.end_timestamp_ns() == of_other.end_timestamp_ns() &&
         info.random_seed() == of_other.random_seed() &&
         info.config_hash() == of_other.config_hash() &&
         google::protobuf::util::MessageDifferencer::Equals(
             one.result->service_logs(), other.result->service_logs());
}

std::string WhyCopies(absl::Span<const TestRun> runs) {
  std::set<uint64_t> seeds;
  std::map<int64_t, std::vector<TestRun>> starts;
  for (const TestRun& run : runs) {
    const RunInfo& info = run.result->run_info();
    if (IsSimulated(*run.result)) {
      if (info.has_random_seed() && !seeds.insert(info.random_seed()).second) {
        return "has simulated runs with the same seed, which are copies and no "
               "repeats; simulate each with its own (--seed)";
      }
      continue;
    }
    std::vector<TestRun>& begun_then = starts[info.start_timestamp_ns()];
    for (const TestRun& other : begun_then) {
      if (IsSameRun(run, other)) {
        return "has a run twice, and a copy is no repeat; give each once";
      }
    }
    begun_then.push_back(run);
  }
  return "";
}

}  // namespace distbench::report
