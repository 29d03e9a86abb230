#include "distbench/sequencer/runs/run_record.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/report/findings/findings.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
namespace {

// A run waits while more than this is unwritten. It is enough for the storage
// to write many small records at once.
constexpr int64_t kMaxUnwrittenBytes = 1 << 20;

}  // namespace

RunRecord::RunRecord(Options options, ResultMemory& memory,
                     const base::Clock& clock, std::unique_ptr<ResultFile> file)
    : options_(std::move(options)),
      memory_(memory),
      clock_(clock),
      file_(std::move(file)),
      state_(options_.description),
      log_(file_ == nullptr ? ResultLog::kBegin
                            : std::max(options_.description.result_bytes(),
                                       ResultLog::kBegin)),
      committed_end_(log_.file_end()),
      is_announced_(options_.storage == nullptr) {
  if (!HasEnded(options_.description)) return;
  is_announced_ = true;
  is_saved_ = true;
  finished_count_ = options_.description.test_names_size();
  ended_ = options_.description;
  end_ = EndOf(options_.description);
}

RunRecord::~RunRecord() {
  memory_.Release(log_.memory_bytes());
  if (file_ == nullptr) return;
  options_.storage->Post(
      [file = std::shared_ptr<ResultFile>(std::move(file_))](RunDisk&) {});
}

// ---- State ------------------------------------------------------------------

RunDescription RunRecord::description() const {
  absl::MutexLock lock(&mutex_);
  return Describe();
}

RunDescription RunRecord::Describe() const {
  RunDescription run = end_.has_value() ? *ended_ : state_.description();
  const bool has_file = log_.file_end() > ResultLog::kBegin;
  const int64_t bytes = (has_file ? log_.file_end() : 0) + log_.memory_bytes();
  if (bytes > 0) run.set_result_bytes(bytes);
  if (!storage_problem_.empty()) {
    const bool has_message = !run.message().empty();
    run.set_message(
        absl::StrCat(run.message(), has_message ? "; " : "", storage_problem_));
  }
  return run;
}

bool RunRecord::has_ended() const {
  absl::MutexLock lock(&mutex_);
  return end_.has_value();
}

bool RunRecord::is_on_disk() const {
  absl::MutexLock lock(&mutex_);
  return is_saved_ && committed_end_ == log_.end();
}

void RunRecord::SetCanceller(std::function<void(const absl::Status&)> cancel) {
  absl::MutexLock lock(&mutex_);
  cancel_ = std::move(cancel);
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
    BeginToEnd();
  }
  if (cancel) cancel(reason);
  return absl::OkStatus();
}

void RunRecord::OnSequencerEnds() {
  absl::MutexLock lock(&mutex_);
  state_.SequencerEnds();
  BeginToEnd();
}

void RunRecord::BeginToEnd() {
  is_ending_ = true;
  memory_.NoteChange();
}

void RunRecord::OnQueuePosition(int ahead) {
  {
    absl::MutexLock lock(&mutex_);
    state_.SetQueuePosition(ahead);
    ++queue_version_;
  }
  Notify();
}

void RunRecord::OnRunStarted() {
  absl::MutexLock lock(&mutex_);
  state_.Start(clock_.UnixNs());
}

void RunRecord::OnTestSetUp(int test_index) {
  {
    absl::MutexLock lock(&mutex_);
    state_.SetUpTest(test_index);
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
    progress_.set_test_index(test_index);
    *progress_.mutable_progress() = progress;
    progress_offset_ = log_.end();
    ++progress_version_;
  }
  Notify();
}

absl::Status RunRecord::OnResultChunk(int test_index, ResultChunk chunk) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_result_chunk() = std::move(chunk);
  Append(event);
  return absl::OkStatus();
}

absl::Status RunRecord::OnTestFinished(int test_index, TestResult result) {
  const std::string failure = result.run_info().failure();
  const bool is_overload = result.run_info().overloaded();
  const bool is_good = failure.empty() && !report::IsInvalid(result);
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_finished() = std::move(result);
  Append(event);
  {
    absl::MutexLock lock(&mutex_);
    finished_count_ = test_index + 1;
    state_.FinishTest(is_good);
  }
  Commit();
  {
    // If the sequencer is killed, at most one test is lost.
    absl::MutexLock lock(&mutex_);
    const auto need_not_wait = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return commits_done_ == commits_posted_ || is_ending_;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&need_not_wait),
                            options_.stall_timeout);
  }
  if (failure.empty() || is_overload || !options_.stop_at_failure) return {};
  return absl::AbortedError(
      absl::StrCat("tests[", test_index, "] failed: ", failure));
}

void RunRecord::OnSequenceDone(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    ended_ = state_.Ended(status, clock_.UnixNs());
  }
  if (options_.storage == nullptr) return Finish(status);
  Commit();
  Post([this, status](RunDisk&) { Finish(status); });
}

