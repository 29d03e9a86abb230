// The streams whose nodes have not registered yet.

#ifndef DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_
#define DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_

#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/sequencer/nodes/node_session.h"

namespace distbench {

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

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_
