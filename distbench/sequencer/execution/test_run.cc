// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/test_run.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/version.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"
#include "distbench/security/nonce.h"
#include "distbench/sequencer/execution/node_clocks.h"
#include "distbench/sequencer/execution/progress.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
namespace {

constexpr absl::Duration kProgressInterval = absl::Seconds(1);
constexpr int64_t kMostReportDelayNs = 500'000'000;

// How many nodes send their results at the same time. With the bytes of each
// that may be under way, it bounds the sequencer's memory.
constexpr int kCollectAtOnce = 8;

// ---- What commands say -----------------------------------------------------

PrepareTest Preparation(const DistributedSystemDescription& test,
                        const NodeShare& share, int64_t clock_offset_ns,
                        bool use_loopback, const std::string& test_nonce,
                        const security::InstanceLimits& limits) {
  PrepareTest prepare;
  NodeServiceConfig& config = *prepare.mutable_config();
  *config.mutable_traffic_config() = test;
  for (const std::string& instance : share.instances) {
    config.add_services(instance);
  }
  prepare.set_workers_per_instance(share.workers_per_instance);
  prepare.set_clock_offset_ns(clock_offset_ns);
  prepare.set_use_loopback(use_loopback);
  prepare.set_test_nonce(test_nonce);
  prepare.mutable_target_rates()->insert(limits.begin(), limits.end());
  return prepare;
}

// The error names a peer that is not in `placement`.
absl::StatusOr<ConnectPeers> Connections(const std::vector<std::string>& peers,
                                         const ServiceEndpointMap& placement,
                                         absl::Duration timeout) {
  ConnectPeers connect;
  connect.set_timeout_ns(absl::ToInt64Nanoseconds(timeout));
  auto& endpoints = *connect.mutable_endpoints()->mutable_service_endpoints();
  for (const std::string& peer : peers) {
    const auto it = placement.service_endpoints().find(peer);
    if (it == placement.service_endpoints().end()) {
      return absl::NotFoundError(
          absl::StrCat("no node gave an endpoint for ", peer));
    }
    endpoints[peer] = it->second;
  }
  return connect;
}

bool Hosts(const Participant& participant, const std::string& instance) {
  return absl::c_linear_search(participant.share.instances, instance);
}

}  // namespace

TestExecution::TestExecution(TestRunSpec spec, const StepTimeouts& timeouts,
                             const base::Clock& clock,
                             std::shared_ptr<RunInbox> inbox,
                             TestRunObserver& observer)
    : spec_(std::move(spec)),
      timeouts_(timeouts),
      clock_(clock),
      inbox_(std::move(inbox)),
      observer_(observer),
      participants_(spec_.shares) {}

TestResult TestExecution::Run() {
  for (Participant& participant : participants_) {
    participant.share.node->Attach(inbox_);
  }
  Prepare();
  Connect();
  Start();
  AwaitTraffic();
  if (started_) {
    StopTraffic();
    Collect();
  }
  Release();
  for (Participant& participant : participants_) {
    participant.share.node->Attach(nullptr);
  }
  return Finish();
}

// ---- Steps ------------------------------------------------------------------

void TestExecution::Prepare() {
  const bool use_loopback = AllAreLocal(participants_);
  const std::string nonce = security::DrawNonce();
  const size_t at_once =
      std::max<size_t>(1, spec_.prepare_bytes / spec_.test.SpaceUsedLong());
  for (Participant& participant : participants_) {
    AwaitOrFail(Step::kPrepare, timeouts_.prepare, at_once - 1);
    if (!failure_.ok()) return;
    participant.is_told = true;
    Tell(
        participant, Step::kPrepare, &NodeCommand::mutable_prepare,
        Preparation(spec_.test, participant.share, ClockCorrection(participant),
                    use_loopback, nonce, spec_.limits));
  }
  AwaitOrFail(Step::kPrepare, timeouts_.prepare);
}

void TestExecution::Connect() {
  for (Participant& participant : participants_) {
    if (!failure_.ok()) return;
    absl::StatusOr<ConnectPeers> connections =
        Connections(participant.peers, result_.placement(), timeouts_.connect);
    if (connections.ok()) {
      Tell(participant, Step::kConnect, &NodeCommand::mutable_connect,
           *std::move(connections));
    } else {
      Fail(connections.status());
    }
  }
  AwaitOrFail(Step::kConnect, timeouts_.connect);
}