void RunRecord::Finish(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    end_ = status;
    cancel_ = {};
  }
  options_.on_ended();
  Notify();
}

void RunRecord::Append(const RunTestsEvent& event) {
  std::string record = event.SerializeAsString();
  const bool is_piece = event.has_result_chunk();
  const int64_t bytes = record.size();
  if (is_piece && !AwaitRoom(event.test_index(), bytes)) return;
  if (!is_piece && memory_.Reserve(bytes) != Room::kReserved) {
    memory_.ReserveAnyway(bytes);
  }
  bool must_post = false;
  {
    absl::MutexLock lock(&mutex_);
    log_.Append(std::move(record), is_piece);
    must_post = FileTakesRecords() && !std::exchange(is_write_posted_, true);
  }
  if (must_post) Post([this](RunDisk& disk) { WriteNow(disk); });
  Notify();
}

// ---- Room -------------------------------------------------------------------

// Reserves memory for a piece. Returns false if it is not to be kept.
bool RunRecord::AwaitRoom(int test_index, int64_t bytes) {
  bool cut_off_readers = false;
  while (true) {
    const int64_t seen = memory_.changes();
    const Room room = FindRoom(test_index, bytes, cut_off_readers);
    if (room == Room::kReserved) return true;
    absl::Duration patience;
    {
      absl::MutexLock lock(&mutex_);
      // A run that is being ended must not cut off the readers of other runs.
      if (room == Room::kNone || (cut_off_readers && is_ending_)) {
        DropPieceOf(test_index);
        return false;
      }
      patience = Patience();
    }
    cut_off_readers = !memory_.AwaitChange(seen, patience) && !EndStall();
  }
}

RunRecord::Room RunRecord::FindRoom(int test_index, int64_t bytes,
                                    bool cut_off_readers) {
  {
    absl::MutexLock lock(&mutex_);
    if (FileTakesRecords()) {
      if (log_.memory_bytes() > kMaxUnwrittenBytes) return Room::kMayCome;
      memory_.ReserveAnyway(bytes);
      return Room::kReserved;
    }
    if (!IsWanted(test_index)) return Room::kNone;
  }
  const Room room = memory_.Reserve(bytes, cut_off_readers);
  return room == Room::kNone ? HandOver(test_index, bytes) : room;
}

// Drops the records that all followers have taken. If those are all, the
// followers get the piece although there is no room.
RunRecord::Room RunRecord::HandOver(int test_index, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  const int64_t slowest = SlowestOffset();
  if (Free([slowest](ResultLog& log) { log.DropPieces(slowest); }) > 0) {
    DropPieceOf(test_index);
    return Room::kMayCome;
  }
  if (slowest < log_.end()) return Room::kMayCome;
  if (!HasFollowers()) return Room::kNone;
  memory_.ReserveAnyway(bytes);
  return Room::kReserved;
}

// Gives up on the disk, or on the slowest followers. Returns false if neither
// is to blame, but readers of other runs.
bool RunRecord::EndStall() {
  {
    absl::MutexLock lock(&mutex_);
    const absl::Duration patience = Patience();
    if (FileTakesRecords()) {
      write_error_ = absl::DeadlineExceededError(
          absl::StrCat("the disk took none of the result for ",
                       absl::FormatDuration(patience)));
      return true;
    }
    const int64_t slowest = SlowestOffset();
    if (slowest == log_.end()) return false;
    CutOff(slowest + 1,
           absl::DeadlineExceededError(absl::StrCat(
               "the client took none of the results for ",
               absl::FormatDuration(patience),
               ", and they need more than the sequencer's --results_memory")));
  }
  Notify();
  return true;
}

// Later followers get only a summary of this test and of earlier ones.
void RunRecord::DropPieceOf(int test_index) {
  first_whole_test_ = std::max(first_whole_test_, test_index + 1);
  storage_problem_ = kPiecesDropped;
}

int64_t RunRecord::Free(const std::function<void(ResultLog&)>& drop) {
  const int64_t before = log_.memory_bytes();
  drop(log_);
  const int64_t freed = before - log_.memory_bytes();
  if (freed > 0) memory_.Release(freed);
  return freed;
}

bool RunRecord::DropResult(bool cut_off) {
  bool is_gone = false;
  {
    absl::MutexLock lock(&mutex_);
    if (log_.memory_bytes() == 0) return true;
    result_is_dropped_ = true;
    storage_problem_ = kResultDropped;
    if (cut_off) {
      CutOff(log_.end(), absl::ResourceExhaustedError(
                             absl::StrCat("run ", id(), ": ", kResultDropped)));
    }
    DropTaken();
    is_gone = log_.memory_bytes() == 0;
  }
  if (cut_off) Notify();
  return is_gone;
}

