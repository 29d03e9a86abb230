#ifndef DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_STREAMS_H_
#define DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_STREAMS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/queues.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/streams.h"

namespace distbench::protocol {

class LoopbackTransport;

// The streams of a LoopbackTransport, at both ends. Messages pass by pointer
// through the inbox of the other end's transport. A message is taken when that
// transport delivers it, so that one message at a time is on its way in each
// direction of a stream.
class LoopbackStreams final : public StreamTransport {
 public:
  // Both arguments must outlive this.
  LoopbackStreams(LoopbackTransport& transport, const base::Clock& clock)
      : transport_(transport), clock_(clock) {}
  ~LoopbackStreams() override;

  LoopbackStreams(const LoopbackStreams&) = delete;
  LoopbackStreams& operator=(const LoopbackStreams&) = delete;

  void Open(ClientCall* call) override;
  int64_t Write(ClientCall& call, int64_t bytes, bool last) override;
  void CancelStream(ClientCall& call) override;
  int64_t Write(ServerCall& call, int64_t bytes) override;
  void Finish(ServerCall* call, int64_t last_message_bytes,
              int64_t blocked_ns) override;

  // These are for the transport.

  // Delivers what has arrived and what is due. Returns whether there was
  // anything.
  bool Deliver(TransportEvents& events);

  // Whether nothing has arrived. Any thread may call it.
  bool is_inbox_empty() const { return inbox_.empty(); }

  // The earliest deadline, or the largest int64.
  int64_t next_deadline_ns() const;

  void CancelAll();

  // Breaks the RPCs that the engine has as a server, at the next Deliver().
  void Break() { breaks_ = true; }

  // Refuses RPCs that were not delivered, and those that come. Any thread may
  // call it.
  void Close();

  // Lets go of everything. Requires Close().
  void Detach();

 private:
  struct Stream;
  struct Message;
  struct Ended {
    ClientCall* call;
    const char* error;
  };

  static LoopbackStreams& ClientOf(const Stream& stream);
  static LoopbackStreams& ServerOf(const Stream& stream);
  void Accept(std::unique_ptr<Message> message);
  void RefuseRequests();
  void DropAll();
  static void Refuse(const std::shared_ptr<Stream>& stream);

  bool DeliverEnded(StreamEvents& events);
  void ExpireDeadlines();
  void Deliver(Message& message, StreamEvents* events);
  void DeliverRequest(Message& message, StreamEvents* events);
  void DeliverResponse(Message& message, StreamEvents& events);
  void BreakServed(StreamEvents& events);
  void GiveUp(Stream& stream, const char* error);
  void Forget(Stream& stream);

  LoopbackTransport& transport_;
  const base::Clock& clock_;
  std::vector<std::shared_ptr<Stream>> calling_;  // those with a ClientCall
  std::vector<std::shared_ptr<Stream>> serving_;  // those of the engine
  std::vector<Ended> ended_;
  std::set<std::pair<int64_t, Stream*>> deadlines_;
  LateDeadlines late_deadlines_;
  bool breaks_ = false;
  base::MpscQueue<Message> inbox_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> detached_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_STREAMS_H_
