// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/service.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/grpc_calls.h"
#include "distbench/base/host_port.h"
#include "distbench/base/version.h"
#include "distbench/config/validate/check.h"
#include "distbench/sequencer/serving/legacy_tests.h"
#include "distbench/sequencer/serving/status.h"

namespace distbench::sequencer {
namespace {

// What gRPC calls the peer of a channel within the process.
constexpr char kOwnProcess[] = "unknown";

// The name in the client's certificate, or else its address; of the process's
// own client, which is there for its user, just that.
std::string ClientName(const grpc::CallbackServerContext& context) {
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth != nullptr && auth->IsPeerAuthenticated()) {
    for (const grpc::string_ref& name : auth->GetPeerIdentity()) {
      return std::string(name.data(), name.size());
    }
  }
  const std::string peer = context.peer();
  return peer == kOwnProcess ? "the user" : base::PeerHost(peer);
}

// Ends a run whose client is gone.
CancelHandler CancelOf(const absl::StatusOr<std::shared_ptr<RunRecord>>& run) {
  if (!run.ok()) return [] {};
  return [weak_run = std::weak_ptr<RunRecord>(*run)] {
    const std::shared_ptr<RunRecord> run = weak_run.lock();
    if (run == nullptr) return;
    // It is fine if the run has already ended.
    run->Cancel(absl::CancelledError("the client cancelled the tests, or is "
                                     "gone"))
        .IgnoreError();
  };
}

// Returns the run, if GetRun may show it.
RunBook::RunOrError ForGet(RunBook::RunOrError run, bool wait) {
  if (!run.ok() || wait || (*run)->has_ended()) return run;
  return absl::FailedPreconditionError(
      absl::StrCat("run ", (*run)->id(),
                   " has not ended; distbench runs wait waits for it"));
}

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context,
                                 const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(base::ToGrpcStatus(status));
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* SequencerService::RunTestSequence(
    grpc::CallbackServerContext* context, const TestSequence* request,
    TestSequenceResults* response) {
  TestSequence tests = *request;
  const bool shuts_down = tests.tests_setting().shutdown_after_tests();
  // Existing clients ask in this way whether there is a sequencer.
  if (tests.tests().empty() && !shuts_down) {
    return Answer(*context, absl::OkStatus());
  }
  std::map<int, std::vector<Finding>> warnings = AdaptLegacyTests(tests);
  const RunSubmission submission = {.tests = tests,
                                    .label = "",
                                    .client = ClientName(*context),
                                    .stop_at_failure = true,
                                    .known_findings = std::move(warnings)};
  // Without tests, there is nothing to check: it is an order to shut down.
  const RunOrError run = tests.tests().empty()
                             ? Enqueue(tests, submission, /*preempt=*/false)
                             : Submit(submission, /*preempt=*/false);
  return RunTestSequenceCall::Open(*response, run, CancelOf(run));
}

grpc::ServerUnaryReactor* SequencerService::RegisterNode(
    grpc::CallbackServerContext* context, const NodeRegistration* request,
    NodeConfig*) {
  return Answer(
      *context,
      absl::UnimplementedError(absl::StrCat(
          "the test sequencer is that of distbench ", base::ProgramVersion(),
          ", which node managers of other programs cannot serve; start "
          "distbench node_manager of that version on ",
          request->hostname())));
}

grpc::ServerBidiReactor<NodeMessage, NodeCommand>*
SequencerService::NodeSession(grpc::CallbackServerContext* context) {
  return NodeStream::Open(*context, node_streams_);
}

grpc::ServerWriteReactor<RunTestsEvent>* SequencerService::RunTests(
    grpc::CallbackServerContext* context, const RunTestsRequest* request) {
  const RunOrError run = Submit({.tests = request->test_sequence(),
                                 .label = request->label(),
                                 .client = ClientName(*context),
                                 .is_step = request->is_step(),
                                 .stop_at_failure = false},
                                request->preempt());
  const auto call = FollowRunCall::Open(*context, request->cancel_with_call()
                                                      ? CancelOf(run)
                                                      : CancelHandler([] {}));
  call->Follow(run);
  return call.get();
}

grpc::ServerUnaryReactor* SequencerService::GetStatus(
    grpc::CallbackServerContext* context, const GetStatusRequest* request,
    GetStatusResponse* response) {
  *response = DescribeStatus(environment_.registry, environment_.status, queue_,
                             environment_.clock, *request);
  return Answer(*context, absl::OkStatus());
}

grpc::ServerUnaryReactor* SequencerService::ListRuns(
    grpc::CallbackServerContext* context, const ListRunsRequest*,
    ListRunsResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  book_.List([context, reactor, response](const RunBook::RunsOrError& runs) {
    // The client may have gone in the meantime.
    if (runs.ok() && !context->IsCancelled()) {
      response->mutable_runs()->Add(runs->begin(), runs->end());
    }
    reactor->Finish(base::ToGrpcStatus(runs.status()));
  });
  return reactor;
}

grpc::ServerWriteReactor<RunTestsEvent>* SequencerService::GetRun(
    grpc::CallbackServerContext* context, const GetRunRequest* request) {
  const auto call = FollowRunCall::Open(*context, [] {});
  book_.Find(request->run_id(), [call, wait = request->wait()](RunOrError run) {
    call->Follow(ForGet(std::move(run), wait));
  });
  return call.get();
}

grpc::ServerUnaryReactor* SequencerService::CancelRun(
    grpc::CallbackServerContext* context, const CancelRunRequest* request,
    CancelRunResponse*) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Status reason = absl::CancelledError(
      absl::StrCat("the run was cancelled by ", ClientName(*context)));
  book_.Find(request->run_id(),
             [reactor, reason = std::move(reason)](const RunOrError& run) {
               reactor->Finish(base::ToGrpcStatus(
                   run.ok() ? (*run)->Cancel(reason) : run.status()));
             });
  return reactor;
}

SequencerService::RunOrError SequencerService::Submit(
    const RunSubmission& submission, bool preempt) {
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(submission.tests);
  if (!checked.ok()) return checked.status();
  for (const DistributedSystemDescription& test : checked->tests()) {
    const absl::Status allowed =
        environment_.guards.Check(test, "test sequencer");
    if (!allowed.ok()) return allowed;
  }
  return Enqueue(*std::move(checked), submission, preempt);
}

SequencerService::RunOrError SequencerService::Enqueue(
    TestSequence checked, const RunSubmission& submission, bool preempt) {
  RunOrError record = book_.Add(submission);
  if (!record.ok()) return record.status();
  auto run = std::make_shared<SequenceRun>(
      std::move(checked), submission.known_findings, environment_, *record);
  queue_.Submit(run, preempt);
  // Only a run in the queue can be cancelled. The run holds the record, so the
  // record must not hold the run.
  (*record)->SetCanceller([this, weak_run = std::weak_ptr<SequenceRun>(run)](
                              const absl::Status& reason) {
    if (const std::shared_ptr<SequenceRun> run = weak_run.lock()) {
      queue_.Cancel(*run, reason);
    }
  });
  return record;
}

}  // namespace distbench::sequencer
