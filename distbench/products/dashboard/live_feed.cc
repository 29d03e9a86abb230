#include "distbench/products/dashboard/live_feed.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench::dashboard {
namespace {

// How long a follower may take from its request to its place among followers.
constexpr absl::Duration kArrivalTime = absl::Seconds(10);

}  // namespace

LiveFeed::LiveFeed(const LiveSource& source, Options options)
    : source_(source), options_(options), thread_([this] { Run(); }) {}

LiveFeed::~LiveFeed() {
  {
    const absl::MutexLock lock(&mutex_);
    is_ended_ = true;
  }
  thread_.join();
}

std::string LiveFeed::Json() {
  const absl::MutexLock lock(&mutex_);
  Look();
  return LiveJson(nodes_.json, runs_.json);
}

void LiveFeed::BeginSending(EventSink& sink) {
  const absl::MutexLock lock(&mutex_);
  sink_ = &sink;
}

void LiveFeed::EndSending() {
  const absl::MutexLock lock(&mutex_);
  sink_ = nullptr;
}

void LiveFeed::OnFollower() {
  const absl::MutexLock lock(&mutex_);
  expected_until_ = Now() + kArrivalTime;
  Send();
}

bool LiveFeed::IsFollowed() const {
  return sink_ != nullptr &&
         (sink_->FollowerCount() > 0 || Now() < expected_until_);
}

absl::Time LiveFeed::Now() const {
  return absl::FromUnixNanos(options_.clock->MonotonicNs());
}

void LiveFeed::Run() {
  const absl::MutexLock lock(&mutex_);
  // Sleeps while there are no followers: one begins with OnFollower().
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_ended_ || IsFollowed();
  };
  while (true) {
    mutex_.Await(absl::Condition(&has_work));
    if (is_ended_) return;
    Send();
    if (Now() - sent_ >= options_.heartbeat) {
      sink_->SendHeartbeat();
      sent_ = Now();
    }
    mutex_.AwaitWithTimeout(absl::Condition(&is_ended_), options_.interval);
  }
}

void LiveFeed::Look() {
  const absl::Time now = Now();
  if (now - looked_ < options_.interval) return;
  looked_ = now;
  const LiveStatus status = source_.Look();
  nodes_.json = NodesJson(status);
  runs_.json = RunsJson(status, rate_.Update(status));
}

void LiveFeed::Send() {
  Look();
  if (sink_ == nullptr) return;
  for (Part* const part : {&nodes_, &runs_}) {
    if (part->json == part->sent_json) continue;
    sink_->SendState(part->name, absl::StrCat("event: ", part->name,
                                              "\ndata: ", part->json, "\n\n"));
    part->sent_json = part->json;
    sent_ = Now();
  }
}

}  // namespace distbench::dashboard
