#ifndef DISTBENCH_PROTOCOL_TCP_ACCEPTOR_H_
#define DISTBENCH_PROTOCOL_TCP_ACCEPTOR_H_

#include <cstdint>
#include <functional>

#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::protocol {

// Accepts the connections of a listening socket. Used by one worker's thread.
class Acceptor final : public Poller::Watcher {
 public:
  using OnAccepted = std::function<void(base::FileDescriptor socket)>;

  // The poller and the counters must outlive this.
  Acceptor(base::FileDescriptor listener, OnAccepted on_accepted,
           Poller& poller, StreamCounters& counters);

  // The monotonic time at which Work() has something to do, or kNoDeadline.
  int64_t next_due_ns() const { return resume_ns_; }

  // Resumes after a pause.
  void Work(int64_t now_ns);

  // Accepts no more connections.
  void Close();

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  void Pause();

  base::FileDescriptor listener_;
  const OnAccepted on_accepted_;
  Poller& poller_;
  StreamCounters& counters_;
  int64_t resume_ns_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_ACCEPTOR_H_
