// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/index_keeper.h"

#include <algorithm>
#include <exception>
#include <optional>
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

std::string IndexKeeper::Problem() {
  const absl::MutexLock lock(&mutex_);
  return problem_;
}

bool IndexKeeper::ShouldStop() {
  if (options_.is_busy()) return true;
  const absl::MutexLock lock(&mutex_);
  return is_ended_;
}

void IndexKeeper::Run() {
  const auto is_wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_ended_ || base::NowNs() < watched_until_ns_;
  };
  while (true) {
    {
      const absl::MutexLock lock(&mutex_);
      if (is_complete_) mutex_.Await(absl::Condition(&is_wanted));
      if (is_ended_) return;
    }
    const int64_t start_ns = base::NowNs();
    std::optional<std::string> problem;
    if (!options_.is_busy()) {
      // A file that needs more memory than there is must not end the process,
      // which may be a sequencer.
      try {
        problem = std::string(Update().message());
      } catch (const std::exception& error) {
        problem = error.what();
      }
    }
    const absl::Duration pause =
        std::max(options_.interval,
                 kPausePerList * absl::Nanoseconds(base::NowNs() - start_ns));
    const absl::MutexLock lock(&mutex_);
    if (!problem.value_or("").empty() && *problem != problem_) {
      LOG(WARNING) << "the index of results is not up to date: " << *problem;
    }
    problem_ = problem.value_or(problem_);
    mutex_.AwaitWithTimeout(absl::Condition(&is_ended_), pause);
  }
}

absl::Status IndexKeeper::Update() {
  absl::StatusOr<std::vector<history::ResultEntry>> entries = source_.List();
  if (entries.ok() && is_complete_ && *entries == entries_) {
    return absl::OkStatus();
  }
  is_complete_ = false;
  if (!entries.ok()) return entries.status();
  bool was_stopped = false;
  const auto should_stop = [&] {
    was_stopped = was_stopped || ShouldStop();
    return was_stopped;
  };
  const absl::Status status =
      index_.Synchronise(source_, *entries, should_stop);
  if (!status.ok()) return status;
  index_.Judge(should_stop);
  is_complete_ = !was_stopped;
  entries_ = *std::move(entries);
  return absl::OkStatus();
}

}  // namespace distbench::dashboard
