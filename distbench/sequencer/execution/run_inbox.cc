// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/run_inbox.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace distbench::sequencer {
namespace {

// Messages are a little larger than the chunks in them.
constexpr int64_t kMostWaitingBytes = 2 * kResultWindowBytes;

bool IsUrgent(const RunEvent& event) {
  const auto* said = std::get_if<NodeSaid>(&event);
  return said == nullptr || !said->message.has_progress();
}

}  // namespace

absl::Status RunInbox::OnNodeMessage(NodeSession& node, NodeMessage message) {
  const auto bytes = static_cast<int64_t>(message.ByteSizeLong());
  absl::MutexLock lock(&mutex_);
  int64_t& waiting_bytes = WaitingBytes(&node, message);
  // What came before decides, because a single message may have any size.
  if (waiting_bytes > kMostWaitingBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "it did not wait until what it had sent was read: ", waiting_bytes,
        " bytes, of at most ", kMostWaitingBytes));
  }
  waiting_bytes += bytes;
  Push(NodeSaid{&node, std::move(message), bytes});
  return absl::OkStatus();
}

void RunInbox::OnNodeLost(NodeSession& node, const std::string& reason) {
  absl::MutexLock lock(&mutex_);
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
  if (const auto* said = std::get_if<NodeSaid>(&event)) {
    WaitingBytes(said->node, said->message) -= said->bytes;
  }
  return event;
}

void RunInbox::Push(RunEvent event) {
  urgent_count_ += IsUrgent(event) ? 1 : 0;
  events_.push_back(std::move(event));
}

}  // namespace distbench::sequencer