void TestExecution::Start() {
  if (!failure_.ok()) return;
  started_ = true;
  usage_at_start_ = results::ProcessUsage();
  const absl::Duration lead = StartLead(participants_);
  const int64_t start_timestamp_ns =
      clock_.UnixNs() + absl::ToInt64Nanoseconds(lead);
  traffic_deadline_ns_ = DeadlineNs(lead + spec_.timeout);
  result_.mutable_run_info()->set_start_timestamp_ns(start_timestamp_ns);
  StartTraffic start;
  start.set_start_timestamp_ns(start_timestamp_ns);
  // The sequencer's own deadline is earlier, unless the sequencer is gone.
  start.set_timeout_ns(
      absl::ToInt64Nanoseconds(spec_.timeout + timeouts_.stop));
  start.set_progress_interval_ns(
      absl::ToInt64Nanoseconds(ProgressInterval(participants_.size())));
  start.set_progress_with_pongs(ReportsWithPongs(participants_.size()));
  for (Participant& participant : participants_) {
    if (participant.lost) continue;
    participants_.Begin(participant, Step::kTraffic);
    Tell(participant, Step::kStart, &NodeCommand::mutable_start, start);
  }
  AwaitOrFail(Step::kStart, timeouts_.start);
  if (failure_.ok()) observer_.OnStarted();
}

void TestExecution::AwaitTraffic() {
  current_step_ = Step::kTraffic;
  int64_t next_report_ns = DeadlineNs(kProgressInterval);
  while (failure_.ok() && participants_.CountAwaiting(Step::kTraffic) > 0) {
    const bool was_busy =
        HandleNext(std::min(next_report_ns, traffic_deadline_ns_));
    const int64_t now_ns = clock_.MonotonicNs();
    // With what the nodes have reported by then, unless that has no end.
    if (now_ns >= next_report_ns &&
        (!was_busy || now_ns >= next_report_ns + kMostReportDelayNs)) {
      ReportProgress();
      next_report_ns = DeadlineNs(kProgressInterval);
    }
    if (now_ns >= traffic_deadline_ns_) FailOfTimeout();
  }
}

void TestExecution::StopTraffic() {
  if (!failure_.ok()) {
    distbench::StopTraffic stop;
    stop.set_reason(std::string(failure_.message()));
    for (Participant& participant : participants_) {
      if (!participants_.Awaits(participant, Step::kTraffic)) continue;
      SendTo(participant, &NodeCommand::mutable_stop, stop);
    }
    AwaitOrDisconnect(Step::kTraffic, timeouts_.stop);
  }
  RunInfo& info = *result_.mutable_run_info();
  // Tests without clients may end before they have started.
  info.set_end_timestamp_ns(
      std::max(clock_.UnixNs(), info.start_timestamp_ns()));
  ReportProgress();
  *result_.mutable_resource_usage_logs()->mutable_test_sequencer_usage() =
      results::UsageBetween(usage_at_start_, results::ProcessUsage());
}

void TestExecution::Collect() {
  const int64_t stall_ns = absl::ToInt64Nanoseconds(timeouts_.collect);
  last_piece_ns_ = clock_.MonotonicNs();
  CollectResults collect;
  collect.set_window_bytes(kResultWindowBytes);
  auto next = participants_.begin();
  while (true) {
    while (next != participants_.end() &&
           participants_.CountAwaiting(Step::kCollect) < kCollectAtOnce) {
      Tell(*next++, Step::kCollect, &NodeCommand::mutable_collect, collect);
    }
    if (participants_.CountAwaiting(Step::kCollect) == 0) return;
    HandleNext(last_piece_ns_ + stall_ns);
    if (clock_.MonotonicNs() >= last_piece_ns_ + stall_ns) {
      DisconnectWhoAwaits(Step::kCollect, timeouts_.collect);
      last_piece_ns_ = clock_.MonotonicNs();
    }
  }
}

void TestExecution::Release() {
  for (Participant& participant : participants_) {
    participants_.EndAll(participant);
    // Nodes that do not know the test would not answer.
    if (!participant.is_told) continue;
    Tell(participant, Step::kRelease, &NodeCommand::mutable_release,
         ReleaseTest());
  }
  AwaitOrDisconnect(Step::kRelease, timeouts_.release);
}

