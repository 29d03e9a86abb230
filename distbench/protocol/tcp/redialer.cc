#include "distbench/protocol/tcp/redialer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace distbench::protocol {

Redialer::Redialer(StreamContext& context, const DialTarget& target,
                   int64_t timeout_ns, Poller::Watcher& watcher, Owner& owner)
    : context_(context),
      name_(target.name),
      address_(target.address),
      timeout_ns_(timeout_ns),
      watcher_(watcher),
      owner_(owner),
      dial_(context.security),
      was_connected_(target.stream.is_open()) {}

std::string Redialer::LossError(absl::string_view reason) const {
  return absl::StrCat("UNAVAILABLE: the connection to ", name_,
                      " was lost: ", reason);
}

void Redialer::OnDown(int64_t now_ns) {
  due_ns_ = now_ns + backoff_ns_;
  backoff_ns_ = std::min(2 * backoff_ns_, kMaxBackoffNs);
}

void Redialer::Work(int64_t now_ns) {
  if (now_ns < next_due_ns()) return;
  if (is_requested_) {
    is_requested_ = false;
    end_ns_ = now_ns + timeout_ns_;
    if (was_connected_) ++context_.counters.reconnects;
  } else if (!is_busy() || now_ns >= end_ns_) {
    dial_.TimeOut();
    return Finish();
  }
  Begin(now_ns);
}

void Redialer::Begin(int64_t now_ns) {
  dial_.Begin(address_);
  due_ns_ = is_busy() ? std::min(end_ns_, now_ns + Dial::kRetryNs) : end_ns_;
  if (!dial_.in_progress()) return Finish();
  if (!is_busy()) {
    context_.poller.Watch(dial_.fd(), dial_.events(), watcher_);
  }
}

void Redialer::Continue() {
  const uint32_t events_before = dial_.events();
  dial_.Continue();
  if (!dial_.in_progress()) return Finish();
  if (dial_.events() != events_before) {
    context_.poller.Rewatch(dial_.fd(), dial_.events(), watcher_);
  }
}

void Redialer::Finish() {
  if (dial_.state() == Dial::State::kConnected) {
    was_connected_ = true;
    return owner_.OnConnected(dial_.TakeStream());
  }
  ++context_.counters.failed_reconnects;
  owner_.OnNotConnected(absl::StrCat("UNAVAILABLE: cannot connect to ", name_,
                                     was_connected_ ? " again: " : ": ",
                                     dial_.error()));
}

}  // namespace distbench::protocol
