// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The events of a running test, for the thread that runs it.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_
#define DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// How many bytes of its result chunks a node may have sent that were not taken
// yet. A single chunk may be larger.
inline constexpr int64_t kResultWindowBytes = 4 << 20;

struct NodeSaid {
  NodeSession* node;
  NodeMessage message;
  int64_t bytes;  // of the message
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
// matters of them is their sum, once a second. A node that goes on sending
// while nobody reads, although it has to wait, is refused.
class RunInbox : public NodeEvents {
 public:
  // `clock` must outlive the inbox.
  explicit RunInbox(const base::Clock& clock) : clock_(clock) {}

  absl::Status OnNodeMessage(NodeSession& node, NodeMessage message) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnNodeLost(NodeSession& node, const std::string& reason) override
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Requests the end of the test. Delivered before pending messages of nodes.
  void Cancel(const absl::Status& reason);

  // The next event; absent if there is none by deadline_ns of the monotonic
  // clock. Waits until then if there are only reports of progress, unless that
  // is over. Virtual for tests, which advance a clock instead of waiting.
  virtual std::optional<RunEvent> Next(int64_t deadline_ns);

 protected:
  std::optional<RunEvent> TakeFirst() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Bytes of the node's messages that wait here: of result chunks, which have a
  // window of their own, and of all others, which are few.
  int64_t& WaitingBytes(const NodeSession* node, const NodeMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return waiting_bytes_[{node, message.has_result_chunk()}];
  }
  void Push(RunEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasUrgentEvents() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return urgent_count_ > 0;
  }

  const base::Clock& clock_;
  absl::Mutex mutex_;
  std::deque<RunEvent> events_ ABSL_GUARDED_BY(mutex_);
  size_t urgent_count_ ABSL_GUARDED_BY(mutex_) = 0;  // of events_
  absl::flat_hash_map<std::pair<const NodeSession*, bool>, int64_t>
      waiting_bytes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_RUN_INBOX_H_
