// The part of RunRecord that serves followers.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
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

}  // namespace distbench::sequencer
