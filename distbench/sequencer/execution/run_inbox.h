// The events of a running test, for the thread that runs it.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_
#define DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

struct NodeSaid {
  NodeSession* node;
  NodeMessage message;
};

struct NodeLost {
  NodeSession* node;
  std::string reason;
};

struct RunCancelled {
  absl::Status reason;
};

using RunEvent = std::variant<NodeSaid, NodeLost, RunCancelled>;

// Thread-safe; one thread reads. Reports of progress are there when it looks,
// but do not wake it: thousands of nodes send one after the other, and all that
// matters of them is their sum, once a second.
class RunInbox : public NodeEvents {
 public:
  // `clock` must outlive the inbox.
  explicit RunInbox(const base::Clock& clock) : clock_(clock) {}

  void OnNodeMessage(NodeSession& node, NodeMessage message) override;
  void OnNodeLost(NodeSession& node, const std::string& reason) override;

  // Requests the end of the test. Delivered before pending messages of nodes.
  void Cancel(const absl::Status& reason);

  // The next event; absent if there is none by deadline_ns of the monotonic
  // clock. Waits until then if there are only reports of progress, unless that
  // is over. Virtual for tests, which advance a clock instead of waiting.
  virtual std::optional<RunEvent> Next(int64_t deadline_ns);

 protected:
  std::optional<RunEvent> TakeFirst() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Push(RunEvent event) ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasUrgentEvents() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return urgent_count_ > 0;
  }

  const base::Clock& clock_;
  absl::Mutex mutex_;
  std::deque<RunEvent> events_ ABSL_GUARDED_BY(mutex_);
  size_t urgent_count_ ABSL_GUARDED_BY(mutex_) = 0;  // of events_
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_
