#include "distbench/sequencer/runs/run_record.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
namespace {

// Says of which tests, from `begin` to before `end`, only summaries were kept.
std::string PiecesMissing(int begin, int end) {
  if (end - begin == 1) return absl::StrCat(kPiecesDropped, " of test ", end);
  return absl::StrCat(kPiecesDropped, " of tests ", begin + 1, " to ", end);
}

// Drops most of a result without its pieces, and says so in the result.
void DropResourceSamples(TestResult& result) {
  bool has_samples = false;
  for (auto& [node, resources] :
       *result.mutable_resource_usage_logs()->mutable_node_resources()) {
    has_samples |= !resources.samples().empty();
    resources.clear_samples();
  }
  if (!has_samples) return;
  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(Finding::NOTE);
  finding.set_code("resources_dropped");
  finding.set_message(
      "how busy the hosts were in each second is not in the result, which "
      "needs more than the sequencer's --results_memory");
  finding.set_advice(
      "Nothing, if you do not need them. Otherwise raise --results_memory, or "
      "let the sequencer keep results on disk (--results_dir).");
}

}  // namespace

RunRecord::RunRecord(Options options, const base::Clock& clock,
                     std::unique_ptr<ResultFile> file)
    : options_(std::move(options)),
      clock_(clock),
      file_(std::move(file)),
      description_(options_.description),
      log_(file_ == nullptr ? ResultLog::kBegin
                            : std::max(options_.description.result_bytes(),
                                       ResultLog::kBegin)),
      missing_(options_.missing),
      committed_end_(log_.file_end()) {
  if (!HasEnded(options_.description)) return;
  is_announced_ = true;
  // What a replacement lacks is news for the disk.
  is_saved_ = options_.missing.empty();
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
  if (log_.total_bytes() > 0) run.set_result_bytes(log_.total_bytes());
  AddSentence(storage_problem_.empty()
                  ? save_problem_
                  : absl::StrCat(storage_problem_, storage_risk_),
              run);
  AddSentence(missing_, run);
  return run;
}

bool RunRecord::has_ended() const {
  absl::MutexLock lock(&mutex_);
  return end_.has_value();
}

bool RunRecord::is_on_disk() const {
  absl::MutexLock lock(&mutex_);
  return options_.storage->survives() && is_saved_ &&
         committed_end_ == log_.end();
}

int64_t RunRecord::kept_bytes() const {
  absl::MutexLock lock(&mutex_);
  return options_.storage->survives() ? log_.memory_bytes()
                                      : log_.total_bytes();
}

// Makes this a record that was replaced, and returns the options of the
// replacement except for what it is missing.
RunRecord::Options RunRecord::Replace() {
  is_replaced_ = true;
  Options options;
  options.description = Committed();
  options.storage = options_.storage;
  options.memory_bytes = options_.memory_bytes;
  return options;
}

std::shared_ptr<RunRecord> RunRecord::WithoutResult() {
  absl::MutexLock lock(&mutex_);
  Options options = Replace();
  options.missing = kResultDropped;
  return std::make_shared<RunRecord>(std::move(options), clock_);
}

std::shared_ptr<RunRecord> RunRecord::OnlySummaries() {
  Options options;
  std::vector<int64_t> offsets;
  {
    absl::MutexLock lock(&mutex_);
    options = Replace();
    options.missing = PiecesMissing(0, std::max(finished_count_, 1));
    offsets = log_.whole_offsets();
  }
  std::vector<std::string> records;
  absl::Status read_error;
  for (const int64_t offset : offsets) {
    absl::StatusOr<std::string> record = ReadRecord(offset);
    if (record.ok()) {
      records.push_back(*std::move(record));
    } else {
      read_error.Update(record.status());
    }
  }
  if (!read_error.ok()) {
    absl::StrAppend(&options.missing,
                    ", and not all of those: ", read_error.message());
  }
  auto summaries = std::make_shared<RunRecord>(std::move(options), clock_);
  for (std::string& record : records) {
    summaries->AppendRecord(std::move(record), /*piece_of=*/std::nullopt);
  }
  return summaries;
}

bool RunRecord::has_pieces() const {
  absl::MutexLock lock(&mutex_);
  return log_.has_pieces();
}

