#include "distbench/client/test_client.h"

#include <grpcpp/grpcpp.h>

#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "distbench/client/connection_error.h"
#include "distbench/results/merge.h"
#include "proto/control.grpc.pb.h"

namespace distbench {
namespace {

constexpr absl::Duration kStatusTimeout = absl::Seconds(10);
constexpr int kKeepaliveMs = 5000;

absl::Status ToAbslStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // A sequencer whose host is gone.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // What another client found out about the address earlier does not count.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

// Puts the results of a sequence together from events.
class ResultAssembler {
 public:
  ResultAssembler(int test_count, TestSequenceResults& results)
      : test_count_(test_count), results_(results) {}

  // Moves out of the event what belongs to results and is for no observer.
  absl::Status Add(RunTestsEvent& event) {
    if (event.test_index() < 0 || event.test_index() >= test_count_) {
      return absl::InternalError(
          absl::StrCat("the test sequencer sent news of test ",
                       event.test_index(), " of ", test_count_));
    }
    if (event.has_result_chunk()) {
      return MergeChunk(std::move(*event.mutable_result_chunk()),
                        *Result(event.test_index()).mutable_service_logs());
    }
    if (event.has_finished()) {
      Result(event.test_index()).MergeFrom(event.finished());
      incomplete_.erase(event.test_index());
    }
    return absl::OkStatus();
  }

  // No more events come.
  void MarkIncomplete(absl::string_view reason) {
    for (int index : incomplete_) {
      results_.mutable_test_results(index)->mutable_run_info()->set_failure(
          std::string(reason));
    }
  }

 private:
  TestResult& Result(int index) {
    while (results_.test_results_size() <= index) {
      incomplete_.insert(results_.test_results_size());
      results_.add_test_results();
    }
    return *results_.mutable_test_results(index);
  }

  const int test_count_;
  TestSequenceResults& results_;
  std::set<int> incomplete_;
};

}  // namespace

class TestClient::Impl {
 public:
  explicit Impl(std::shared_ptr<grpc::Channel> channel)
      : stub_(DistBenchTestSequencer::NewStub(std::move(channel))) {}

  absl::Status RunTests(const TestSequence& sequence, EventObserver observer,
                        TestSequenceResults& results)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    grpc::ClientContext context;
    if (!Begin(&context)) return CancelledError();
    absl::Status status = Run(context, sequence, observer, results);
    const bool cancelled = End(&context);
    return cancelled && !status.ok() ? CancelledError() : status;
  }

  absl::StatusOr<GetStatusResponse> GetStatus(absl::Duration timeout) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    GetStatusResponse response;
    const grpc::Status status = stub_->GetStatus(&context, {}, &response);
    if (!status.ok()) return ToAbslStatus(status);
    return response;
  }

  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_cancelled_ = true;
    for (grpc::ClientContext* context : running_) context->TryCancel();
  }

 private:
  static absl::Status CancelledError() {
    return absl::CancelledError("the tests were cancelled");
  }

  // The sequencer itself says UNAVAILABLE to nobody.
  static absl::Status ExplainLoss(const absl::Status& status) {
    if (!absl::IsUnavailable(status)) return status;
    return absl::UnavailableError(
        absl::StrCat("the test sequencer was lost: ", status.message()));
  }

  absl::Status Run(grpc::ClientContext& context, const TestSequence& sequence,
                   EventObserver observer, TestSequenceResults& results) {
    RunTestsRequest request;
    *request.mutable_test_sequence() = sequence;
    ResultAssembler assembler(sequence.tests_size(), results);
    const auto reader = stub_->RunTests(&context, request);
    RunTestsEvent event;
    absl::Status status;
    while (status.ok() && reader->Read(&event)) {
      const bool is_piece = event.has_result_chunk();
      status = assembler.Add(event);
      if (status.ok() && !is_piece) observer(event);
    }
    if (!status.ok()) context.TryCancel();
    const absl::Status end = ToAbslStatus(reader->Finish());
    if (status.ok()) status = ExplainLoss(end);
    if (!status.ok()) {
      assembler.MarkIncomplete(
          absl::StrCat("the result is not complete: ", status.message()));
    }
    return status;
  }

  // False: the call is not to be made.
  bool Begin(grpc::ClientContext* context) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (!is_cancelled_) running_.insert(context);
    return !is_cancelled_;
  }

  // Whether the call was cancelled.
  bool End(grpc::ClientContext* context) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    running_.erase(context);
    return is_cancelled_;
  }

  const std::unique_ptr<DistBenchTestSequencer::Stub> stub_;
  absl::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> running_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<TestClient>> TestClient::Connect(
    const std::string& address, absl::Duration timeout) {
  auto client = std::make_unique<TestClient>(MakeChannel(address));
  const absl::Status status = client->impl_->GetStatus(timeout).status();
  if (!status.ok()) return ExplainConnectionError(status, address, timeout);
  return client;
}

TestClient::TestClient(std::shared_ptr<grpc::Channel> channel)
    : impl_(std::make_unique<Impl>(std::move(channel))) {}

TestClient::~TestClient() = default;

absl::Status TestClient::RunTests(const TestSequence& sequence,
                                  EventObserver observer,
                                  TestSequenceResults& results) {
  return impl_->RunTests(sequence, observer, results);
}

absl::StatusOr<GetStatusResponse> TestClient::GetStatus() {
  return impl_->GetStatus(kStatusTimeout);
}

void TestClient::Cancel() { impl_->Cancel(); }

}  // namespace distbench
