// The events of a running test, for the thread that runs it.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_
#define DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/nodes/node_handle.h"
#include "proto/control.pb.h"

namespace distbench {

struct NodeSaid {
  NodeHandle* node;
  NodeMessage message;
};

struct NodeLost {
  NodeHandle* node;
  std::string reason;
};

struct RunCancelled {
  absl::Status reason;
};

using RunEvent = std::variant<NodeSaid, NodeLost, RunCancelled>;

// Thread-safe; one thread reads.
class RunInbox : public NodeEvents {
 public:
  // `clock` must outlive the inbox.
  explicit RunInbox(const Clock& clock) : clock_(clock) {}

  void OnNodeMessage(NodeHandle& node, NodeMessage message) override;
  void OnNodeLost(NodeHandle& node, const std::string& reason) override;

  // Requests the end of the test. Delivered before pending messages of nodes.
  void Cancel(const absl::Status& reason);

  // The next event; absent if there is none by deadline_ns of the monotonic
  // clock. Virtual for tests, which advance a clock instead of waiting.
  virtual std::optional<RunEvent> Next(int64_t deadline_ns);

 protected:
  std::optional<RunEvent> TakeFirst() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Push(RunEvent event) ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasEvents() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !events_.empty();
  }

  const Clock& clock_;
  absl::Mutex mutex_;
  std::deque<RunEvent> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_
