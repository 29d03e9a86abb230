// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_TURN_WORK_H_
#define DISTBENCH_PROTOCOL_TCP_TURN_WORK_H_

#include <cstdint>

namespace distbench::protocol {

// What the streams of a worker have done in its turn. A turn that has done
// enough ends, and the next one goes on where it has ended, so that timers get
// their turn, and so that one connection does not wait until all others were
// served. Not thread-safe.
class TurnWork {
 public:
  // Enough to receive: with small messages, about a millisecond of work.
  static constexpr int64_t kReceivedBytes = 64 * 1024;

  // Enough to send, which is far cheaper.
  static constexpr int64_t kSentBytes = 512 * 1024;

  // A turn begins.
  void StartTurn() { done_ = 0; }

  void NoteReceived(int64_t bytes) {
    done_ += bytes * (kSentBytes / kReceivedBytes);
  }
  void NoteSent(int64_t bytes) { done_ += bytes; }

  // One step of TLS's handshake takes up to a millisecond.
  void NoteHandshake() { done_ += kSentBytes; }

  bool is_enough() const { return done_ >= kSentBytes; }

 private:
  int64_t done_ = 0;  // in bytes that were sent
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_TURN_WORK_H_
