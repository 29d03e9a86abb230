#ifndef DISTBENCH_ENGINE_WORKER_STREAM_WRITER_H_
#define DISTBENCH_ENGINE_WORKER_STREAM_WRITER_H_

#include <cstdint>

#include "distbench/config/plan/plan.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/worker/worker_context.h"

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

  // Sends nothing more.
  void Stop();

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

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_STREAM_WRITER_H_
