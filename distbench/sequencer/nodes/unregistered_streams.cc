// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/unregistered_streams.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::sequencer {

void UnregisteredStreams::Add(std::shared_ptr<CommandStream> stream) {
  const CommandStream* const key = stream.get();
  absl::MutexLock lock(&mutex_);
  entries_[key] = {.stream = std::move(stream)};
}

bool UnregisteredStreams::Remove(const CommandStream& stream) {
  absl::MutexLock lock(&mutex_);
  return entries_.erase(&stream) > 0;
}

void UnregisteredStreams::Beat() {
  std::vector<std::shared_ptr<CommandStream>> overdue;
  {
    absl::MutexLock lock(&mutex_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      if (++it->second.beats < kBeatsPerTimeout) {
        ++it;
      } else {
        overdue.push_back(std::move(it->second.stream));
        it = entries_.erase(it);
      }
    }
  }
  const absl::Status status = absl::DeadlineExceededError(
      absl::StrCat("a session has to begin with a registration, and none came "
                   "within ",
                   absl::FormatDuration(timeout_)));
  for (const auto& stream : overdue) stream->Close(status);
}

}  // namespace distbench::sequencer