bool RunRecord::is_followed() const {
  absl::MutexLock lock(&mutex_);
  return std::any_of(
      followers_.begin(), followers_.end(),
      [](const auto& follower) { return !follower.second->is_given_up_; });
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
    progress_.set_test_index(test_index);
    *progress_.mutable_progress() = progress;
    progress_offset_ = log_.end();
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
  const int64_t bytes = static_cast<int64_t>(event.ByteSizeLong());
  if (!AwaitRoom(/*piece_of=*/std::nullopt, bytes)) {
    DropResourceSamples(*event.mutable_finished());
  }
  Append(event);
  {
    absl::MutexLock lock(&mutex_);
    finished_count_ = test_index + 1;
    has_failed_test_ |= outcome != report::RunOutcome::kMeasured;
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
  if (!status.ok()) ended.set_message(std::string(status.message()));
  return ended;
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

void RunRecord::Append(const RunTestsEvent& event) {
  std::string record = event.SerializeAsString();
  std::optional<int> piece_of;
  if (event.has_result_chunk()) {
    piece_of = event.test_index();
    if (!AwaitRoom(piece_of, record.size()) && DropPieces(*piece_of, record)) {
      return;
    }
  }
  AppendRecord(std::move(record), piece_of);
  Notify();
}

void RunRecord::AppendRecord(std::string record, std::optional<int> piece_of) {
  {
    absl::MutexLock lock(&mutex_);
    log_.Append(std::move(record), piece_of);
    const bool must_post = write_error_.ok() && !is_write_posted_ &&
                           log_.memory_bytes() > options_.memory_bytes;
    if (!must_post) return;
    is_write_posted_ = true;
  }
  Post([this](RunDisk& disk) { WriteNow(disk); });
}

// ---- Room -------------------------------------------------------------------

// Waits until there is room for a record, perhaps a piece of a test. Returns
// false if there is none, or it is not to be kept.
bool RunRecord::AwaitRoom(std::optional<int> piece_of, int64_t bytes) {
  {
    absl::MutexLock lock(&mutex_);
    AwaitDisk();
    if (write_error_.ok()) return true;
    // Useless without the earlier pieces of its test.
    if (piece_of.has_value() && LacksPieces(*piece_of)) return false;
    bytes += log_.memory_bytes();
  }
  return options_.make_room(bytes);
}

// Waits while the file is behind, but gives up on a disk that takes nothing.
void RunRecord::AwaitDisk() {
  const auto may_go_on = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !write_error_.ok() ||
           log_.memory_bytes() <= 2 * options_.memory_bytes;
  };
  const auto need_not_wait = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return may_go_on() || is_ending_;
  };
  absl::Duration patience = options_.stall_timeout;
  if (mutex_.AwaitWithTimeout(absl::Condition(&need_not_wait), patience)) {
    patience = options_.last_stall_timeout;
    if (mutex_.AwaitWithTimeout(absl::Condition(&may_go_on), patience)) return;
  }
  write_error_ = absl::DeadlineExceededError(absl::StrCat(
      "the disk took none of the result for ", absl::FormatDuration(patience)));
}

// Drops this piece of the test, and all pieces that are in memory. The piece
// takes its place before, so that followers that have all others see the gap.
// Returns false, and drops nothing, if the disk takes pieces again.
bool RunRecord::DropPieces(int test_index, const std::string& piece) {
  absl::MutexLock lock(&mutex_);
  if (write_error_.ok()) return false;
  log_.Append(piece, test_index);
  const int first = log_.DropPieces().value_or(test_index);
  if (lacking_end_ == 0) lacking_begin_ = first;
  lacking_end_ = test_index + 1;
  missing_ = PiecesMissing(lacking_begin_, lacking_end_);
  storage_problem_ = std::string(write_error_.message());
  storage_risk_.clear();
  return true;
}

bool RunRecord::LacksPieces(int test_index) const {
  return test_index >= lacking_begin_ && test_index < lacking_end_;
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

void RunRecord::GiveUpStalledFollowers() {
  const auto is_stalled = [this](const RunFollower& follower) {
    const int64_t idle_ns = clock_.MonotonicNs() - follower.idle_since_ns_;
    return !follower.is_reading_ &&
           absl::Nanoseconds(idle_ns) >= options_.stall_timeout;
  };
  GiveUp(is_stalled,
         absl::StrCat("its result was dropped when the client had read nothing "
                      "of it for ",
                      absl::FormatDuration(options_.stall_timeout)));
}

void RunRecord::GiveUpFollowers() {
  GiveUp([](const RunFollower&) { return true; },
         "its result was dropped, and the client did not read it before later "
         "ones needed the room; the sequencer's --results_memory sets how much "
         "there is");
}

void RunRecord::GiveUp(absl::FunctionRef<bool(const RunFollower&)> which,
                       const std::string& why) {
  std::vector<std::function<void()>> calls;
  {
    absl::MutexLock lock(&mutex_);
    if (!end_.has_value()) return;
    for (const auto& [id, follower] : followers_) {
      if (follower->is_given_up_ || !which(*follower)) continue;
      follower->is_given_up_ = true;
      follower->error_ = absl::DeadlineExceededError(
          absl::StrCat("run ", this->id(), ": ", why));
      calls.push_back(follower->on_news_);
    }
  }
  for (const auto& call : calls) call();
}

RunNews RunRecord::NewsFor(RunFollower& follower) {
  if (!is_announced_) return {};
  if (!follower.error_.ok()) return {.end = follower.error_};
  if (auto live = LiveNewsFor(follower)) return {.event = std::move(live)};
  while (const ResultLog::Record record = TakeRecord(follower)) {
    RunTestsEvent event;
    if (!event.ParseFromString(*record)) {
      return {.end = absl::DataLossError("the stored result is damaged")};
    }
    const int64_t begin = follower.offset_ - ResultLog::SizeInFile(*record);
    if (!Gets(follower, event, begin)) continue;
    follower.part_.reset();
    if (event.has_result_chunk()) {
      follower.part_ = {event.test_index(), follower.offset_};
    }
    return {.event = std::move(event)};
  }
  if (follower.is_reading_ || !end_.has_value()) return {};
  return {.end = missing_.empty() ? *end_ : WhatIsMissing()};
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
  if (!std::exchange(follower.is_reading_, true)) {
    Post([this, id = follower.id_](RunDisk&) { ReadNow(id); });
  }
  return nullptr;
}

// Whether the follower gets the event, whose record begins at this offset.
bool RunRecord::Gets(const RunFollower& follower, const RunTestsEvent& event,
                     int64_t begin) const {
  const int test_index = event.test_index();
  if (event.has_started()) return test_index >= follower.tests_before_;
  if (!LacksPieces(test_index)) return true;
  if (event.has_result_chunk()) return false;
  // With an end, a part would be taken for the whole.
  const bool has_pieces =
      follower.part_.has_value() && follower.part_->test_index == test_index;
  return !has_pieces || follower.part_->end == begin;
}

// The end of a run whose followers do not receive everything.
absl::Status RunRecord::WhatIsMissing() const {
  const std::string missing = absl::StrCat("run ", id(), ": ", missing_);
  if (!end_.has_value() || end_->ok()) {
    return absl::ResourceExhaustedError(missing);
  }
  return absl::Status(end_->code(),
                      absl::StrCat(end_->message(), "; ", missing));
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
    // Later records belong to a test that may never finish.
    const int64_t end = log_.end();
    if (commit_ends_.empty() || commit_ends_.back() < end) {
      commit_ends_.push_back(end);
    }
  }
  Post([this](RunDisk& disk) { CommitNow(disk); });
}

