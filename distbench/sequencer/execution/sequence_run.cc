// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/sequence_run.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/version.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/execution/progress.h"
#include "distbench/sequencer/execution/summary_logs.h"
#include "distbench/sequencer/placement/placement.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
namespace {

absl::Duration TestTimeout(const DistributedSystemDescription& test) {
  // Invalid timeouts were refused before.
  return absl::Seconds(config::TestTimeoutSeconds(test).value_or(
      config::kDefaultTestTimeoutSeconds));
}

Finding BriefSummary() {
  Finding finding;
  finding.set_severity(Finding::NOTE);
  finding.set_code("brief_summary");
  finding.set_message(
      "the summary and the findings are made from briefer measurements than "
      "those of the result, which need more than the sequencer's "
      "--results_memory: without percentiles of single pairs of client and "
      "server, or without these pairs, and with longer intervals of series");
  finding.set_advice(
      "Nothing, if the summary says what you need; reports of the result use "
      "all of it. Otherwise raise --results_memory of the sequencer.");
  return finding;
}

// Passes on the events of one test, and keeps the data for its summary.
class TestFollower final : public TestRunObserver {
 public:
  TestFollower(int test_index, TestStarted started, bool keep_instance_log,
               RunEnvironment& environment, RunRecord& record)
      : test_index_(test_index),
        started_(std::move(started)),
        keep_instance_log_(keep_instance_log),
        environment_(environment),
        record_(record),
        logs_(environment.summary_bytes) {}

  void OnStarted() override {
    environment_.status.SetStarted(environment_.clock.MonotonicNs());
    record_.OnTestStarted(test_index_, started_);
  }

  void OnProgress(const TrafficProgress& progress) override {
    environment_.status.SetProgress(progress);
    record_.OnProgress(test_index_, progress);
  }

  absl::Status OnResultChunk(ResultChunk chunk) override {
    if (absl::Status status = logs_.Merge(chunk); !status.ok()) return status;
    if (keep_instance_log_) {
      record_.OnResultChunk(test_index_, std::move(chunk));
    }
    return absl::OkStatus();
  }

  // Adds the findings and the summary, which follow from the result, and
  // counts the outcome.
  void Conclude(TestResult& result) {
    *result.mutable_service_logs() = logs_.Take();
    for (Finding& finding : report::Judge(result)) {
      if (logs_.is_brief() && report::IsOnBrevity(finding)) continue;
      *result.mutable_run_info()->add_findings() = std::move(finding);
    }
    if (logs_.is_brief()) {
      *result.mutable_run_info()->add_findings() = BriefSummary();
    }
    LimitFindings(*result.mutable_run_info());
    for (std::string& line : report::SummarizeTest(result)) {
      result.add_log_summary(std::move(line));
    }
    environment_.outcomes.Add(started_.name(), result);
    result.clear_service_logs();
  }

 private:
  const int test_index_;
  const TestStarted started_;
  const bool keep_instance_log_;
  RunEnvironment& environment_;
  RunRecord& record_;
  SummaryLogs logs_;
};

}  // namespace

SequenceRun::SequenceRun(TestSequence sequence,
                         std::map<int, std::vector<Finding>> known_findings,
                         RunEnvironment& environment,
                         std::shared_ptr<RunRecord> record)
    : sequence_(std::move(sequence)),
      known_findings_(std::move(known_findings)),
      environment_(environment),
      record_(std::move(record)) {
  absl::BitGen random;
  for (DistributedSystemDescription& test : *sequence_.mutable_tests()) {
    if (!test.has_random_seed()) {
      test.set_random_seed(absl::Uniform<uint64_t>(random));
    }
  }
}

void SequenceRun::OnQueuePosition(int ahead) {
  record_->OnQueuePosition(ahead);
}

void SequenceRun::Drop(const absl::Status& reason) {
  record_->OnSequenceDone(reason);
}

void SequenceRun::Cancel(const absl::Status& reason) {
  absl::MutexLock lock(&mutex_);
  if (cancel_reason_.ok()) cancel_reason_ = reason;
  if (inbox_ != nullptr) inbox_->Cancel(reason);
}

