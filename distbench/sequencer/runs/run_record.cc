// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_record.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
namespace {

// An offset that no follower reaches.
constexpr int64_t kNowhere = -1;

// The message about lost tests names them up to so many ranges.
constexpr int kMostRanges = 10;

// "test 2", "tests 1 to 3, 5".
std::string NamesOf(const std::set<int>& tests) {
  std::string names;
  int ranges = 0;
  for (auto test = tests.begin(); test != tests.end();) {
    if (++ranges > kMostRanges) {
      names += " and others";
      break;
    }
    const int first = *test + 1;
    int last = first;
    while (++test != tests.end() && *test == last) ++last;
    absl::StrAppend(&names, names.empty() ? "" : ", ", first);
    if (last > first) absl::StrAppend(&names, " to ", last);
  }
  return absl::StrCat(tests.size() == 1 ? "test " : "tests ", names);
}

}  // namespace

RunRecord::RunRecord(Options options, const base::Clock& clock,
                     std::unique_ptr<ResultFile> file)
    : options_(std::move(options)),
      clock_(clock),
      file_(std::move(file)),
      description_(options_.description),
      file_end_(file_ == nullptr ? ResultFile::kBegin
                                 : std::max(options_.description.result_bytes(),
                                            ResultFile::kBegin)),
      committed_end_(file_end_) {
  if (!HasEnded(options_.description)) return;
  is_announced_ = true;
  is_saved_ = true;
  finished_count_ = options_.description.test_names_size();
  ended_ = options_.description;
  end_ = EndOf(options_.description);
}

RunRecord::~RunRecord() {
  if (file_ == nullptr) return;
  options_.storage->Post(
      [file = std::shared_ptr<ResultFile>(std::move(file_))](RunDisk&) {});
}

// ---- State ------------------------------------------------------------------

RunDescription RunRecord::description() const {
  absl::MutexLock lock(&mutex_);
  RunDescription run = end_.has_value() ? *ended_ : description_;
  run.clear_result_bytes();
  if (file_end_ > ResultFile::kBegin) run.set_result_bytes(file_end_);
  AddSentence(Missing(), run);
  AddSentence(save_problem_, run);
  return run;
}

// What the result lacks, or may lack later; empty if nothing.
std::string RunRecord::Missing() const {
  if (is_dropped_) return kResultDropped;
  if (!lost_tests_.empty()) {
    return absl::StrCat("the result of ", NamesOf(lost_tests_),
                        " is lost: ", loss_.message(),
                        "; repeat it when the disk takes it");
  }
  return sync_problem_;
}

bool RunRecord::has_ended() const {
  absl::MutexLock lock(&mutex_);
  return end_.has_value();
}

bool RunRecord::is_on_disk() const {
  absl::MutexLock lock(&mutex_);
  return options_.storage->survives() && is_saved_ &&
         committed_end_ == file_end_ && unwritten_bytes_ == 0;
}

int64_t RunRecord::unwritten_bytes() const {
  absl::MutexLock lock(&mutex_);
  return unwritten_bytes_;
}

int64_t RunRecord::temporary_bytes() const {
  absl::MutexLock lock(&mutex_);
  if (options_.storage->survives() || file_end_ == ResultFile::kBegin) return 0;
  return file_end_;
}

bool RunRecord::is_followed() const {
  absl::MutexLock lock(&mutex_);
  const auto takes_something = [this](const auto& follower) {
    const int64_t idle_ns =
        clock_.MonotonicNs() - follower.second->idle_since_ns_;
    return follower.second->is_reading_ ||
           absl::Nanoseconds(idle_ns) < options_.stall_timeout;
  };
  return std::any_of(followers_.begin(), followers_.end(), takes_something);
}

void RunRecord::DropResult() {
  file_ = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    is_dropped_ = true;
    file_end_ = ResultFile::kBegin;
    committed_end_ = ResultFile::kBegin;
    for (const auto& [id, follower] : followers_) {
      follower->is_given_up_ = true;
      follower->read_ahead_.clear();
      follower->error_ = EndForFollowers();
    }
  }
  Notify();
}