void RunRecord::CommitNow(RunDisk& disk) {
  const bool survives = options_.storage->survives();
  bool must_write = survives;
  {
    absl::MutexLock lock(&mutex_);
    if (!log_.has_gap()) write_error_ = absl::OkStatus();
    must_write |= log_.memory_bytes() > options_.memory_bytes;
  }
  if (must_write) WriteNow(disk);
  const absl::Status synced =
      survives && file_ != nullptr ? file_->Sync() : absl::OkStatus();
  {
    absl::MutexLock lock(&mutex_);
    if (synced.ok()) OnSynced();
    if (!write_error_.ok()) {
      storage_problem_ = std::string(write_error_.message());
      storage_risk_ = missing_.empty()
                          ? "; it is kept in memory, until the sequencer ends"
                          : "";
    } else if (!synced.ok()) {
      storage_problem_ = std::string(synced.message());
      storage_risk_ = "; it is lost if the sequencer's host fails";
    } else {
      storage_problem_.clear();
    }
  }
  SaveNow(disk);
  absl::MutexLock lock(&mutex_);
  ++commits_done_;
}

// The file may end in the middle of a test, whose other pieces are in memory.
void RunRecord::OnSynced() {
  while (!commit_ends_.empty() && commit_ends_.front() <= log_.file_end()) {
    committed_end_ = commit_ends_.front();
    commit_ends_.pop_front();
  }
}

// Writes the records in memory, until none are left or an error occurs.
void RunRecord::WriteNow(RunDisk& disk) {
  while (true) {
    ResultLog::Record record;
    {
      absl::MutexLock lock(&mutex_);
      is_write_posted_ = false;
      if (write_error_.ok()) record = log_.NextToWrite();
    }
    if (record == nullptr) return;
    if (file_ == nullptr) file_ = disk.NewResult(id());
    const absl::Status status = file_->Append(*record);
    absl::MutexLock lock(&mutex_);
    if (status.ok()) {
      log_.OnWritten(record);
    } else {
      write_error_ = status;
    }
  }
}

// The description, with the size of what is on the disk.
RunDescription RunRecord::Committed() const {
  RunDescription run = ended_.has_value() ? *ended_ : description_;
  if (committed_end_ > ResultLog::kBegin) run.set_result_bytes(committed_end_);
  return run;
}

// The description as far as it is true for a later process: records that exist
// only in memory do not survive, and it says so.
RunDescription RunRecord::ToSave() const {
  RunDescription run = Committed();
  if (committed_end_ < log_.end() && !storage_problem_.empty()) {
    AddSentence(absl::StrCat(storage_problem_,
                             "; only the sequencer that ran it had the rest"),
                run);
  }
  AddSentence(missing_, run);
  return run;
}

void RunRecord::SaveNow(RunDisk& disk) {
  RunDescription run;
  {
    absl::MutexLock lock(&mutex_);
    // The disk may have the replacement's description already.
    if (is_replaced_) return;
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

absl::StatusOr<std::string> RunRecord::ReadRecord(int64_t offset) const {
  {
    absl::MutexLock lock(&mutex_);
    if (offset >= log_.file_end()) return *log_.Read(offset);
  }
  return file_->Read(offset);
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