void SequenceRun::Run() {
  record_->OnRunStarted();
  absl::Status status = CheckPlacementOnceNodesAreBack();
  if (status.ok()) {
    for (int i = 0; status.ok() && i < sequence_.tests_size(); ++i) {
      status = RunTest(i);
    }
    environment_.status.Set(std::nullopt);
  }
  const bool shut_down =
      status.ok() && sequence_.tests_setting().shutdown_after_tests();
  if (shut_down) environment_.registry.ShutDownNodes();
  record_->OnSequenceDone(status);
  if (shut_down) environment_.on_shutdown_request();
}

absl::StatusOr<SequenceRun::PlacedTest> SequenceRun::Place(
    int test_index) const {
  const auto nodes = environment_.registry.Nodes();
  const std::vector<PlacementNode> placement_nodes = PlacementNodes(nodes);
  PlacedTest placed = {.test = sequence_.tests(test_index)};
  const absl::StatusOr<Placement> placement =
      PlaceInstances(placed.test, placement_nodes);
  if (!placement.ok()) return placement.status();
  if (absl::Status status =
          ResolveChannelMembers(placement_nodes, *placement, placed.test);
      !status.ok()) {
    return status;
  }
  placed.shares = MakeNodeShares(nodes, *placement);
  return placed;
}

absl::Status SequenceRun::CheckPlacement() const {
  for (int i = 0; i < sequence_.tests_size(); ++i) {
    const absl::Status status = Place(i).status();
    if (status.ok()) continue;
    if (sequence_.tests_size() == 1) return status;
    return absl::Status(
        status.code(),
        absl::StrCat(TestName(sequence_.tests(i), i), ": ", status.message()));
  }
  return absl::OkStatus();
}

// Tests often come one at a time, as those of searches and experiments do.
absl::Status SequenceRun::CheckPlacementOnceNodesAreBack() {
  absl::Status status = CheckPlacement();
  if (status.ok()) return status;
  const std::optional<int64_t> lost_ns = environment_.registry.last_loss_ns();
  if (!lost_ns.has_value()) return status;
  AwaitNodes(
      *lost_ns + absl::ToInt64Nanoseconds(environment_.patience.until_back),
      [&] {
        status = CheckPlacement();
        return status.ok();
      });
  const absl::Status cancelled = cancel_reason();
  return cancelled.ok() ? status : cancelled;
}

absl::StatusOr<SequenceRun::PlacedTest> SequenceRun::PlaceOnceNodesAreBack(
    int test_index) {
  absl::StatusOr<PlacedTest> placed = Place(test_index);
  if (!placed.ok() && !nodes_stay_away_) {
    environment_.status.Set(std::nullopt);
    AwaitNodes(environment_.clock.MonotonicNs() +
                   absl::ToInt64Nanoseconds(environment_.patience.until_back),
               [&] {
                 placed = Place(test_index);
                 return placed.ok();
               });
  }
  nodes_stay_away_ = !placed.ok();
  return placed;
}

void SequenceRun::AwaitNodes(int64_t deadline_ns,
                             absl::FunctionRef<bool()> try_again) {
  environment_.registry.SetListener([this] { OnNewNode(); });
  // One may have come back before there was a listener.
  while (!try_again() && AwaitNewNode(deadline_ns)) continue;
  environment_.registry.SetListener(nullptr);
}

bool SequenceRun::AwaitNewNode(int64_t deadline_ns) {
  absl::MutexLock lock(&mutex_);
  const auto is_cancelled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !cancel_reason_.ok();
  };
  const auto has_news = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return has_new_node_ || !cancel_reason_.ok();
  };
  mutex_.AwaitWithTimeout(
      absl::Condition(&has_news),
      absl::Nanoseconds(deadline_ns - environment_.clock.MonotonicNs()));
  if (!has_new_node_) return false;
  const bool is_over = mutex_.AwaitWithTimeout(
      absl::Condition(&is_cancelled), environment_.patience.until_known);
  has_new_node_ = false;
  return !is_over;
}

void SequenceRun::OnNewNode() {
  absl::MutexLock lock(&mutex_);
  has_new_node_ = true;
}

