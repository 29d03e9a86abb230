#include "distbench/sequencer/execution/run_inbox.h"

#include <utility>

#include "absl/time/time.h"

namespace distbench::sequencer {
namespace {

bool IsUrgent(const RunEvent& event) {
  const auto* said = std::get_if<NodeSaid>(&event);
  return said == nullptr || !said->message.has_progress();
}

}  // namespace

void RunInbox::OnNodeMessage(NodeSession& node, NodeMessage message) {
  Push(NodeSaid{&node, std::move(message)});
}

void RunInbox::OnNodeLost(NodeSession& node, const std::string& reason) {
  Push(NodeLost{&node, reason});
}

void RunInbox::Cancel(const absl::Status& reason) {
  absl::MutexLock lock(&mutex_);
  events_.push_front(RunCancelled{reason});
  ++urgent_count_;
}

std::optional<RunEvent> RunInbox::Next(int64_t deadline_ns) {
  {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(
        absl::Condition(this, &RunInbox::HasUrgentEvents),
        absl::Nanoseconds(deadline_ns - clock_.MonotonicNs()));
  }
  return TakeFirst();
}

std::optional<RunEvent> RunInbox::TakeFirst() {
  absl::MutexLock lock(&mutex_);
  if (events_.empty()) return std::nullopt;
  RunEvent event = std::move(events_.front());
  events_.pop_front();
  urgent_count_ -= IsUrgent(event) ? 1 : 0;
  return event;
}

void RunInbox::Push(RunEvent event) {
  absl::MutexLock lock(&mutex_);
  urgent_count_ += IsUrgent(event) ? 1 : 0;
  events_.push_back(std::move(event));
}

}  // namespace distbench::sequencer
