// The streams of those who have not said yet which node they are.

#ifndef DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_
#define DISTBENCH_SEQUENCER_NODES_UNREGISTERED_STREAMS_H_

#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/sequencer/nodes/node_session.h"

namespace distbench {

// Ends them if that takes too long: whoever can open a stream could hold it for
// ever otherwise. Thread-safe.
class UnregisteredStreams {
 public:
  // Beats that make up the timeout; counted rather than timed, as those of
  // sessions are.
  static constexpr int kBeatsPerTimeout = NodeSession::kBeatsPerTimeout;

  // Of each stream, to register.
  explicit UnregisteredStreams(absl::Duration timeout) : timeout_(timeout) {}

  UnregisteredStreams(const UnregisteredStreams&) = delete;
  UnregisteredStreams& operator=(const UnregisteredStreams&) = delete;

  void Add(std::shared_ptr<CommandStream> stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // It registers, or has ended. False: it is not there, or not any more because
  // its time is over.
  bool Remove(const CommandStream& stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // Called at a steady pace, kBeatsPerTimeout times within the timeout: closes
  // the streams that were there so many times, with DEADLINE_EXCEEDED.
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
