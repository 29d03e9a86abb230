// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/testing/run_files_fuzz_entry.h"

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_state.h"
#include "distbench/sequencer/testing/run_book_testing.h"
#include "google/protobuf/text_format.h"

namespace distbench::sequencer {
namespace {

constexpr char kId[] = "20260131-235959-000";

void Require(bool condition) {
  if (!condition) std::abort();
}

// Is in memory if possible, so that fuzzing does not wait for a disk.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    path += "/run_files.XXXXXX";
    Require(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

template <typename Damages>
void WriteFile(const std::string& path, std::string bytes,
               const Damages& damages) {
  for (const RunFiles::Damage& damage : damages) {
    bytes.replace(std::min<size_t>(damage.place(), bytes.size()),
                  damage.length(), damage.bytes());
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

// Returns the size before any damage.
int64_t WriteResult(const std::string& path, const RunFiles& files) {
  if (files.records().empty()) return 0;
  const std::unique_ptr<ResultFile> file = NewResultFile(path);
  for (const RunFiles::Record& record : files.records()) {
    const bool is_event = record.has_event();
    const absl::Status status = file->Append(
        is_event ? record.event().SerializePartialAsString() : record.bytes());
    Require(status.ok());
  }
  std::string bytes = base::ReadFile(path).value();
  const int64_t size = bytes.size();
  WriteFile(path, std::move(bytes), files.result_damages());
  return size;
}

void Write(const std::string& directory, const RunFiles& files) {
  const std::string path = absl::StrCat(directory, "/", kId);
  RunDescription description = files.description();
  const int64_t result_bytes = WriteResult(path + ".result", files);
  if (result_bytes > 0 && !description.has_result_bytes()) {
    description.set_result_bytes(result_bytes);
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(description, &text);
  WriteFile(path + ".run", std::move(text), files.description_damages());
}

// Counts the events up to the end, which a stored run must have.
int CountEvents(std::shared_ptr<RunRecord> run) {
  WaitingFollower follower(std::move(run));
  for (int count = 0;; ++count) {
    const RunNews news = follower.Next();
    if (news.event.has_value()) continue;
    Require(news.end.has_value());
    return count;
  }
}

int ReadAll(RunBook& book) {
  int count = 0;
  for (const RunDescription& run : ListRuns(book)) {
    Require(HasEnded(run));
    const auto record = FindRun(book, run.id());
    if (!record.ok()) continue;
    Require(absl::IsFailedPrecondition((*record)->Cancel(absl::OkStatus())));
    count += CountEvents(*record);
  }
  return count;
}

void DoAnotherRun(RunBook& book) {
  TestSequence tests;
  tests.add_tests();
  const auto run = book.Add({.tests = tests, .label = "", .client = "me"});
  Require(run.ok() && (*run)->id() > kId);
  (*run)->OnSequenceDone(absl::OkStatus());
  Require(book.AwaitStored(absl::InfiniteDuration()) && (*run)->is_on_disk());
}

}  // namespace

int ReadRunFiles(const RunFiles& files) {
  const TemporaryDirectory directory;
  Write(directory.path(), files);
  base::FakeClock clock(0, 1'780'000'000 * int64_t{1'000'000'000});  // May 2026
  int count = 0;
  {
    RunBook book(RunLimits(), clock);
    Require(book.OpenDirectory(directory.path()).ok());
    count = ReadAll(book);
    DoAnotherRun(book);
  }
  RunBook next(RunLimits(), clock);
  Require(next.OpenDirectory(directory.path()).ok());
  // Each interrupted run is reported only once.
  Require(next.interrupted_runs().empty());
  Require(ListRuns(next).size() == 2);
  Require(ReadAll(next) >= count);
  return count;
}

RunFiles ExampleRunFiles() {
  RunFiles files;
  RunDescription& run = *files.mutable_description();
  run.set_id(kId);
  run.set_state(RunDescription::RUNNING);
  run.set_label("nightly");
  run.set_client("me");
  run.add_test_names("first");
  run.add_test_names("second");
  run.set_current_test_index(1);
  run.set_submit_timestamp_ns(1'000'000'000);
  run.set_start_timestamp_ns(2'000'000'000);
  files.add_records()->mutable_event()->mutable_started()->set_name("first");
  ResultChunk& chunk =
      *files.add_records()->mutable_event()->mutable_result_chunk();
  chunk.set_instance("client/0");
  chunk.set_peer("server/0");
  chunk.mutable_rpc_log()->mutable_statistics()->set_succeeded_count(100);
  TestResult& result =
      *files.add_records()->mutable_event()->mutable_finished();
  result.mutable_run_info()->set_failure("node0 was lost");
  RunTestsEvent& next = *files.add_records()->mutable_event();
  next.set_test_index(1);
  next.mutable_started()->set_name("second");
  return files;
}

}  // namespace distbench::sequencer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::RunFiles files;
  if (files.ParsePartialFromArray(data, static_cast<int>(size))) {
    distbench::sequencer::ReadRunFiles(files);
  }
  return 0;
}
