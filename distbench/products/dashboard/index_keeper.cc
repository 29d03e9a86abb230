// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/index_keeper.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/status/statusor.h"
#include "distbench/base/clock.h"
#include "glog/logging.h"

namespace distbench::dashboard {
namespace {

// Of the time that a list takes, so long is the pause at least.
constexpr int kPausePerList = 20;

}  // namespace

IndexKeeper::IndexKeeper(history::HistoryIndex& index,
                         const history::ResultSource& source, Options options)
    : index_(index),
      source_(source),
      options_(std::move(options)),
      watched_until_ns_(base::NowNs() +
                        absl::ToInt64Nanoseconds(options_.attention)),
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
  watched_until_ns_ =
      base::NowNs() + absl::ToInt64Nanoseconds(options_.attention);
}

bool IndexKeeper::IsReading() {
  const absl::MutexLock lock(&mutex_);
  return is_reading_;
}

std::string IndexKeeper::Problem() {
  const absl::MutexLock lock(&mutex_);
  return problem_;
}

void IndexKeeper::Run() {
  const auto is_wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_ended_ || base::NowNs() < watched_until_ns_;
  };
  while (true) {
    {
      const absl::MutexLock lock(&mutex_);
      if (entries_.has_value()) mutex_.Await(absl::Condition(&is_wanted));
      if (is_ended_) return;
    }
    const int64_t start_ns = base::NowNs();
    absl::Status status;
    const bool is_busy = options_.is_busy();
    // A file that needs more memory than there is must not end the process,
    // which may be a sequencer.
    try {
      if (!is_busy) status = Update();
    } catch (const std::exception& error) {
      status = absl::ResourceExhaustedError(error.what());
    }
    const absl::Duration pause =
        std::max(options_.interval,
                 kPausePerList * absl::Nanoseconds(base::NowNs() - start_ns));
    const absl::MutexLock lock(&mutex_);
    if (!status.ok() && status.message() != problem_) {
      LOG(WARNING) << "the index of results is not up to date: "
                   << status.message();
    }
    is_reading_ = status.ok() && !entries_.has_value();
    if (!is_busy) problem_ = std::string(status.message());
    mutex_.AwaitWithTimeout(absl::Condition(&is_ended_), pause);
  }
}

absl::Status IndexKeeper::Update() {
  absl::StatusOr<std::vector<history::ResultEntry>> entries = source_.List();
  if (entries.ok() && entries_ == *entries) return absl::OkStatus();
  entries_.reset();
  if (!entries.ok()) return entries.status();
  bool was_stopped = false;
  const auto should_stop = [&] {
    was_stopped = was_stopped || options_.is_busy();
    const absl::MutexLock lock(&mutex_);
    was_stopped = was_stopped || is_ended_;
    return was_stopped;
  };
  const absl::Status status =
      index_.Synchronise(source_, *entries, should_stop);
  if (!status.ok()) return status;
  index_.Judge(should_stop);
  if (!was_stopped) entries_ = *std::move(entries);
  return absl::OkStatus();
}

}  // namespace distbench::dashboard
