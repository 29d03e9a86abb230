// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/run/test_runner.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/objectives/objectives.h"
#include "test_builder/building/test_factory.h"

namespace distbench::test_builder {
namespace {

// Why the test has to be run again, to follow its name; empty if its result is
// one to keep.
std::string ProblemOf(const absl::Status& status,
                      const TestSequenceResults& results, bool allow_invalid) {
  if (!status.ok()) return absl::StrCat("failed: ", status.message());
  if (results.test_results_size() != 1) {
    return "failed: the sequencer sent no result";
  }
  const TestResult& result = results.test_results(0);
  const bool is_allowed = allow_invalid && report::OutcomeOf(result) ==
                                               report::RunOutcome::kInvalid;
  return is_allowed ? "" : report::WhyNotMeasured(result);
}

}  // namespace

TestOutcome OutcomeOf(const TestResult& result,
                      absl::Span<const std::string> objectives) {
  report::TestRow row = report::RowOf(result);
  return {.test = std::move(row.test),
          .verdict = std::move(row.verdict),
          .rpcs = std::move(row.rpcs),
          .objectives = report::CheckObjectives(result, objectives)};
}

std::string OutcomeTable(absl::Span<const TestOutcome> outcomes) {
  std::vector<report::TestRow> rows;
  for (const TestOutcome& outcome : outcomes) {
    rows.push_back({.test = outcome.test,
                    .verdict = absl::StrCat(outcome.verdict,
                                            outcome.kept ? " (kept)" : ""),
                    .rpcs = outcome.rpcs});
  }
  return report::TestTable(rows);
}

TestRunner::TestRunner(TestBackend& backend, const ResultDirectory& directory,
                       RunConsole console, bool allow_invalid)
    : backend_(backend),
      directory_(directory),
      console_(std::move(console)),
      allow_invalid_(allow_invalid) {}

std::vector<TestOutcome> TestRunner::RunAll(
    absl::Span<const DistributedSystemDescription> tests) {
  console_.stop->SetHandler([this] { backend_.Cancel(); });
  std::vector<TestOutcome> outcomes;
  for (position_ = 0; position_ < static_cast<int>(tests.size()); ++position_) {
    outcomes.push_back(RunOne(tests[position_]));
    if (!outcomes.back().kept) SayWhatIsLeft(tests.subspan(position_ + 1));
  }
  console_.stop->SetHandler({});
  return outcomes;
}

TestOutcome TestRunner::RunOne(const DistributedSystemDescription& test) {
  if (directory_.HasResult(test.name())) return Keep(test);
  TestOutcome not_run;
  not_run.test = test.name();
  if (unreachable_ || console_.stop->requested()) return not_run;
  if (const absl::Status status = backend_.Connect(); !status.ok()) {
    unreachable_ = true;
    Say(status.message());
    Say("Tests without a result are not run; the same command resumes.");
    return not_run;
  }
  if (console_.stop->requested()) return not_run;
  if (const absl::Status status = directory_.WriteConfig(test); !status.ok()) {
    Say(status.message());
    not_run.verdict = kFailed;
    return not_run;
  }
  SayProgress(absl::StrCat("Individual test config saved in ",
                           directory_.ConfigPath(test.name()), "."));
  SayProgress(absl::StrCat("Trying to produce ",
                           directory_.ResultPath(test.name()), "."));
  const absl::Time now = absl::FromUnixNanos(console_.progress.clock->UnixNs());
  SayProgress(absl::StrCat(
      "Starting at ",
      absl::FormatTime("%a %b %e %H:%M:%S %Z %Y", now, absl::LocalTimeZone()),
      "."));
  TestSequenceResults results;
  const absl::Status status = RunWithProgress(test, results);
  return Finish(test, status, results);
}

TestOutcome TestRunner::Keep(const DistributedSystemDescription& test) {
  SayProgress(
      absl::StrCat("Kept ", directory_.ResultPath(test.name()),
                   ", so the test is not run again; remove it to do so."));
  const absl::StatusOr<TestResult> result = directory_.ReadResult(test.name());
  TestOutcome outcome;
  if (result.ok()) {
    outcome = OutcomeOf(*result, console_.result_text.objectives);
  } else {
    Say(absl::StrCat(result.status().message(),
                     "; remove it to run the test again"));
    outcome.verdict = kFailed;
  }
  outcome.test = test.name();
  outcome.kept = true;
  return outcome;
}

TestOutcome TestRunner::Finish(const DistributedSystemDescription& test,
                               const absl::Status& status,
                               const TestSequenceResults& results) {
  TestOutcome outcome;
  outcome.test = test.name();
  if (!status.ok() && console_.stop->requested()) {
    Say(absl::StrCat("Stopped ", test.name(),
                     "; the same command runs it again."));
    return outcome;
  }
  const bool measured = results.test_results_size() > 0;
  if (measured) {
    *console_.output << report::ResultText(results.test_results(0),
                                           console_.result_text)
                     << std::flush;
    outcome =
        OutcomeOf(results.test_results(0), console_.result_text.objectives);
    outcome.test = test.name();
  }
  const std::string problem = ProblemOf(status, results, allow_invalid_);
  absl::Status stored;
  if (problem.empty()) {
    stored = directory_.WriteResult(test.name(), results);
  } else {
    if (!status.ok() || !measured) outcome.verdict = kFailed;
    Say(absl::StrCat(test.name(), " ", problem));
    if (measured) {
      stored = directory_.WriteFailedResult(test.name(), results);
      Say(absl::StrCat("Its measurements are in ",
                       directory_.FailedResultPath(test.name()), "."));
    }
  }
  if (!stored.ok()) {
    Say(stored.message());
    outcome.verdict = kFailed;
  }
  return outcome;
}

absl::Status TestRunner::RunWithProgress(
    const DistributedSystemDescription& test, TestSequenceResults& results) {
  client::ProgressDisplay display(console_.progress);
  return backend_.Run(
      test,
      [&](const RunTestsEvent& event) {
        RunTestsEvent shown = event;
        shown.set_test_index(position_);
        display.Show(shown);
      },
      results);
}

void TestRunner::SayWhatIsLeft(
    absl::Span<const DistributedSystemDescription> tests) {
  int count = 0;
  double seconds = 0;
  for (const DistributedSystemDescription& test : tests) {
    if (directory_.HasResult(test.name())) continue;
    ++count;
    seconds += TrafficSeconds(test);
  }
  if (count == 0 || unreachable_ || console_.stop->requested()) return;
  SayProgress(absl::StrCat(
      count, count == 1 ? " test" : " tests", " left, about ",
      absl::FormatDuration(absl::Seconds(static_cast<int64_t>(seconds))),
      " of traffic."));
}

void TestRunner::SayProgress(absl::string_view text) {
  if (!console_.quiet) Say(text);
}

void TestRunner::Say(absl::string_view text) {
  *console_.messages << text << std::endl;
}

SequencerBackend::SequencerBackend(std::string address, security::TlsFiles tls)
    : address_(std::move(address)), tls_(std::move(tls)) {}

absl::Status SequencerBackend::Connect() {
  if (client_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(address_, tls_);
  if (!client.ok()) return client.status();
  clients_.push_back(*std::move(client));
  client_ = clients_.back().get();
  return absl::OkStatus();
}

absl::Status SequencerBackend::Run(const DistributedSystemDescription& test,
                                   EventObserver observer,
                                   TestSequenceResults& results) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  const absl::Status status =
      clients_.back()->RunTests(sequence, observer, results);
  if (absl::IsUnavailable(status)) client_ = nullptr;
  return status;
}

void SequencerBackend::Cancel() {
  if (client::TestClient* const running = client_) running->Cancel();
}

}  // namespace distbench::test_builder