TestResult TestExecution::Finish() {
  *result_.mutable_traffic_config() = spec_.test;
  config::RedactSecrets(*result_.mutable_traffic_config());
  RunInfo& info = *result_.mutable_run_info();
  info.set_version(std::string(base::ProgramVersion()));
  info.set_random_seed(spec_.test.random_seed());
  info.set_config_hash(config::ConfigHash(spec_.test));
  AddClockOffsets(participants_, info);
  for (auto judge : {JudgeClockOffsets, JudgeStart}) {
    if (auto finding = judge(participants_)) {
      *info.add_findings() = *std::move(finding);
    }
  }
  ReportLosses();
  ReportDroppedResources();
  if (!failure_.ok()) {
    info.set_failure(std::string(failure_.message()));
    info.set_failure_code(failure_.raw_code());
  }
  return std::move(result_);
}

// ---- Details ----------------------------------------------------------------

int64_t TestExecution::ClockCorrection(const Participant& participant) {
  const std::optional<ClockOffset> offset =
      OffsetToCorrect(*participant.share.node);
  return offset.has_value() ? offset->offset_ns : 0;
}

template <typename Content>
void TestExecution::Tell(Participant& participant, Step step,
                         Content* (NodeCommand::*mutable_content)(),
                         Content content) {
  current_step_ = step;
  if (participant.lost) return;
  participants_.Begin(participant, step);
  SendTo(participant, mutable_content, std::move(content));
}

template <typename Content>
void TestExecution::SendTo(Participant& participant,
                           Content* (NodeCommand::*mutable_content)(),
                           Content content) {
  NodeCommand command;
  command.set_test_id(spec_.test_id);
  *(command.*mutable_content)() = std::move(content);
  participant.share.node->Send(std::move(command));
}

// ---- Waiting ----------------------------------------------------------------

void TestExecution::AwaitOrFail(Step step, absl::Duration timeout,
                                size_t most_left) {
  const int64_t deadline_ns = DeadlineNs(timeout);
  while (failure_.ok() && participants_.CountAwaiting(step) > most_left) {
    if (clock_.MonotonicNs() >= deadline_ns) {
      Fail(absl::DeadlineExceededError(
          LateMessage(step, timeout, participants_)));
    } else {
      HandleNext(deadline_ns);
    }
  }
}

void TestExecution::AwaitOrDisconnect(Step step, absl::Duration timeout) {
  const int64_t deadline_ns = DeadlineNs(timeout);
  while (participants_.CountAwaiting(step) > 0) {
    if (clock_.MonotonicNs() >= deadline_ns) {
      DisconnectWhoAwaits(step, timeout);
    } else {
      HandleNext(deadline_ns);
    }
  }
}

void TestExecution::DisconnectWhoAwaits(Step step, absl::Duration timeout) {
  // The results are complete if only the release is missing.
  if (step != Step::kRelease) {
    Fail(
        absl::DeadlineExceededError(LateMessage(step, timeout, participants_)));
  }
  for (Participant& participant : participants_) {
    if (!participants_.Awaits(participant, step)) continue;
    participant.share.node->Disconnect(
        absl::StrCat("it did not ", DeedOf(step), " within ",
                     absl::FormatDuration(timeout)));
    participant.lost = true;
    participants_.EndAll(participant);
  }
}

// ---- Events -----------------------------------------------------------------

bool TestExecution::HandleNext(int64_t deadline_ns) {
  std::optional<RunEvent> event = inbox_->Next(deadline_ns);
  if (!event.has_value()) return false;
  if (auto* cancellation = std::get_if<RunCancelled>(&*event)) {
    if (cancellation_.ok()) cancellation_ = cancellation->reason;
    // A test whose traffic has ended is complete.
    if (current_step_ < Step::kCollect) Fail(cancellation->reason);
  } else if (auto* loss = std::get_if<NodeLost>(&*event)) {
    Participant* participant = participants_.Find(loss->node);
    if (participant != nullptr) HandleLoss(*participant, loss->reason);
  } else {
    NodeSaid& said = std::get<NodeSaid>(*event);
    Participant* participant = participants_.Find(said.node);
    if (participant != nullptr && !participant->lost &&
        said.message.test_id() == spec_.test_id) {
      HandleMessage(*participant, std::move(said.message));
    }
  }
  return true;
}

