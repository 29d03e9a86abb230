#include "distbench/dashboard/live_feed.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace distbench {
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
  return json_;
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
  expected_until_ = absl::Now() + kArrivalTime;
  Send();
}

bool LiveFeed::IsFollowed() const {
  return sink_ != nullptr &&
         (sink_->FollowerCount() > 0 || absl::Now() < expected_until_);
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
    if (absl::Now() - sent_ >= options_.heartbeat) {
      sink_->SendHeartbeat();
      sent_ = absl::Now();
    }
    mutex_.AwaitWithTimeout(absl::Condition(&is_ended_), options_.interval);
  }
}

void LiveFeed::Look() {
  const absl::Time now = absl::Now();
  if (now - looked_ < options_.interval) return;
  looked_ = now;
  const LiveStatus status = source_.Look();
  json_ = LiveJson(status, rate_.Update(status));
}

void LiveFeed::Send() {
  Look();
  if (sink_ == nullptr || json_ == sent_json_) return;
  sink_->SendState(absl::StrCat("event: status\ndata: ", json_, "\n\n"));
  sent_json_ = json_;
  sent_ = absl::Now();
}

}  // namespace distbench
