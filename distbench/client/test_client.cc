// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/client/test_client.h"

#include <grpcpp/grpcpp.h>

#include <iterator>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/grpc_calls.h"
#include "distbench/results/result_assembler.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_diagnosis.h"
#include "proto/control.grpc.pb.h"

namespace distbench::client {
namespace {

constexpr absl::Duration kListTimeout = absl::Seconds(60);
constexpr absl::Duration kCancelTimeout = absl::Seconds(5);
constexpr int kKeepaliveMs = 5000;

// Part of gRPC's message for a call that was ended by the server's memory quota
// (HTTP/2's ENHANCE_YOUR_CALM).
constexpr absl::string_view kOutOfReceiveMemory =
    "RST_STREAM with error code 11";

std::shared_ptr<grpc::Channel> MakeChannel(
    const std::string& address, const security::TlsCredentials* tls) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Notices when the sequencer's host is gone.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Do not reuse what another client found out about the address earlier.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return security::MakeSequencerChannel(address, tls, std::move(arguments));
}

// Explains a failure to connect by TLS, or returns "" if TLS is not the cause.
std::string ExplainByTls(const std::string& address,
                         const security::TlsFiles& tls) {
  constexpr absl::Duration kTimeout = absl::Seconds(2);
  if (!tls.empty()) {
    return security::DiagnoseTls(address, tls, security::ServerName::kChecked,
                                 kTimeout);
  }
  return security::WantsTls(address, kTimeout)
             ? absl::StrCat(address,
                            " requires TLS; give --tls_ca, and --tls_cert and "
                            "--tls_key if it requires a certificate")
             : "";
}

using Stub = DistBenchTestSequencer::Stub;

void SetTimeout(absl::Duration timeout, grpc::ClientContext& context) {
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
}

absl::Status CancelledError() {
  return absl::CancelledError("the tests were cancelled");
}

// gRPC's own error does not explain that a message is too large.
absl::Status CheckSize(const RunTestsRequest& request) {
  constexpr double kMiB = 1 << 20;
  const size_t size = request.ByteSizeLong();
  if (size <= base::kMaxMessageToSequencerBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the tests take %.1f MiB, but the test sequencer accepts at most "
      "%.0f MiB at a time; submit them in several runs",
      size / kMiB, base::kMaxMessageToSequencerBytes / kMiB));
}

absl::Status ExplainLoss(const absl::Status& status) {
  if (absl::StrContains(status.message(), kOutOfReceiveMemory)) {
    return absl::UnavailableError(
        "the test sequencer aborted the call: the messages that it receives, "
        "from this client or others, need more than its --receive_memory");
  }
  // The sequencer itself never returns UNAVAILABLE.
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(
      absl::StrCat("the test sequencer was lost: ", status.message()));
}

}  // namespace

struct TestClient::RunCall {
  // Whether cancelling the call means cancelling the run.
  bool cancels_run = false;
  grpc::ClientContext context;
  std::string run_id;  // guarded by mutex_
};

absl::StatusOr<std::unique_ptr<TestClient>> TestClient::Connect(
    const std::string& address, const security::TlsFiles& tls,
    absl::Duration timeout) {
  const auto credentials =
      security::TlsCredentials::Load(tls, security::TlsRole::kClient);
  if (!credentials.ok()) return credentials.status();
  auto client =
      std::make_unique<TestClient>(MakeChannel(address, credentials->get()));
  const absl::Status status = client->GetStatus(timeout).status();
  if (status.ok()) return client;
  const std::string tls_problem = ExplainByTls(address, tls);
  if (!tls_problem.empty()) return absl::Status(status.code(), tls_problem);
  return ExplainConnectionError(status, address, timeout);
}

TestClient::TestClient(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)) {}