absl::Status SequenceRun::RunTest(int test_index) {
  absl::StatusOr<std::shared_ptr<RunInbox>> inbox = OpenInbox();
  if (!inbox.ok()) return inbox.status();
  record_->OnTestSetUp(test_index);
  absl::StatusOr<PlacedTest> placed = PlaceOnceNodesAreBack(test_index);
  if (!placed.ok()) {
    if (absl::Status reason = cancel_reason(); !reason.ok()) return reason;
    return FinishUnstarted(test_index, placed.status());
  }
  absl::StatusOr<security::TestLimits> limits =
      environment_.guards.LimitsOf(placed->test);
  if (!limits.ok()) return FinishUnstarted(test_index, limits.status());

  TestStarted started;
  started.set_name(TestName(placed->test, test_index));
  if (const auto expected_us = ExpectedDurationUs(placed->test)) {
    started.set_expected_duration_us(*expected_us);
  }
  RunStatus::RunningTest running{.description = started};
  for (const NodeShare& share : placed->shares) {
    running.node_aliases.insert(share.node->alias());
  }
  environment_.status.Set(std::move(running));

  TestFollower follower(test_index, std::move(started),
                        sequence_.tests_setting().keep_instance_log(),
                        environment_, *record_);
  TestExecution run({.test_id = environment_.next_test_id++,
                     .test = placed->test,
                     .shares = placed->shares,
                     .timeout = TestTimeout(placed->test),
                     .limits = std::move(limits->limits)},
                    environment_.timeouts, environment_.clock,
                    *std::move(inbox), follower);
  TestResult result = run.Run();
  if (!environment_.revision.empty()) {
    result.mutable_run_info()->set_revision(environment_.revision);
  }
  result.mutable_run_info()->mutable_findings()->Add(limits->findings.begin(),
                                                     limits->findings.end());
  AddKnownFindings(test_index, result);
  follower.Conclude(result);
  const absl::Status status =
      record_->OnTestFinished(test_index, std::move(result));
  return run.cancellation().ok() ? status : run.cancellation();
}

void SequenceRun::AddKnownFindings(int test_index, TestResult& result) const {
  const auto known = known_findings_.find(test_index);
  if (known == known_findings_.end()) return;
  result.mutable_run_info()->mutable_findings()->Add(known->second.begin(),
                                                     known->second.end());
}

absl::Status SequenceRun::FinishUnstarted(int test_index,
                                          const absl::Status& reason) {
  const DistributedSystemDescription& test = sequence_.tests(test_index);
  TestResult result;
  *result.mutable_traffic_config() = test;
  config::RedactSecrets(*result.mutable_traffic_config());
  RunInfo& info = *result.mutable_run_info();
  info.set_version(std::string(base::ProgramVersion()));
  info.set_random_seed(test.random_seed());
  info.set_failure(std::string(reason.message()));
  info.set_failure_code(reason.raw_code());
  AddKnownFindings(test_index, result);
  for (std::string& line : report::SummarizeTest(result)) {
    result.add_log_summary(std::move(line));
  }
  environment_.outcomes.Add(TestName(test, test_index), result);
  return record_->OnTestFinished(test_index, std::move(result));
}

absl::StatusOr<std::shared_ptr<RunInbox>> SequenceRun::OpenInbox() {
  absl::MutexLock lock(&mutex_);
  if (!cancel_reason_.ok()) return cancel_reason_;
  inbox_ = std::make_shared<RunInbox>(environment_.clock);
  return inbox_;
}

absl::Status SequenceRun::cancel_reason() const {
  absl::MutexLock lock(&mutex_);
  return cancel_reason_;
}

void LimitFindings(RunInfo& info) {
  std::map<std::pair<Finding::Severity, std::string>, int> counts;
  google::protobuf::RepeatedPtrField<Finding> kept;
  for (Finding& finding : *info.mutable_findings()) {
    int& count = counts[{finding.severity(), finding.code()}];
    if (++count <= kMostFindingsOfAKind) kept.Add(std::move(finding));
  }
  for (const auto& [kind, count] : counts) {
    if (count <= kMostFindingsOfAKind) continue;
    *kept.Add() = report::MoreFindings(kind.first, kind.second,
                                       count - kMostFindingsOfAKind);
  }
  info.mutable_findings()->Swap(&kept);
}

}  // namespace distbench::sequencer