void TestExecution::HandleMessage(Participant& participant,
                                  NodeMessage message) {
  switch (message.message_case()) {
    case NodeMessage::kPrepareReply:
      return HandlePrepareReply(participant,
                                std::move(*message.mutable_prepare_reply()));
    case NodeMessage::kConnectReply:
      return Complete(participant, Step::kConnect, message.connect_reply());
    case NodeMessage::kStartReply:
      return HandleStartReply(participant, message.start_reply());
    case NodeMessage::kTrafficFinished:
      return Complete(participant, Step::kTraffic, message.traffic_finished());
    case NodeMessage::kProgress:
      UpdateProgress(message.progress(), participant.progress);
      recent_.Add(message.progress());
      return;
    case NodeMessage::kResultChunk:
      return HandleChunk(participant,
                         std::move(*message.mutable_result_chunk()));
    case NodeMessage::kCollectReply:
      return HandleCollectReply(participant,
                                std::move(*message.mutable_collect_reply()));
    case NodeMessage::kReleaseReply:
      return Complete(participant, Step::kRelease, message.release_reply());
    case NodeMessage::kRegistration:
    case NodeMessage::kPong:
    case NodeMessage::MESSAGE_NOT_SET:
      return;
  }
}

void TestExecution::HandlePrepareReply(Participant& participant,
                                       PrepareReply reply) {
  auto& placement = *result_.mutable_placement()->mutable_service_endpoints();
  for (auto& [instance, endpoint] :
       *reply.mutable_endpoints()->mutable_service_endpoints()) {
    if (!Hosts(participant, instance)) {
      return Distrust(participant,
                      absl::StrCat("it gave an endpoint for ", instance,
                                   ", which it does not host"));
    }
    endpoint.set_node_alias(participant.share.node->alias());
    placement[instance] = std::move(endpoint);
  }
  participant.peers.assign(reply.peers().begin(), reply.peers().end());
  Complete(participant, Step::kPrepare, reply.status());
}

void TestExecution::HandleStartReply(Participant& participant,
                                     const StartReply& reply) {
  if (reply.status().code() == 0) {
    participant.start_lateness_ns = reply.lateness_ns();
  } else {
    participants_.End(participant, Step::kTraffic);
  }
  Complete(participant, Step::kStart, reply.status());
}

void TestExecution::HandleChunk(Participant& participant, ResultChunk chunk) {
  if (!participants_.Awaits(participant, Step::kCollect)) return;
  if (!Hosts(participant, chunk.instance())) {
    return Distrust(participant,
                    absl::StrCat("it sent a result of ", chunk.instance(),
                                 ", which it does not host"));
  }
  participant.unacknowledged_bytes += chunk.ByteSizeLong();
  if (absl::Status status = observer_.OnResultChunk(std::move(chunk));
      !status.ok()) {
    return Distrust(participant,
                    absl::StrCat("it sent a wrong result: ", status.message()));
  }
  last_piece_ns_ = clock_.MonotonicNs();
  if (participant.unacknowledged_bytes >= kResultWindowBytes / 4) {
    ResultsTaken taken;
    taken.set_bytes(participant.unacknowledged_bytes);
    SendTo(participant, &NodeCommand::mutable_results_taken, taken);
    participant.unacknowledged_bytes = 0;
  }
}

void TestExecution::HandleCollectReply(Participant& participant,
                                       CollectReply reply) {
  last_piece_ns_ = clock_.MonotonicNs();
  if (reply.has_node_usage()) {
    (*result_.mutable_resource_usage_logs()
          ->mutable_node_usages())[participant.share.node->alias()] =
        std::move(*reply.mutable_node_usage());
  }
  if (reply.has_node_resources()) {
    KeepResources(participant, std::move(*reply.mutable_node_resources()));
  }
  for (Finding& finding : *reply.mutable_findings()) {
    *result_.mutable_run_info()->add_findings() = std::move(finding);
  }
  Complete(participant, Step::kCollect, reply.status());
}

void TestExecution::KeepResources(const Participant& participant,
                                  NodeResources resources) {
  const size_t bytes = resources.ByteSizeLong();
  if (resource_bytes_ + bytes <= spec_.resource_bytes) {
    resource_bytes_ += bytes;
  } else {
    resources.clear_samples();
    without_resources_.Add(participant);
  }
  (*result_.mutable_resource_usage_logs()
        ->mutable_node_resources())[participant.share.node->alias()] =
      std::move(resources);
}

