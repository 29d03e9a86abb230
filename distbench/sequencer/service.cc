#include "distbench/sequencer/service.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "distbench/base/clock.h"
#include "distbench/base/version.h"
#include "distbench/config/check.h"
#include "distbench/sequencer/client_calls.h"
#include "distbench/sequencer/grpc_status.h"
#include "distbench/sequencer/node_stream.h"
#include "distbench/sequencer/run_status.h"

namespace distbench {
namespace {

NodeStatus DescribeNode(const NodeHandle& node,
                        const std::optional<RunStatus::RunningTest>& running) {
  NodeStatus status;
  status.mutable_config()->set_node_alias(node.alias());
  *status.mutable_registration() = node.registration();
  status.set_busy(running.has_value() &&
                  running->node_aliases.count(node.alias()) > 0);
  if (const std::optional<ClockOffset> offset = node.clock_offset()) {
    status.set_clock_offset_ns(offset->offset_ns);
    status.set_clock_error_ns(offset->error_ns);
  }
  return status;
}

void DescribeTest(const RunStatus::RunningTest& test, const Clock& clock,
                  GetStatusResponse& response) {
  constexpr int64_t kNsPerUs = 1000;
  response.set_running_test(test.name);
  if (test.expected_duration_ns > 0) {
    response.set_expected_duration_us(test.expected_duration_ns / kNsPerUs);
  }
  if (test.started_ns == 0) return;
  response.set_running_time_us((clock.MonotonicNs() - test.started_ns) /
                               kNsPerUs);
  *response.mutable_progress() = test.progress;
}

}  // namespace

grpc::ServerUnaryReactor* SequencerService::RunTestSequence(
    grpc::CallbackServerContext*, const TestSequence* request,
    TestSequenceResults* response) {
  auto call = RunTestSequenceCall::Open(*response);
  Submit(*request, call);
  return call.get();
}

grpc::ServerBidiReactor<NodeMessage, NodeCommand>*
SequencerService::NodeSession(grpc::CallbackServerContext* context) {
  return NodeStream::Open(*context, node_silence_timeout_, environment_.clock,
                          environment_.registry);
}

grpc::ServerWriteReactor<RunTestsEvent>* SequencerService::RunTests(
    grpc::CallbackServerContext* context, const RunTestsRequest* request) {
  auto call = RunTestsCall::Open(*context);
  Submit(request->test_sequence(), call);
  return call.get();
}

grpc::ServerUnaryReactor* SequencerService::GetStatus(
    grpc::CallbackServerContext* context, const GetStatusRequest*,
    GetStatusResponse* response) {
  const auto running = environment_.status.Get();
  for (const auto& node : environment_.registry.Nodes()) {
    *response->add_nodes() = DescribeNode(*node, running);
  }
  if (running.has_value()) {
    DescribeTest(*running, environment_.clock, *response);
  }
  response->set_queued_sequence_count(queue_.waiting_count());
  response->set_version(kVersion);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

template <typename Call>
void SequencerService::Submit(const TestSequence& sequence,
                              std::shared_ptr<Call> call) {
  absl::StatusOr<TestSequence> checked = CheckTestSequence(sequence);
  if (!checked.ok()) {
    call->SetCancelHandler([] {});
    call->OnSequenceDone(checked.status());
    return;
  }
  auto run =
      std::make_shared<SequenceRun>(*std::move(checked), environment_, call);
  // The run holds the call, so that the call must not hold the run.
  call->SetCancelHandler([this, weak_run = std::weak_ptr<SequenceRun>(run)] {
    if (const std::shared_ptr<SequenceRun> run = weak_run.lock()) {
      queue_.Cancel(
          *run, absl::CancelledError("the client cancelled the tests, or is "
                                     "gone"));
    }
  });
  queue_.Submit(std::move(run));
}

}  // namespace distbench