void RunRecord::SetCanceller(std::function<void(const absl::Status&)> cancel) {
  absl::Status reason;
  {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    cancel_ = cancel;
    reason = std::exchange(cancel_reason_, absl::OkStatus());
  }
  if (!reason.ok()) cancel(reason);
}

absl::Status RunRecord::Cancel(const absl::Status& reason) {
  std::function<void(const absl::Status&)> cancel;
  {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) {
      return absl::FailedPreconditionError(
          absl::StrCat("run ", id(), " has ended"));
    }
    cancel = cancel_;
    if (cancel == nullptr) cancel_reason_ = reason;
    is_ending_ = true;
  }
  if (cancel) cancel(reason);
  return absl::OkStatus();
}

void RunRecord::OnSequencerEnds() {
  absl::MutexLock lock(&mutex_);
  sequencer_ends_ = true;
  is_ending_ = true;
}

void RunRecord::OnQueuePosition(int ahead) {
  {
    absl::MutexLock lock(&mutex_);
    description_.set_queue_position(ahead);
    ++queue_version_;
  }
  Notify();
}

void RunRecord::OnRunStarted() {
  absl::MutexLock lock(&mutex_);
  description_.set_state(RunDescription::RUNNING);
  description_.clear_queue_position();
  description_.set_start_timestamp_ns(clock_.UnixNs());
}

void RunRecord::OnTestSetUp(int test_index) {
  {
    absl::MutexLock lock(&mutex_);
    description_.set_current_test_index(test_index);
  }
  Save();
}

void RunRecord::OnTestStarted(int test_index, const TestStarted& started) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_started() = started;
  Append(event);
}

void RunRecord::OnProgress(int test_index, const TrafficProgress& progress) {
  {
    absl::MutexLock lock(&mutex_);
    if (lost_tests_.contains(test_index)) return;
    progress_.set_test_index(test_index);
    *progress_.mutable_progress() = progress;
    progress_offset_ = file_end_ + unwritten_bytes_;
    ++progress_version_;
  }
  Notify();
}

void RunRecord::OnResultChunk(int test_index, ResultChunk chunk) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_result_chunk() = std::move(chunk);
  Append(event);
}

absl::Status RunRecord::OnTestFinished(int test_index, TestResult result) {
  const std::string failure = result.run_info().failure();
  const report::RunOutcome outcome = report::OutcomeOf(result);
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_finished() = std::move(result);
  Append(event);
  {
    absl::MutexLock lock(&mutex_);
    finished_count_ = test_index + 1;
    const bool is_invalid = outcome == report::RunOutcome::kInvalid;
    has_invalid_test_ |= is_invalid;
    has_incomplete_test_ |=
        outcome != report::RunOutcome::kMeasured && !is_invalid;
  }
  Commit();
  {
    // If the sequencer is killed, at most one test is lost.
    absl::MutexLock lock(&mutex_);
    const auto need_not_wait = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return commits_done_ == commits_posted_ || is_ending_ || is_stalled_;
    };
    is_stalled_ |= !mutex_.AwaitWithTimeout(absl::Condition(&need_not_wait),
                                            options_.stall_timeout);
  }
  if (failure.empty() || outcome == report::RunOutcome::kOverloaded ||
      !options_.stop_at_failure) {
    return {};
  }
  return absl::AbortedError(
      absl::StrCat("tests[", test_index, "] failed: ", failure));
}

void RunRecord::OnSequenceDone(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    ended_ = Ended(status);
  }
  Commit();
  Post([this, status](RunDisk&) { Finish(status); });
}

