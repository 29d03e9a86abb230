// Both ends of one worker's streaming RPCs (protocol/streams.h): when their
// messages are sent, and what is measured of them. Like all RPCs, those of
// clients begin and end in RpcSender. One streaming RPC takes this path:
//
//   client                                    server
//   RpcSender::Send ▸ Streams::Open
//   StreamWriter: a message whenever one  ─▶  OnOpened, OnMessage ...
//     is due and the stack takes it           Scheduler: the handler's list, at
//                                               the first or the last message
//                                             Respond
//   OnMessage: first message, gaps        ◀─  StreamWriter
//   OnDone: measure ▸ Worker::EndCall     ◀─  Finish, when everything has
//                                               arrived and was sent
//
// While everything is being stopped, streams of clients are cancelled by their
// transport, and those of servers end with an error: at once, or with the
// handler's list while one runs.

#ifndef DISTBENCH_ENGINE_WORKER_STREAMS_H_
#define DISTBENCH_ENGINE_WORKER_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"
#include "distbench/protocol/streams.h"
#include "distbench/results/rpc_totals.h"

namespace distbench::engine {

// What streams cause in their worker.
class StreamEffects {
 public:
  virtual ~StreamEffects() = default;

  // Called at each event.
  virtual void OnStreamEvent() = 0;

  // A client's RPC has ended.
  virtual void EndStream(protocol::ClientCall& call) = 0;

  // Runs the list that handles an RPC; Respond() follows at its end.
  virtual void StartStreamHandler(int list, protocol::ServerCall& call) = 0;
};

class Streams final : public protocol::StreamEvents {
 public:
  // Both arguments must outlive this.
  Streams(WorkerContext& context, StreamEffects& effects);
  ~Streams() override;

  // Starts a client's RPC, whose messages have sizes drawn from `request`.
  // Requires that the RPC streams, and so does the transport.
  void Open(RpcCall& call, const config::SizePlan& request);

  // The list that handles an RPC has answered it.
  void Respond(const ListRun& list);

  // Ends the RPCs of servers. Requires StopScope::kEverything.
  void StopServing();

  // RPCs of servers that are not finished.
  size_t serving() const { return serving_.size(); }

 private:
  class ClientEnd;
  class ServerEnd;

  // StreamEvents
  void OnWritten(protocol::ClientCall& call, int64_t now_ns) override;
  void OnMessage(protocol::ClientCall& call, int64_t bytes,
                 int64_t now_ns) override;
  void OnDone(protocol::ClientCall* call, int64_t server_blocked_ns) override;
  void OnOpened(protocol::ServerCall* call) override;
  void OnWritten(protocol::ServerCall& call, int64_t now_ns) override;
  void OnMessage(protocol::ServerCall& call, int64_t bytes,
                 int64_t now_ns) override;
  void OnRequestsOver(protocol::ServerCall& call, int64_t now_ns) override;
  void OnBroken(protocol::ServerCall& call, int64_t now_ns) override;

  void OnEvent(int64_t now_ns);
  protocol::StreamTransport& transport() {
    return *context_.transport.streams();
  }
  results::StreamTotals& TotalsOf(const protocol::ClientCall& call) {
    return context_.recorder.StreamsOf(call.rpc_index);
  }
  void Measure(const ClientEnd& end, int64_t server_blocked_ns);
  int64_t DrawCount(const config::StreamSidePlan& side);
  std::string ProblemOf(const protocol::ServerCall& call) const;
  std::string StopError() const;
  void Handle(ServerEnd& end);
  void Respond(ServerEnd& end, const config::SizePlan& size);
  void FinishIfDone(ServerEnd& end);
  void Fail(ServerEnd& end, const std::string& error);
  void Finish(ServerEnd& end, int64_t last_message_bytes);

  WorkerContext& context_;
  StreamEffects& effects_;
  base::ObjectPool<ClientEnd> client_ends_;
  base::ObjectPool<ServerEnd> server_ends_;
  std::vector<ServerEnd*> serving_;  // each knows its position
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_STREAMS_H_
