// The sequencer's gRPC service.

#ifndef DISTBENCH_SEQUENCER_SERVICE_H_
#define DISTBENCH_SEQUENCER_SERVICE_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/sequencer/run_client.h"
#include "distbench/sequencer/run_queue.h"
#include "distbench/sequencer/sequence_run.h"
#include "proto/control.grpc.pb.h"

namespace distbench {

// Thread-safe. No call has a thread of its own.
class SequencerService final : public DistBenchTestSequencer::CallbackService {
 public:
  // `environment` and `queue` must outlive the server.
  SequencerService(RunEnvironment& environment, RunQueue& queue,
                   absl::Duration node_silence_timeout)
      : environment_(environment),
        queue_(queue),
        node_silence_timeout_(node_silence_timeout) {}

  grpc::ServerUnaryReactor* RunTestSequence(
      grpc::CallbackServerContext* context, const TestSequence* request,
      TestSequenceResults* response) override;
  grpc::ServerBidiReactor<NodeMessage, NodeCommand>* NodeSession(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<RunTestsEvent>* RunTests(
      grpc::CallbackServerContext* context,
      const RunTestsRequest* request) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const GetStatusRequest* request,
                                      GetStatusResponse* response) override;

 private:
  // Checks the sequence, and queues it for the call that brought it.
  template <typename Call>
  void Submit(const TestSequence& sequence, std::shared_ptr<Call> call);

  RunEnvironment& environment_;
  RunQueue& queue_;
  const absl::Duration node_silence_timeout_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_SERVICE_H_
