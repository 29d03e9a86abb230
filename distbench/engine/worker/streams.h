// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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
#include "distbench/config/plan/plan.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"
#include "distbench/protocol/streams.h"
#include "distbench/results/message_sums.h"

namespace distbench::engine {

// The messages of one direction of a streaming RPC at the end that sends them:
// decides when each is sent. A message is due one interval after the previous
// one was due, or without an interval when the previous one was handed to the
// stack. What is due is sent as soon as the stack has taken the message before.
class StreamWriter {
 public:
  // Prepares for another stream.
  void Reset(WorkerContext& context, const config::StreamSidePlan& side,
             const config::SizePlan& size);

  // Sends this many more messages. If all earlier ones were handed to the
  // stack, the first is due now.
  void Add(int64_t messages);

  // The stack has taken a message.
  void OnWritten();

  // The timer is due.
  void OnDue() { Advance(); }

  // Sends nothing more. Returns how many messages were due.
  int64_t Stop();

  // Messages that were not handed to the stack yet.
  int64_t pending() const { return pending_; }

  // Whether the stack has taken all messages.
  bool is_idle() const { return pending_ == 0 && !writing_; }

  // For how long messages that were due waited for the stack to take the one
  // before them.
  int64_t blocked_ns() const { return blocked_ns_; }

 protected:
  StreamWriter() = default;
  ~StreamWriter() = default;
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  // Hands a message to the stack. May end the stream.
  virtual void Send(int64_t bytes, int64_t due_ns) = 0;

 private:
  void Advance();
  int64_t NextDueNs();

  WorkerContext* context_ = nullptr;
  const config::StreamSidePlan* side_ = nullptr;
  const config::SizePlan* size_ = nullptr;
  Timer timer_;
  int64_t pending_ = 0;
  bool writing_ = false;    // the stack has not taken the last message
  int64_t due_ns_ = 0;      // the next message
  int64_t started_ns_ = 0;  // the last Send()
  int64_t blocked_ns_ = 0;
};

class Scheduler;
class Worker;

class Streams final : public protocol::StreamEvents {
 public:
  // All arguments must outlive this. The worker learns of the ends of RPCs.
  Streams(WorkerContext& context, Scheduler& scheduler, Worker& worker);
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
  results::TallyOf<StreamStatistics>& TotalsOf(
      const protocol::ClientCall& call) {
    return context_.recorder.StreamsOf(call.rpc_index);
  }
  static std::string ProblemOfEnd(const ClientEnd& end);
  void Measure(const ClientEnd& end, int64_t server_blocked_ns);
  int64_t DrawCount(const config::StreamSidePlan& side);
  std::string ProblemOf(const protocol::ServerCall& call) const;
  void Handle(ServerEnd& end);
  void Respond(ServerEnd& end, const config::SizePlan& size);
  void FinishIfDone(ServerEnd& end);
  void Fail(ServerEnd& end, const std::string& error);
  void Finish(ServerEnd& end, int64_t last_message_bytes);

  WorkerContext& context_;
  Scheduler& scheduler_;
  Worker& worker_;
  base::ObjectPool<ClientEnd> client_ends_;
  base::ObjectPool<ServerEnd> server_ends_;
  std::vector<ServerEnd*> serving_;  // each knows its position
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_STREAMS_H_
