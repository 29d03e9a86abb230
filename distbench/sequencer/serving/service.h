// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The sequencer's gRPC service.

#ifndef DISTBENCH_SEQUENCER_SERVING_SERVICE_H_
#define DISTBENCH_SEQUENCER_SERVING_SERVICE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/sequencer/execution/sequence_run.h"
#include "distbench/sequencer/nodes/node_stream.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_queue.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/serving/client_calls.h"
#include "proto/control.grpc.pb.h"

namespace distbench::sequencer {

// Thread-safe. No call occupies a thread, and none waits for the disk.
class SequencerService final : public DistBenchTestSequencer::CallbackService {
 public:
  // All arguments must outlive the server.
  SequencerService(RunEnvironment& environment, RunQueue& queue, RunBook& book,
                   const NodeStream::Environment& node_streams)
      : environment_(environment),
        queue_(queue),
        book_(book),
        node_streams_(node_streams) {}

  grpc::ServerUnaryReactor* RunTestSequence(
      grpc::CallbackServerContext* context, const TestSequence* request,
      TestSequenceResults* response) override;
  grpc::ServerUnaryReactor* RegisterNode(grpc::CallbackServerContext* context,
                                         const NodeRegistration* request,
                                         NodeConfig* response) override;
  grpc::ServerBidiReactor<NodeMessage, NodeCommand>* NodeSession(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<RunTestsEvent>* RunTests(
      grpc::CallbackServerContext* context,
      const RunTestsRequest* request) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const GetStatusRequest* request,
                                      GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* ListRuns(grpc::CallbackServerContext* context,
                                     const ListRunsRequest* request,
                                     ListRunsResponse* response) override;
  grpc::ServerWriteReactor<RunTestsEvent>* GetRun(
      grpc::CallbackServerContext* context,
      const GetRunRequest* request) override;
  grpc::ServerUnaryReactor* CancelRun(grpc::CallbackServerContext* context,
                                      const CancelRunRequest* request,
                                      CancelRunResponse* response) override;

 private:
  using RunOrError = RunBook::RunOrError;

  // Checks the tests and what they call, and queues them.
  RunOrError Submit(const RunSubmission& submission, bool preempt);

  // Queues the submission's tests in their checked form.
  RunOrError Enqueue(TestSequence checked, const RunSubmission& submission,
                     bool preempt);

  RunEnvironment& environment_;
  RunQueue& queue_;
  RunBook& book_;
  const NodeStream::Environment node_streams_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_SERVICE_H_
