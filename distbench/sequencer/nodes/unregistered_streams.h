// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The streams whose nodes have not registered yet, and the heartbeat of these
// and of the registered nodes.

#ifndef DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_
#define DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_

#include <map>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/wakeup.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/nodes/node_session.h"

namespace distbench::sequencer {

// Ends streams that do not register in time; otherwise any client could hold
// streams open forever. Thread-safe.
class UnregisteredStreams {
 public:
  // Beats per timeout; counted instead of timed, as in NodeSession.
  static constexpr int kBeatsPerTimeout = NodeSession::kBeatsPerTimeout;

  // `timeout` is how long a stream may take to register.
  explicit UnregisteredStreams(absl::Duration timeout) : timeout_(timeout) {}

  UnregisteredStreams(const UnregisteredStreams&) = delete;
  UnregisteredStreams& operator=(const UnregisteredStreams&) = delete;

  void Add(std::shared_ptr<CommandStream> stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // Call this when a stream registers or has ended. Returns false if the stream
  // is not there, for example because its time was over.
  bool Remove(const CommandStream& stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // Called at a steady pace, kBeatsPerTimeout times per timeout: closes the
  // streams that have been there for that many beats, with DEADLINE_EXCEEDED.
  void Beat() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    std::shared_ptr<CommandStream> stream;
    int beats = 0;
  };

  const absl::Duration timeout_;
  absl::Mutex mutex_;
  std::map<const CommandStream*, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

// Calls Beat() at a steady pace for all nodes of a registry, and for the
// streams that have not registered yet, on its own thread, until it is
// destroyed.
class Heartbeat {
 public:
  // `registry` and `unregistered` must outlive the heartbeat.
  Heartbeat(absl::Duration interval, NodeRegistry& registry,
            UnregisteredStreams& unregistered)
      : thread_([this, interval, &registry, &unregistered] {
          while (!stop_.Sleep(base::ToTimeoutNs(interval))) {
            const auto nodes = registry.Nodes();
            const int beats_per_ping = NodeSession::BeatsPerPing(nodes.size());
            for (const auto& node : nodes) node->Beat(beats_per_ping);
            unregistered.Beat();
          }
        }) {}

  ~Heartbeat() {
    stop_.Wake();
    thread_.join();
  }

  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  // Sleeps by the monotonic clock: a step of the host's clock must not make it
  // beat faster or slower.
  base::Wakeup stop_;
  std::thread thread_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_
