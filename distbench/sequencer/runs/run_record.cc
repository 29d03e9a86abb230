#include "distbench/sequencer/runs/run_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/report/findings/verdict.h"
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

}  // namespace distbench::sequencer