absl::Status TestClient::RunTests(const RunTestsRequest& request,
                                  EventObserver observer,
                                  TestSequenceResults& results) {
  if (absl::Status status = CheckSize(request); !status.ok()) return status;
  RunCall call = {.cancels_run = true};
  if (!RegisterCall(call)) return CancelledError();
  absl::Status status =
      Follow(call, *Stub(channel_).RunTests(&call.context, request),
             request.test_sequence().tests_size(), observer, results);
  const bool cancelled = UnregisterCall(call);
  if (cancelled && !status.ok()) return CancelledError();
  // So says a sequencer that is shut down.
  return absl::IsAborted(status) ? absl::CancelledError(status.message())
                                 : status;
}

absl::Status TestClient::RunTests(const TestSequence& sequence,
                                  EventObserver observer,
                                  TestSequenceResults& results) {
  RunTestsRequest request;
  *request.mutable_test_sequence() = sequence;
  request.set_cancel_with_call(true);
  return RunTests(request, observer, results);
}

absl::StatusOr<std::string> TestClient::Submit(const RunTestsRequest& request) {
  if (absl::Status status = CheckSize(request); !status.ok()) return status;
  grpc::ClientContext context;
  const auto reader = Stub(channel_).RunTests(&context, request);
  RunTestsEvent event;
  const bool accepted = reader->Read(&event) && event.has_run_id();
  context.TryCancel();
  const absl::Status end = base::ToAbslStatus(reader->Finish());
  if (accepted) return event.run_id();
  return end.ok() ? absl::InternalError("the run has no id") : ExplainLoss(end);
}

absl::StatusOr<GetStatusResponse> TestClient::GetStatus(
    absl::Duration timeout) {
  return GetStatus(GetStatusRequest(), timeout);
}

absl::StatusOr<GetStatusResponse> TestClient::GetStatusWithHosts() {
  GetStatusRequest request;
  request.set_with_hosts(true);
  return GetStatus(request, kStatusTimeout);
}

absl::StatusOr<GetStatusResponse> TestClient::GetStatus(
    const GetStatusRequest& request, absl::Duration timeout) {
  grpc::ClientContext context;
  SetTimeout(timeout, context);
  GetStatusResponse response;
  const grpc::Status status =
      Stub(channel_).GetStatus(&context, request, &response);
  if (!status.ok()) return base::ToAbslStatus(status);
  return response;
}

absl::StatusOr<std::vector<RunDescription>> TestClient::ListRuns() {
  grpc::ClientContext context;
  SetTimeout(kListTimeout, context);
  ListRunsResponse response;
  const grpc::Status status = Stub(channel_).ListRuns(&context, {}, &response);
  if (!status.ok()) return base::ToAbslStatus(status);
  return std::vector<RunDescription>(
      std::make_move_iterator(response.mutable_runs()->begin()),
      std::make_move_iterator(response.mutable_runs()->end()));
}

absl::Status TestClient::GetRun(const RunDescription& run, bool wait,
                                EventObserver observer,
                                TestSequenceResults& results) {
  RunCall call = {.cancels_run = false};
  if (!RegisterCall(call)) return CancelledError();
  GetRunRequest request;
  request.set_run_id(run.id());
  request.set_wait(wait);
  const absl::Status status =
      Follow(call, *Stub(channel_).GetRun(&call.context, request),
             run.test_names_size(), observer, results);
  UnregisterCall(call);
  return status;
}

absl::Status TestClient::CancelRun(const std::string& run_id) {
  grpc::ClientContext context;
  SetTimeout(kCancelTimeout, context);
  CancelRunRequest request;
  request.set_run_id(run_id);
  CancelRunResponse response;
  return base::ToAbslStatus(
      Stub(channel_).CancelRun(&context, request, &response));
}

void TestClient::Cancel() {
  std::vector<std::string> run_ids;
  {
    absl::MutexLock lock(&mutex_);
    is_cancelled_ = true;
    for (RunCall* call : calls_) {
      if (!call->cancels_run) {
        call->context.TryCancel();
      } else if (!call->run_id.empty()) {
        run_ids.push_back(call->run_id);
      }
      // Otherwise Follow() cancels the run as soon as its id is known.
    }
  }
  for (const std::string& run_id : run_ids) CancelOrLeave(run_id);
}