// The description of a run that ends now with this status.
RunDescription RunRecord::Ended(const absl::Status& status) const {
  RunDescription ended = description_;
  ended.set_state(FinalState(status));
  ended.clear_queue_position();
  if (ended.state() != RunDescription::INTERRUPTED) {
    ended.clear_current_test_index();
  }
  ended.set_end_timestamp_ns(clock_.UnixNs());
  if (status.ok()) {
    // Results are called so wherever they are shown.
    const bool is_complete = !has_incomplete_test_ && lost_tests_.empty();
    if (is_complete && has_invalid_test_) ended.set_is_invalid(true);
    return ended;
  }
  ended.set_message(std::string(status.message()));
  const bool was_refused =
      finished_count_ == 0 && !description_.has_current_test_index();
  if (was_refused) ended.clear_start_timestamp_ns();
  return ended;
}

RunDescription::State RunRecord::FinalState(const absl::Status& status) const {
  if (status.ok()) {
    const bool is_complete = !has_incomplete_test_ && lost_tests_.empty();
    return is_complete && !has_invalid_test_ ? RunDescription::DONE
                                             : RunDescription::FAILED;
  }
  if (sequencer_ends_) {
    return description_.state() == RunDescription::WAITING
               ? RunDescription::CANCELLED
               : RunDescription::INTERRUPTED;
  }
  return absl::IsCancelled(status) ? RunDescription::CANCELLED
                                   : RunDescription::FAILED;
}

void RunRecord::Finish(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    end_ = status;
    cancel_ = {};
    // Until now there may have been nothing for them.
    for (const auto& [id, follower] : followers_) {
      follower->idle_since_ns_ = clock_.MonotonicNs();
    }
  }
  options_.on_ended();
  Notify();
}

// ---- Records on their way to the file ---------------------------------------

void RunRecord::Append(const RunTestsEvent& event) {
  const int test_index = event.test_index();
  std::string record = event.SerializeAsString();
  {
    absl::MutexLock lock(&mutex_);
    if (lost_tests_.contains(test_index) || !AwaitRoom(test_index)) return;
    unwritten_bytes_ += ResultFile::SizeOf(record);
    unwritten_.push_back({test_index, std::move(record)});
    if (std::exchange(is_write_posted_, true)) return;
  }
  Post([this](RunDisk& disk) { WriteNow(disk); });
}

// Waits while too much is on its way to the file. Returns false if the test is
// lost because the disk takes nothing.
bool RunRecord::AwaitRoom(int test_index) {
  const auto has_room = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return unwritten_bytes_ <= options_.memory_bytes;
  };
  const auto need_not_wait = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return has_room() || is_ending_ || is_stalled_;
  };
  absl::Duration patience = options_.stall_timeout;
  if (mutex_.AwaitWithTimeout(absl::Condition(&need_not_wait), patience)) {
    patience = is_stalled_ ? absl::ZeroDuration() : options_.last_stall_timeout;
    if (mutex_.AwaitWithTimeout(absl::Condition(&has_room), patience)) {
      return !lost_tests_.contains(test_index);
    }
  }
  is_stalled_ = true;
  Lose(test_index,
       absl::DeadlineExceededError("the disk has taken nothing for too long"));
  return false;
}

// Loses the test, and all others of which records are on their way.
void RunRecord::Lose(int test_index, const absl::Status& why) {
  loss_ = why;
  lost_tests_.insert(test_index);
  for (const Unwritten& unwritten : unwritten_) {
    lost_tests_.insert(unwritten.test_index);
    unwritten_bytes_ -= ResultFile::SizeOf(unwritten.record);
  }
  unwritten_.clear();
  // Followers may not have been told that the test has started.
  if (lost_tests_.contains(progress_.test_index())) {
    progress_offset_ = kNowhere;
  }
}

// ---- Followers --------------------------------------------------------------

RunFollower::RunFollower(std::shared_ptr<RunRecord> record,
                         std::function<void()> on_news)
    : record_(std::move(record)), on_news_(std::move(on_news)) {
  absl::MutexLock lock(&record_->mutex_);
  id_ = record_->next_follower_id_++;
  tests_before_ = record_->finished_count_;
  idle_since_ns_ = record_->clock_.MonotonicNs();
  record_->followers_[id_] = this;
}

