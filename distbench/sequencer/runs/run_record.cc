#include "distbench/sequencer/runs/run_record.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/sequencer/runs/run_end.h"

namespace distbench {
namespace {

constexpr char kPiecesDropped[] =
    "its result needs more than the sequencer's --results_memory: only "
    "summaries were kept";
constexpr char kResultDropped[] =
    "its result was dropped to make room for later ones; the sequencer's "
    "--results_memory sets how much is kept, and with --results_dir all is";

}  // namespace

RunRecord::RunRecord(Options options, std::unique_ptr<ResultLog> log,
                     ResultMemory& memory, const Clock& clock)
    : options_(std::move(options)),
      memory_(memory),
      clock_(clock),
      description_(options_.description),
      log_(std::move(log)) {
  if (HasEnded(description_)) {
    is_saved_ = true;
    finished_count_ = description_.test_names_size();
    end_ = EndOf(description_);
  }
}

RunRecord::~RunRecord() { memory_.Release(log_->memory_bytes()); }

RunDescription RunRecord::description() const {
  absl::MutexLock lock(&mutex_);
  return Describe();
}

bool RunRecord::has_ended() const {
  absl::MutexLock lock(&mutex_);
  return end_.has_value();
}

bool RunRecord::is_on_disk() const {
  absl::MutexLock lock(&mutex_);
  return is_saved_ && log_->end() == std::max(log_->file_bytes(),
                                              ResultLog::kBegin);
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
          absl::StrCat("run ", description_.id(), " has ended"));
    }
    cancel = cancel_;
  }
  if (cancel) cancel(reason);
  return absl::OkStatus();
}

void RunRecord::OnSequencerEnds() {
  absl::MutexLock lock(&mutex_);
  sequencer_ends_ = true;
}

// ---- The run ----------------------------------------------------------------

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
    progress_.set_test_index(test_index);
    *progress_.mutable_progress() = progress;
    progress_offset_ = log_->end();
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
  const bool is_good = failure.empty() && !IsInvalid(result);
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_finished() = std::move(result);
  Append(event);
  {
    absl::MutexLock lock(&mutex_);
    finished_count_ = test_index + 1;
    if (!is_good) has_failed_test_ = true;
  }
  Commit();
  if (failure.empty() || !options_.stop_at_failure) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("tests[", test_index, "] failed: ", failure));
}

void RunRecord::OnSequenceDone(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    const RunDescription::State state = FinalState(status);
    description_.set_state(state);
    description_.clear_queue_position();
    if (state != RunDescription::INTERRUPTED) {
      description_.clear_current_test_index();
    }
    description_.set_end_timestamp_ns(clock_.UnixNs());
    if (!status.ok()) description_.set_message(std::string(status.message()));
  }
  Commit();
  {
    absl::MutexLock lock(&mutex_);
    end_ = status;
    cancel_ = {};
  }
  Notify();
  options_.on_ended();
}

RunDescription::State RunRecord::FinalState(const absl::Status& status) const {
  if (status.ok()) {
    return has_failed_test_ ? RunDescription::FAILED : RunDescription::DONE;
  }
  if (sequencer_ends_) {
    return description_.state() == RunDescription::WAITING
               ? RunDescription::CANCELLED
               : RunDescription::INTERRUPTED;
  }
  return absl::IsCancelled(status) ? RunDescription::CANCELLED
                                   : RunDescription::FAILED;
}

// ---- Storage ----------------------------------------------------------------

void RunRecord::Append(const RunTestsEvent& event) {
  std::string record = event.SerializeAsString();
  bool is_in_file = false;
  {
    absl::MutexLock lock(&mutex_);
    is_in_file = log_->AppendToFile(record);
  }
  if (!is_in_file) KeepInMemory(std::move(record), event);
  Notify();
}

void RunRecord::KeepInMemory(std::string record, const RunTestsEvent& event) {
  const bool is_piece = event.has_result_chunk();
  const int64_t bytes = record.size();
  while (!memory_.Reserve(bytes)) {
    if (!is_piece) {
      memory_.ReserveAnyway(bytes);
      break;
    }
    if (!MakeRoom(event.test_index())) return;
  }
  absl::MutexLock lock(&mutex_);
  log_->AppendToMemory(std::move(record), is_piece);
}

// Drops what all followers have read, once there is any. False: there is
// nothing to drop, and nobody to wait for.
bool RunRecord::MakeRoom(int test_index) {
  {
    absl::MutexLock lock(&mutex_);
    first_whole_test_ = test_index + 1;
    storage_problem_ = kPiecesDropped;
    const int64_t slowest = SlowestOffset();
    if (Free([slowest](ResultLog& log) { log.DropPieces(slowest); }) > 0) {
      return true;
    }
    if (slowest == log_->end()) return false;
    const auto need_not_wait = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return SlowestOffset() > slowest || sequencer_ends_;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&need_not_wait),
                            options_.stall_timeout);
    if (SlowestOffset() > slowest) return true;
    CutOff(slowest);
  }
  Notify();
  return true;
}

int64_t RunRecord::SlowestOffset() const {
  int64_t slowest = log_->end();
  for (const RunFollower* follower : followers_) {
    if (follower->cut_off_.ok()) slowest = std::min(slowest, follower->offset_);
  }
  return slowest;
}