void TestClient::AbandonRun() {
  absl::MutexLock lock(&mutex_);
  for (RunCall* call : calls_) {
    if (call->cancels_run) call->context.TryCancel();
  }
}

absl::Status TestClient::Follow(RunCall& call,
                                grpc::ClientReader<RunTestsEvent>& reader,
                                int test_count, EventObserver observer,
                                TestSequenceResults& results) {
  results::ResultAssembler assembler(test_count, results);
  RunTestsEvent event;
  absl::Status status;
  while (status.ok() && reader.Read(&event)) {
    if (event.has_run_id()) SetRunId(event.run_id(), call);
    const bool is_piece = event.has_result_chunk();
    status = assembler.Add(event);
    if (status.ok() && !is_piece) observer(event);
  }
  if (!status.ok()) call.context.TryCancel();
  const absl::Status end = base::ToAbslStatus(reader.Finish());
  if (status.ok()) status = ExplainLoss(end);
  if (!status.ok()) {
    assembler.MarkIncomplete(
        absl::StrCat("the result is not complete: ", status.message()));
  }
  return status;
}

void TestClient::SetRunId(const std::string& run_id, RunCall& call) {
  bool cancel = false;
  {
    absl::MutexLock lock(&mutex_);
    call.run_id = run_id;
    cancel = is_cancelled_ && call.cancels_run;
  }
  if (cancel) CancelOrLeave(run_id);
}

void TestClient::CancelOrLeave(const std::string& run_id) {
  const absl::Status status = CancelRun(run_id);
  if (status.ok() || absl::IsFailedPrecondition(status)) return;
  absl::MutexLock lock(&mutex_);
  for (RunCall* call : calls_) {
    if (call->run_id == run_id) call->context.TryCancel();
  }
}

bool TestClient::RegisterCall(RunCall& call) {
  absl::MutexLock lock(&mutex_);
  if (!is_cancelled_) calls_.insert(&call);
  return !is_cancelled_;
}

bool TestClient::UnregisterCall(RunCall& call) {
  absl::MutexLock lock(&mutex_);
  calls_.erase(&call);
  return is_cancelled_;
}

namespace {

std::string Explain(const absl::Status& error, const std::string& address,
                    absl::Duration timeout) {
  const absl::string_view message = error.message();
  if (absl::StrContains(message, "Connection refused")) {
    return absl::StrCat("nothing listens at ", address,
                        "; is the test sequencer running there, and is this "
                        "its port?");
  }
  if (absl::StrContains(message, "DNS resolution failed") ||
      absl::StrContains(message, "Domain name not found")) {
    return absl::StrCat("the host name in ", address,
                        " is unknown; is it right? (", message, ")");
  }
  switch (error.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat(address, " did not answer within ",
                          absl::FormatDuration(timeout),
                          "; is the host up, does a firewall allow the port, "
                          "and is it the test sequencer's port?");
    case absl::StatusCode::kUnimplemented:
      return base::NoSuchCalls(address);
    default:
      return absl::StrCat("cannot talk to ", address, ": ", message,
                          "; is it the test sequencer's port?");
  }
}

}  // namespace

absl::Status ExplainConnectionError(const absl::Status& error,
                                    const std::string& address,
                                    absl::Duration timeout) {
  return absl::Status(error.code(), Explain(error, address, timeout));
}

TestSequence RepeatTests(const TestSequence& tests, int repetitions) {
  TestSequence repeated = tests;
  for (int i = 1; i < repetitions; ++i) {
    for (const DistributedSystemDescription& test : tests.tests()) {
      *repeated.add_tests() = test;
    }
  }
  return repeated;
}

void NumberRepetitions(int test_count, TestSequenceResults& results) {
  for (int i = 0; i < results.test_results_size(); ++i) {
    results.mutable_test_results(i)->mutable_run_info()->set_repetition(
        i / test_count);
  }
}

}  // namespace distbench::client