RunFollower::~RunFollower() {
  absl::MutexLock lock(&record_->mutex_);
  record_->followers_.erase(id_);
}

RunNews RunFollower::Next() {
  absl::MutexLock lock(&record_->mutex_);
  RunNews news = record_->NewsFor(*this);
  if (news.event.has_value()) idle_since_ns_ = record_->clock_.MonotonicNs();
  return news;
}

bool RunFollower::is_given_up() const {
  absl::MutexLock lock(&record_->mutex_);
  return is_given_up_;
}

RunNews RunRecord::NewsFor(RunFollower& follower) {
  if (!is_announced_) return {};
  if (!follower.error_.ok()) return {.end = follower.error_};
  if (auto live = LiveNewsFor(follower)) return {.event = std::move(live)};
  while (const std::optional<std::string> record = TakeRecord(follower)) {
    RunTestsEvent event;
    if (!event.ParseFromString(*record)) {
      return {.end = absl::DataLossError("the stored result is damaged")};
    }
    const bool had_ended = event.test_index() < follower.tests_before_;
    if (event.has_started() && had_ended) continue;
    return {.event = std::move(event)};
  }
  if (follower.is_reading_ || !end_.has_value()) return {};
  return {.end = EndForFollowers()};
}

std::optional<RunTestsEvent> RunRecord::LiveNewsFor(RunFollower& follower) {
  RunTestsEvent event;
  if (!follower.id_is_said_) {
    follower.id_is_said_ = true;
    event.set_run_id(id());
    return event;
  }
  if (follower.queue_version_ != queue_version_) {
    follower.queue_version_ = queue_version_;
    // Position 0 is implied by the start that follows.
    const int ahead = description_.queue_position();
    if (ahead > 0 && !end_.has_value()) {
      event.set_queue_position(ahead);
      return event;
    }
  }
  if (follower.progress_version_ != progress_version_ &&
      follower.offset_ == progress_offset_) {
    follower.progress_version_ = progress_version_;
    return progress_;
  }
  return std::nullopt;
}

// Returns the next record; absent if there is none, or if the storage is still
// reading it.
std::optional<std::string> RunRecord::TakeRecord(RunFollower& follower) {
  if (!follower.read_ahead_.empty()) {
    std::string record = std::move(follower.read_ahead_.front());
    follower.read_ahead_.pop_front();
    follower.offset_ += ResultFile::SizeOf(record);
    return record;
  }
  if (follower.offset_ < file_end_ &&
      !std::exchange(follower.is_reading_, true)) {
    Post([this, id = follower.id_](RunDisk&) { ReadNow(id); });
  }
  return std::nullopt;
}

// An error if they do not receive everything.
absl::Status RunRecord::EndForFollowers() const {
  const absl::Status end = end_.value_or(absl::OkStatus());
  if (!is_dropped_ && lost_tests_.empty()) return end;
  const std::string missing = absl::StrCat("run ", id(), ": ", Missing());
  if (end.ok()) return absl::DataLossError(missing);
  return absl::Status(end.code(), absl::StrCat(end.message(), "; ", missing));
}

void RunRecord::Notify() const {
  std::vector<std::function<void()>> calls;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, follower] : followers_) {
      calls.push_back(follower->on_news_);
    }
  }
  for (const auto& call : calls) call();
}

// ---- Storage ----------------------------------------------------------------

namespace {

// The storage reads about this much at a time for a follower.
constexpr int64_t kReadAheadBytes = 256 << 10;

}  // namespace

void RunRecord::Post(std::function<void(RunDisk&)> work) {
  options_.storage->Post([self = shared_from_this(), work = std::move(work)](
                             RunDisk& disk) { work(disk); });
}

void RunRecord::Save() {
  Post([this](RunDisk& disk) { SaveNow(disk); });
}

