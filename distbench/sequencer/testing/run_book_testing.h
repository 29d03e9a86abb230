// For tests: waits for the answers of a RunBook.

#ifndef DISTBENCH_SEQUENCER_TESTING_RUN_BOOK_TESTING_H_
#define DISTBENCH_SEQUENCER_TESTING_RUN_BOOK_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "distbench/sequencer/runs/run_book.h"

namespace distbench::sequencer {

inline std::vector<RunDescription> ListRuns(const RunBook& book) {
  std::vector<RunDescription> result;
  absl::Notification is_listed;
  book.List([&](std::vector<RunDescription> runs) {
    result = std::move(runs);
    is_listed.Notify();
  });
  is_listed.WaitForNotification();
  return result;
}

inline RunBook::RunOrError FindRun(RunBook& book, const std::string& id) {
  RunBook::RunOrError result = absl::UnknownError("not found yet");
  absl::Notification is_found;
  book.Find(id, [&](RunBook::RunOrError run) {
    result = std::move(run);
    is_found.Notify();
  });
  is_found.WaitForNotification();
  return result;
}

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_RUN_BOOK_TESTING_H_