void RunRecord::DropTaken() {
  const int64_t slowest = SlowestOffset();
  Free([slowest](ResultLog& log) { log.Drop(slowest); });
}

// The part of RunRecord that serves followers.

namespace {

RunNews Event(RunTestsEvent event) {
  return {.event = std::move(event), .end = std::nullopt};
}

RunNews End(absl::Status status) {
  return {.event = std::nullopt, .end = std::move(status)};
}

}  // namespace

RunFollower::RunFollower(std::shared_ptr<RunRecord> record,
                         std::function<void()> on_news)
    : record_(std::move(record)), on_news_(std::move(on_news)) {
  record_->AddFollower(*this);
}

RunFollower::~RunFollower() { record_->RemoveFollower(*this); }

bool RunFollower::Gets(const RunTestsEvent& event) const {
  if (event.has_started()) return event.test_index() >= tests_before_;
  return !event.has_result_chunk() || event.test_index() >= first_whole_test_;
}

void RunRecord::AddFollower(RunFollower& follower) {
  absl::MutexLock lock(&mutex_);
  follower.id_ = next_follower_id_++;
  follower.tests_before_ = finished_count_;
  follower.first_whole_test_ = first_whole_test_;
  if (result_is_dropped_) {
    follower.missing_ = kResultDropped;
    follower.offset_ = log_.end();
  } else if (first_whole_test_ > 0) {
    const bool is_one = first_whole_test_ == 1;
    follower.missing_ =
        absl::StrCat(kPiecesDropped, is_one ? " of test " : " of tests 1 to ",
                     first_whole_test_);
  }
  followers_[follower.id_] = &follower;
}

void RunRecord::RemoveFollower(RunFollower& follower) {
  absl::MutexLock lock(&mutex_);
  followers_.erase(follower.id_);
  OnTaken();
}

// Wakes a run that may be waiting for followers to take records, or to leave.
void RunRecord::OnTaken() {
  if (result_is_dropped_) DropTaken();
  if (!end_.has_value()) memory_.NoteChange();
}

RunNews RunRecord::NextFor(RunFollower& follower) {
  absl::MutexLock lock(&mutex_);
  const int64_t offset = follower.offset_;
  RunNews news = NewsFor(follower);
  if (follower.offset_ > offset) OnTaken();
  return news;
}

