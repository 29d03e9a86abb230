// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// For tests: records of runs, and what their followers read.

#ifndef DISTBENCH_SEQUENCER_TESTING_RUN_RECORD_TESTING_H_
#define DISTBENCH_SEQUENCER_TESTING_RUN_RECORD_TESTING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "distbench/sequencer/testing/gated_disk.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {

inline constexpr int64_t kPieceBytes = 1000;
inline constexpr char kRecordedRunId[] = "20260131-235959-000";

inline ResultChunk Piece(const std::string& instance) {
  ResultChunk chunk;
  chunk.set_instance(instance);
  chunk.mutable_instance_log()->set_engine_error_message(
      std::string(kPieceBytes, 'x'));
  return chunk;
}

inline TestResult ResultOf(const std::string& failure) {
  TestResult result;
  result.add_log_summary("summary");
  if (!failure.empty()) result.mutable_run_info()->set_failure(failure);
  return result;
}

// Describes an event in a word or two.
inline std::string Word(const RunTestsEvent& event) {
  switch (event.event_case()) {
    case RunTestsEvent::kRunId:
      return "id";
    case RunTestsEvent::kQueuePosition:
      return absl::StrCat("queue ", event.queue_position());
    case RunTestsEvent::kStarted:
      return absl::StrCat("started ", event.test_index());
    case RunTestsEvent::kProgress:
      return absl::StrCat("progress ", event.progress().succeeded_count());
    case RunTestsEvent::kResultChunk:
      return event.result_chunk().instance();
    case RunTestsEvent::kFinished:
      return absl::StrCat("finished ", event.test_index());
    case RunTestsEvent::EVENT_NOT_SET:
      break;
  }
  return "?";
}

// Records on a disk that survives or not.
class RunRecordTest : public testing::Test {
 protected:
  RunRecordTest() : RunRecordTest(TemporaryRuns()) {}
  explicit RunRecordTest(std::unique_ptr<RunDisk> disk)
      : disk_(std::make_shared<GatedDisk>(std::move(disk))), storage_(disk_) {}

  // A record that waits, and that the disk knows.
  std::shared_ptr<RunRecord> MakeRecord() {
    auto record = MakeUnsavedRecord();
    record->Save();
    Await();
    return record;
  }

  std::shared_ptr<RunRecord> MakeUnsavedRecord() {
    RunRecord::Options options;
    options.storage = &storage_;
    options.description.set_id(kRecordedRunId);
    options.description.set_state(RunDescription::WAITING);
    options.description.add_test_names("first");
    options.description.add_test_names("second");
    options.description.add_test_names("third");
    options.stop_at_failure = stop_at_failure_;
    options.memory_bytes = 2 * kPieceBytes;
    options.on_ended = [this] { ++ended_count_; };
    options.stall_timeout = stall_timeout_;
    options.last_stall_timeout = absl::Milliseconds(1);
    return std::make_shared<RunRecord>(std::move(options), clock_);
  }

  static void RunOneTest(RunRecord& record, int test_index, int pieces,
                         const std::string& failure = "") {
    record.OnTestSetUp(test_index);
    record.OnTestStarted(test_index, TestStarted());
    for (int i = 0; i < pieces; ++i) {
      record.OnResultChunk(test_index, Piece(absl::StrCat("piece", i)));
    }
    record.OnTestFinished(test_index, ResultOf(failure)).IgnoreError();
  }

  static void Progress(RunRecord& record, int64_t count) {
    TrafficProgress progress;
    progress.set_succeeded_count(count);
    record.OnProgress(0, progress);
  }

  RunFollower& Follow(std::shared_ptr<RunRecord> record) {
    followers_.push_back(
        std::make_unique<RunFollower>(record, [this] { ++news_count_; }));
    return *followers_.back();
  }

  // Returns everything that the follower can read when the disk has written and
  // read it; at the end of the run, the last element is "end" with its message.
  std::vector<std::string> Drain(RunFollower& follower) {
    std::vector<std::string> words;
    Await();
    while (true) {
      RunNews news = follower.Next();
      if (!news.event.has_value() && !news.end.has_value()) {
        Await();
        news = follower.Next();
      }
      if (news.event.has_value()) {
        words.push_back(Word(*news.event));
        continue;
      }
      if (news.end.has_value()) {
        words.push_back(absl::StrCat("end ", news.end->message()));
      }
      return words;
    }
  }

  void Await() { EXPECT_TRUE(storage_.AwaitIdle(absl::Minutes(1))); }

  base::FakeClock clock_;
  bool stop_at_failure_ = false;
  absl::Duration stall_timeout_ = absl::Minutes(5);
  std::atomic<int> ended_count_ = 0;
  std::atomic<int> news_count_ = 0;
  const std::shared_ptr<GatedDisk> disk_;
  RunStorage storage_;
  std::vector<std::unique_ptr<RunFollower>> followers_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_RUN_RECORD_TESTING_H_