void TestExecution::HandleLoss(Participant& participant,
                               const std::string& reason) {
  if (participant.lost) return;
  participant.lost = true;
  participants_.EndAll(participant);
  // What happens to nodes after their results is no matter of the test. But a
  // loss while the test was set up ends it at once, and the other nodes of the
  // rack are only missed now.
  const bool is_of_set_up = failed_by_loss_ && !started_;
  if (current_step_ == Step::kRelease && !is_of_set_up) return;
  lost_nodes_.Add(participant, is_of_set_up ? failed_step_ : current_step_,
                  reason);
  base::SaturatingAddTo(
      lost_rpc_count_,
      base::SaturatingAdd(participant.progress.succeeded_count(),
                          participant.progress.failed_count()));
  if (!failure_.ok()) return;
  failed_by_loss_ = true;
  failed_step_ = current_step_;
  Fail(absl::AbortedError(lost_nodes_.Messages().front()));
}

void TestExecution::Distrust(Participant& participant,
                             absl::string_view reason) {
  participant.share.node->Disconnect(reason);
  HandleLoss(participant, std::string(reason));
}

void TestExecution::ReportLosses() {
  std::vector<std::string> messages = lost_nodes_.Messages();
  if (lost_rpc_count_ > 0) {
    absl::StrAppend(&messages.front(), "; until then ", lost_rpc_count_,
                    " RPCs had been counted there, of which only what had "
                    "arrived is left");
  }
  for (const std::string& message : messages) {
    AddFinding(Finding::INVALID, "node_lost", message,
               "Look at the node manager's log and its host for why it left. "
               "Then repeat the run.");
  }
  // At the time of the failure, only the first loss was known.
  if (failed_by_loss_) failure_ = absl::AbortedError(messages.front());
}

void TestExecution::ReportDroppedResources() {
  if (without_resources_.count() == 0) return;
  AddFinding(
      Finding::NOTE, "resources_dropped",
      absl::StrCat("how busy the hosts were in each second is not in "
                   "the result for ",
                   without_resources_.Text(), ", because of its size"),
      "Nothing, if you do not need them. Otherwise run shorter tests, or "
      "on fewer nodes.");
}

void TestExecution::Complete(Participant& participant, Step step,
                             const CommandStatus& status) {
  const bool was_awaited = participants_.End(participant, step);
  if (status.code() == 0) return;
  if (step == Step::kTraffic) {
    if (!was_awaited && current_step_ > Step::kTraffic) return;
    constexpr int kOverload =
        static_cast<int>(absl::StatusCode::kResourceExhausted);
    if (failure_.ok() && status.code() == kOverload) {
      result_.mutable_run_info()->set_overloaded(true);
    }
    Fail(absl::AbortedError(absl::StrCat(
        participant.Name(), " ended the traffic: ", status.message())));
  } else if (was_awaited) {
    Fail(absl::Status(static_cast<absl::StatusCode>(status.code()),
                      absl::StrCat(participant.Name(), " could not ",
                                   DeedOf(step), ": ", status.message())));
  }
}

void TestExecution::FailOfTimeout() {
  // The traffic may have ended at the deadline.
  if (participants_.CountAwaiting(Step::kTraffic) == 0) return;
  Fail(config::TestTimedOut(
      spec_.timeout,
      absl::StrCat(" on ", participants_.WhoAwaits(Step::kTraffic))));
}

void TestExecution::Fail(absl::Status status) {
  if (failure_.ok()) failure_ = std::move(status);
}

void TestExecution::AddFinding(Finding::Severity severity,
                               absl::string_view code, std::string message,
                               std::string advice) {
  Finding& finding = *result_.mutable_run_info()->add_findings();
  finding.set_severity(severity);
  finding.set_code(std::string(code));
  finding.set_message(std::move(message));
  finding.set_advice(std::move(advice));
}

void TestExecution::ReportProgress() {
  TrafficProgress total;
  for (const Participant& participant : participants_) {
    results::AddProgress(participant.progress, total);
  }
  recent_.TakeInto(total);
  observer_.OnProgress(total);
}

int64_t TestExecution::DeadlineNs(absl::Duration timeout) const {
  return clock_.MonotonicNs() + absl::ToInt64Nanoseconds(timeout);
}

}  // namespace distbench::sequencer