RunNews RunRecord::NewsFor(RunFollower& follower) {
  if (!follower.cut_off_.ok()) return End(follower.cut_off_);
  if (!is_announced_) return {};
  if (auto live = LiveNewsFor(follower)) return Event(*std::move(live));
  while (const ResultLog::Record record = TakeRecord(follower)) {
    RunTestsEvent event;
    if (!event.ParseFromString(*record)) {
      return End(absl::DataLossError("the stored result is damaged"));
    }
    if (follower.Gets(event)) return Event(std::move(event));
  }
  if (!follower.read_error_.ok()) return End(follower.read_error_);
  if (follower.is_reading_ || !end_.has_value()) return {};
  return End(EndFor(follower));
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
    const int ahead = state_.description().queue_position();
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

// Returns the next record; null if there is none, or if the storage is still
// reading it.
ResultLog::Record RunRecord::TakeRecord(RunFollower& follower) {
  if (!follower.read_ahead_.empty()) {
    auto record = std::make_shared<const std::string>(
        std::move(follower.read_ahead_.front()));
    follower.read_ahead_.pop_front();
    follower.offset_ += ResultLog::SizeInFile(*record);
    return record;
  }
  if (follower.offset_ >= log_.file_end()) return log_.Read(follower.offset_);
  if (follower.read_error_.ok() && !std::exchange(follower.is_reading_, true)) {
    Post([this, id = follower.id_](RunDisk&) { ReadNow(id); });
  }
  return nullptr;
}

absl::Status RunRecord::EndFor(const RunFollower& follower) const {
  if (follower.missing_.empty()) return *end_;
  const std::string missing =
      absl::StrCat("run ", id(), ": ", follower.missing_);
  if (end_->ok()) return absl::ResourceExhaustedError(missing);
  return absl::Status(end_->code(),
                      absl::StrCat(end_->message(), "; ", missing));
}

// A piece is useless if earlier pieces of its test were dropped, unless a
// follower has taken those.
bool RunRecord::IsWanted(int test_index) const {
  return test_index >= first_whole_test_ ||
         std::any_of(followers_.begin(), followers_.end(), [&](const auto& it) {
           return it.second->cut_off_.ok() &&
                  it.second->first_whole_test_ <= test_index;
         });
}

bool RunRecord::HasFollowers() const {
  return std::any_of(followers_.begin(), followers_.end(),
                     [](const auto& it) { return it.second->cut_off_.ok(); });
}

int64_t RunRecord::SlowestOffset() const {
  int64_t slowest = log_.end();
  for (const auto& [id, follower] : followers_) {
    if (follower->cut_off_.ok()) slowest = std::min(slowest, follower->offset_);
  }
  return slowest;
}

// Gives up on the followers that have not taken all records before `offset`.
void RunRecord::CutOff(int64_t offset, const absl::Status& reason) {
  for (const auto& [id, follower] : followers_) {
    if (follower->offset_ < offset && follower->cut_off_.ok()) {
      follower->cut_off_ = reason;
    }
  }
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

// The part of RunRecord that runs on the storage's thread.

namespace {

// The storage reads about this much at a time for a follower.
constexpr int64_t kReadAheadBytes = 256 << 10;

}  // namespace

void RunRecord::Post(std::function<void(RunDisk&)> work) {
  if (options_.storage == nullptr) return;
  options_.storage->Post([self = shared_from_this(), work = std::move(work)](
                             RunDisk& disk) { work(disk); });
}

void RunRecord::Save() {
  Post([this](RunDisk& disk) { SaveNow(disk); });
}

void RunRecord::Commit() {
  int64_t end = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (options_.storage == nullptr) return;
    ++commits_posted_;
    // Later records belong to a test that may never finish.
    end = log_.end();
  }
  Post([this, end](RunDisk& disk) { CommitNow(disk, end); });
}

void RunRecord::CommitNow(RunDisk& disk, int64_t end) {
  {
    absl::MutexLock lock(&mutex_);
    if (!log_.has_gap()) write_error_ = absl::OkStatus();
  }
  WriteNow(disk);
  const absl::Status synced =
      file_ == nullptr ? absl::OkStatus() : file_->Sync();
  {
    absl::MutexLock lock(&mutex_);
    if (synced.ok()) committed_end_ = std::min(end, log_.file_end());
    if (!write_error_.ok()) {
      storage_problem_ =
          absl::StrCat(write_error_.message(), "; ", WhatIsInMemory());
    } else if (!synced.ok()) {
      storage_problem_ = absl::StrCat(
          synced.message(), "; it is lost if the sequencer's host fails");
    } else if (log_.memory_bytes() == 0) {
      storage_problem_.clear();
    }
  }
  SaveNow(disk);
  absl::MutexLock lock(&mutex_);
  ++commits_done_;
}

absl::string_view RunRecord::WhatIsInMemory() const {
  if (result_is_dropped_) return kResultDropped;
  if (log_.has_gap()) return kPiecesDropped;
  return "it is kept in memory, until the sequencer ends";
}

// Writes the records in memory, until none are left or an error occurs.
void RunRecord::WriteNow(RunDisk& disk) {
  while (true) {
    ResultLog::Record record;
    {
      absl::MutexLock lock(&mutex_);
      is_write_posted_ = false;
      if (write_error_.ok()) record = log_.BeginWrite();
    }
    if (record == nullptr) return;
    if (file_ == nullptr) file_ = disk.NewResult(id());
    const absl::Status status = file_->Append(*record);
    {
      absl::MutexLock lock(&mutex_);
      Free([&status](ResultLog& log) { log.EndWrite(status.ok()); });
      if (!status.ok()) write_error_ = status;
    }
    memory_.NoteChange();
  }
}

void RunRecord::SaveNow(RunDisk& disk) {
  RunDescription run;
  {
    absl::MutexLock lock(&mutex_);
    run = ended_.has_value() ? *ended_ : state_.description();
    // Records that exist only in memory do not survive the process.
    if (committed_end_ > ResultLog::kBegin) {
      run.set_result_bytes(committed_end_);
    }
  }
  const absl::Status status = disk.Save(run);
  {
    absl::MutexLock lock(&mutex_);
    is_saved_ = status.ok();
    if (!status.ok() && storage_problem_.empty()) {
      storage_problem_ = absl::StrCat(status.message(),
                                      "; it is known until the sequencer ends");
    }
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
    if (it == followers_.end()) return;
    offset = it->second->offset_;
    end = log_.file_end();
  }
  absl::StatusOr<std::deque<std::string>> records = ReadFile(offset, end);
  std::function<void()> on_news;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = followers_.find(follower_id);
    if (it == followers_.end()) return;
    RunFollower& follower = *it->second;
    follower.is_reading_ = false;
    if (records.ok()) {
      follower.read_ahead_ = *std::move(records);
    } else {
      follower.read_error_ = records.status();
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
    offset += ResultLog::SizeInFile(*record);
    bytes += ResultLog::SizeInFile(*record);
    records.push_back(*std::move(record));
  }
  return records;
}

}  // namespace distbench::sequencer