void RunRecord::Commit() {
  {
    absl::MutexLock lock(&mutex_);
    ++commits_posted_;
  }
  Post([this](RunDisk& disk) { CommitNow(disk); });
}

void RunRecord::CommitNow(RunDisk& disk) {
  WriteNow(disk);
  const absl::Status synced = options_.storage->survives() && file_ != nullptr
                                  ? file_->Sync()
                                  : absl::OkStatus();
  {
    absl::MutexLock lock(&mutex_);
    if (synced.ok()) committed_end_ = file_end_;
    sync_problem_ = synced.ok() ? ""
                                : absl::StrCat(synced.message(),
                                               "; the result is lost if the "
                                               "sequencer's host fails");
  }
  SaveNow(disk);
  absl::MutexLock lock(&mutex_);
  ++commits_done_;
}

// Writes the records on their way, until none are left.
void RunRecord::WriteNow(RunDisk& disk) {
  while (true) {
    Unwritten next;
    {
      absl::MutexLock lock(&mutex_);
      is_write_posted_ = false;
      if (unwritten_.empty()) break;
      next = std::move(unwritten_.front());
      unwritten_.pop_front();
    }
    if (file_ == nullptr) file_ = disk.NewResult(id());
    const absl::Status status = file_->Append(next.record);
    absl::MutexLock lock(&mutex_);
    is_stalled_ = false;
    unwritten_bytes_ -= ResultFile::SizeOf(next.record);
    if (status.ok()) {
      file_end_ += ResultFile::SizeOf(next.record);
    } else {
      Lose(next.test_index, status);
    }
  }
  Notify();
}

// The description as far as it is true for a later process: a test that is
// running may never end.
RunDescription RunRecord::ToSave() const {
  RunDescription run = ended_.has_value() ? *ended_ : description_;
  if (committed_end_ > ResultFile::kBegin) run.set_result_bytes(committed_end_);
  AddSentence(Missing(), run);
  return run;
}

void RunRecord::SaveNow(RunDisk& disk) {
  RunDescription run;
  {
    absl::MutexLock lock(&mutex_);
    run = ToSave();
  }
  const absl::Status status = disk.Save(run);
  {
    absl::MutexLock lock(&mutex_);
    is_saved_ = status.ok();
    save_problem_ =
        status.ok() ? ""
                    : absl::StrCat(status.message(),
                                   "; it is known until the sequencer ends");
    if (std::exchange(is_announced_, true)) return;
  }
  Notify();
}

void RunRecord::ReadNow(int64_t follower_id) {
  int64_t offset = 0;
  int64_t end = 0;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = followers_.find(follower_id);
    if (it == followers_.end() || it->second->is_given_up_) return;
    offset = it->second->offset_;
    end = file_end_;
  }
  absl::StatusOr<std::deque<std::string>> records = ReadFile(offset, end);
  std::function<void()> on_news;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = followers_.find(follower_id);
    if (it == followers_.end()) return;
    RunFollower& follower = *it->second;
    follower.is_reading_ = false;
    follower.idle_since_ns_ = clock_.MonotonicNs();
    if (records.ok()) {
      follower.read_ahead_ = *std::move(records);
    } else {
      follower.error_ = records.status();
    }
    on_news = follower.on_news_;
  }
  on_news();
}

// Reads at least one record.
absl::StatusOr<std::deque<std::string>> RunRecord::ReadFile(int64_t offset,
                                                            int64_t end) {
  std::deque<std::string> records;
  int64_t bytes = 0;
  while (offset < end && bytes < kReadAheadBytes) {
    absl::StatusOr<std::string> record = file_->Read(offset);
    if (!record.ok()) {
      // The records before the damaged one are still good.
      if (records.empty()) return record.status();
      break;
    }
    offset += ResultFile::SizeOf(*record);
    bytes += ResultFile::SizeOf(*record);
    records.push_back(*std::move(record));
  }
  return records;
}

}  // namespace distbench::sequencer