void RunRecord::CutOff(int64_t offset) {
  for (RunFollower* follower : followers_) {
    if (follower->offset_ > offset) continue;
    follower->cut_off_ = absl::DeadlineExceededError(absl::StrCat(
        "the client took none of the results for ",
        absl::FormatDuration(options_.stall_timeout),
        ", and they need more than the sequencer's --results_memory"));
  }
}

template <typename Function>
int64_t RunRecord::Free(Function drop) {
  const int64_t before = log_->memory_bytes();
  drop(*log_);
  const int64_t freed = before - log_->memory_bytes();
  memory_.Release(freed);
  return freed;
}

void RunRecord::DropResult() {
  {
    absl::MutexLock lock(&mutex_);
    if (log_->memory_bytes() == 0) return;
    Free([](ResultLog& log) { log.DropMemory(); });
    result_is_dropped_ = true;
    storage_problem_ = kResultDropped;
  }
  Notify();
}

void RunRecord::Commit() {
  {
    absl::MutexLock lock(&mutex_);
    absl::Status status;
    Free([&status](ResultLog& log) { status = log.Flush(); });
    if (!status.ok()) {
      storage_problem_ = absl::StrCat(status.message(),
                                      "; it is kept in memory, until the "
                                      "sequencer ends");
    } else if (log_->memory_bytes() == 0) {
      storage_problem_.clear();
    }
  }
  Save();
}

void RunRecord::Save() {
  absl::MutexLock save_lock(&save_mutex_);
  RunDescription description;
  {
    absl::MutexLock lock(&mutex_);
    description = description_;
    // Of the file alone: the rest does not survive the process either.
    if (log_->file_bytes() > 0) {
      description.set_result_bytes(log_->file_bytes());
    }
  }
  const absl::Status status = options_.save(description);
  absl::MutexLock lock(&mutex_);
  is_saved_ = status.ok();
  if (!status.ok() && storage_problem_.empty()) {
    storage_problem_ = absl::StrCat(status.message(),
                                    "; it is known until the sequencer ends");
  }
}

RunDescription RunRecord::Describe() const {
  RunDescription description = description_;
  const int64_t bytes = log_->file_bytes() + log_->memory_bytes();
  if (bytes > 0) description.set_result_bytes(bytes);
  if (!storage_problem_.empty()) {
    const std::string& message = description_.message();
    description.set_message(
        absl::StrCat(message, message.empty() ? "" : "; ", storage_problem_));
  }
  return description;
}

// ---- Followers --------------------------------------------------------------

void RunRecord::AddFollower(RunFollower& follower) {
  absl::MutexLock lock(&mutex_);
  follower.tests_before_ = finished_count_;
  follower.first_whole_test_ = first_whole_test_;
  followers_.insert(&follower);
}

void RunRecord::RemoveFollower(RunFollower& follower) {
  absl::MutexLock lock(&mutex_);
  followers_.erase(&follower);
}

RunNews RunRecord::NextFor(RunFollower& follower) {
  absl::MutexLock lock(&mutex_);
  if (!follower.cut_off_.ok()) {
    return {.event = std::nullopt, .end = follower.cut_off_};
  }
  if (auto live = LiveNewsFor(follower)) {
    return {.event = std::move(live), .end = std::nullopt};
  }
  while (true) {
    absl::StatusOr<std::optional<std::string>> record =
        log_->Read(follower.offset_);
    if (!record.ok()) return {.event = std::nullopt, .end = record.status()};
    if (!record->has_value()) break;
    RunTestsEvent event;
    if (!event.ParseFromString(**record)) {
      return {.event = std::nullopt,
              .end = absl::DataLossError("the stored result is damaged")};
    }
    if (!IsFor(follower, event)) continue;
    return {.event = std::move(event), .end = std::nullopt};
  }
  if (!end_.has_value()) return {};
  return {.event = std::nullopt, .end = End()};
}

bool RunRecord::IsFor(const RunFollower& follower, const RunTestsEvent& event) {
  if (event.has_started()) return event.test_index() >= follower.tests_before_;
  return !event.has_result_chunk() ||
         event.test_index() >= follower.first_whole_test_;
}

std::optional<RunTestsEvent> RunRecord::LiveNewsFor(RunFollower& follower) {
  RunTestsEvent event;
  if (!follower.id_is_said_) {
    follower.id_is_said_ = true;
    event.set_run_id(description_.id());
    return event;
  }
  if (follower.queue_version_ != queue_version_) {
    follower.queue_version_ = queue_version_;
    // Zero is said by the start that follows.
    if (description_.queue_position() > 0) {
      event.set_queue_position(description_.queue_position());
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

absl::Status RunRecord::End() const {
  if (!result_is_dropped_) return *end_;
  return absl::ResourceExhaustedError(
      absl::StrCat("run ", description_.id(), ": ", kResultDropped));
}

void RunRecord::Notify() const {
  std::vector<std::function<void()>> calls;
  {
    absl::MutexLock lock(&mutex_);
    for (const RunFollower* follower : followers_) {
      calls.push_back(follower->on_news_);
    }
  }
  for (const auto& call : calls) call();
}

RunFollower::RunFollower(std::shared_ptr<RunRecord> record,
                         std::function<void()> on_news)
    : record_(std::move(record)), on_news_(std::move(on_news)) {
  record_->AddFollower(*this);
}

RunFollower::~RunFollower() { record_->RemoveFollower(*this); }

}  // namespace distbench
