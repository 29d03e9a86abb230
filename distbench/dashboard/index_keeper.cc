#include "distbench/dashboard/index_keeper.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// Of the time that a list takes, so long is the pause at least.
constexpr int kPausePerList = 20;

}  // namespace

IndexKeeper::IndexKeeper(HistoryIndex& index, const ResultSource& source,
                         Options options)
    : index_(index),
      source_(source),
      options_(std::move(options)),
      watched_until_(absl::Now() + options_.attention),
      thread_([this] { Run(); }) {}

IndexKeeper::~IndexKeeper() {
  {
    const absl::MutexLock lock(&mutex_);
    is_ended_ = true;
  }
  thread_.join();
}

void IndexKeeper::OnRequest() {
  const absl::MutexLock lock(&mutex_);
  watched_until_ = absl::Now() + options_.attention;
}

bool IndexKeeper::ShouldStop() {
  if (options_.is_busy()) return true;
  const absl::MutexLock lock(&mutex_);
  return is_ended_;
}

void IndexKeeper::Run() {
  const auto is_wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_ended_ || absl::Now() < watched_until_;
  };
  while (true) {
    {
      const absl::MutexLock lock(&mutex_);
      if (is_complete_) mutex_.Await(absl::Condition(&is_wanted));
      if (is_ended_) return;
    }
    const absl::Time start = absl::Now();
    if (!options_.is_busy()) Update();
    const absl::Duration pause =
        std::max(options_.interval, kPausePerList * (absl::Now() - start));
    const absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&is_ended_), pause);
  }
}

void IndexKeeper::Update() {
  absl::StatusOr<std::vector<ResultEntry>> entries = source_.List();
  if (entries.ok() && is_complete_ && *entries == entries_) return;
  const auto should_stop = [this] { return ShouldStop(); };
  const absl::StatusOr<SyncOutcome> outcome =
      index_.Synchronise(source_, should_stop);
  absl::Status status = outcome.status();
  if (status.ok()) status = index_.Judge(should_stop);
  if (!status.ok()) {
    LOG_EVERY_N(WARNING, 100)
        << "the index of results is not up to date: " << status.message();
  }
  is_complete_ = status.ok() && entries.ok() && !outcome->was_stopped;
  if (is_complete_) entries_ = *std::move(entries);
}

}  // namespace distbench
