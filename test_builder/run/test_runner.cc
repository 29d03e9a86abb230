#include "test_builder/run/test_runner.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "test_builder/building/test_factory.h"

namespace distbench::test_builder {
namespace {

// Why the test has no usable result; OK if it has one.
absl::Status FailureOf(const absl::Status& status,
                       const TestSequenceResults& results) {
  if (!status.ok()) return status;
  if (results.test_results_size() != 1) {
    return absl::InternalError("the sequencer sent no result");
  }
  const RunInfo& run_info = results.test_results(0).run_info();
  if (run_info.has_failure()) return absl::AbortedError(run_info.failure());
  return absl::OkStatus();
}

}  // namespace

TestRunner::TestRunner(TestBackend& backend, const ResultDirectory& directory,
                       RunConsole console)
    : backend_(backend), directory_(directory), console_(std::move(console)) {}

std::vector<TestOutcome> TestRunner::RunAll(
    absl::Span<const DistributedSystemDescription> tests) {
  std::vector<TestOutcome> outcomes;
  for (position_ = 0; position_ < static_cast<int>(tests.size()); ++position_) {
    outcomes.push_back(RunOne(tests[position_]));
    if (!outcomes.back().kept) SayWhatIsLeft(tests.subspan(position_ + 1));
  }
  return outcomes;
}

TestOutcome TestRunner::RunOne(const DistributedSystemDescription& test) {
  if (directory_.HasResult(test.name())) return Keep(test);
  TestOutcome not_run;
  not_run.test = test.name();
  if (unreachable_ || console_.stop_requested()) return not_run;
  if (const absl::Status status = backend_.Connect(); !status.ok()) {
    unreachable_ = true;
    Say(status.message());
    Say("Tests without a result are not run; the same command resumes.");
    return not_run;
  }
  if (console_.stop_requested()) return not_run;
  if (const absl::Status status = directory_.WriteConfig(test); !status.ok()) {
    Say(status.message());
    not_run.verdict = TestOutcome::Verdict::kFailed;
    return not_run;
  }
  Announce(test);
  TestSequenceResults results;
  const absl::Status status = RunWithProgress(test, results);
  return Finish(test, status, results);
}

TestOutcome TestRunner::Keep(const DistributedSystemDescription& test) {
  SayProgress(absl::StrCat("Kept ", directory_.ResultPath(test.name()),
                           ", so the test is not run again."));
  if (const std::optional<std::string> other = directory_.FindOtherConfig(test);
      other.has_value()) {
    Say(absl::StrCat("note: ", *other,
                     " differs from the requested config; to measure that, "
                     "use another directory or a label (-l)"));
  }
  const absl::StatusOr<TestResult> result = directory_.ReadResult(test.name());
  TestOutcome outcome;
  if (result.ok()) {
    outcome = OutcomeOf(*result, console_.result_text.objectives);
  } else {
    Say(absl::StrCat(result.status().message(),
                     "; remove it to run the test again"));
    outcome.verdict = TestOutcome::Verdict::kFailed;
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
  if (!status.ok() && console_.stop_requested()) {
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
  const absl::Status failure = FailureOf(status, results);
  absl::Status stored;
  if (failure.ok()) {
    stored = directory_.WriteResult(test.name(), results);
  } else {
    outcome.verdict = TestOutcome::Verdict::kFailed;
    Say(absl::StrCat(test.name(), " failed: ", failure.message()));
    if (measured) {
      stored = directory_.WriteFailedResult(test.name(), results);
      Say(absl::StrCat("Its measurements are in ",
                       directory_.FailedResultPath(test.name()), "."));
    }
  }
  if (!stored.ok()) {
    Say(stored.message());
    outcome.verdict = TestOutcome::Verdict::kFailed;
  }
  return outcome;
}

void TestRunner::Announce(const DistributedSystemDescription& test) {
  SayProgress(absl::StrCat("Individual test config saved in ",
                           directory_.ConfigPath(test.name()), "."));
  SayProgress(absl::StrCat("Trying to produce ",
                           directory_.ResultPath(test.name()), "."));
  const absl::Time now = absl::FromUnixNanos(console_.progress.clock->UnixNs());
  SayProgress(absl::StrCat(
      "Starting at ",
      absl::FormatTime("%a %b %e %H:%M:%S %Z %Y", now, absl::LocalTimeZone()),
      "."));
}

absl::Status TestRunner::RunWithProgress(
    const DistributedSystemDescription& test, TestSequenceResults& results) {
  client::ProgressDisplay display(console_.progress);
  return backend_.Run(
      test,
      [&](const RunTestsEvent& event) {
        // The request to stop may have come before there was a run to cancel.
        if (console_.stop_requested()) backend_.Cancel();
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
  if (count == 0 || unreachable_ || console_.stop_requested()) return;
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
  if (client() != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(address_, tls_);
  if (!client.ok()) return client.status();
  set_client(*std::move(client));
  return absl::OkStatus();
}

absl::Status SequencerBackend::Run(const DistributedSystemDescription& test,
                                   EventObserver observer,
                                   TestSequenceResults& results) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  const absl::Status status = client()->RunTests(sequence, observer, results);
  if (absl::IsUnavailable(status)) set_client(nullptr);
  return status;
}

void SequencerBackend::Cancel() {
  if (const std::shared_ptr<client::TestClient> running = client())
    running->Cancel();
}

std::shared_ptr<client::TestClient> SequencerBackend::client() const {
  absl::MutexLock lock(&mutex_);
  return client_;
}

void SequencerBackend::set_client(std::shared_ptr<client::TestClient> client) {
  absl::MutexLock lock(&mutex_);
  client_ = std::move(client);
}

}  // namespace distbench::test_builder
