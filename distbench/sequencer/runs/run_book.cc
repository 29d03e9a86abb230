// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_book.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
namespace {

constexpr absl::string_view kShape = "00000000-000000-000";  // 0: a digit
constexpr char kTimeFormat[] = "%E4Y%m%d-%H%M%S";
constexpr int kTimeLength = 15;
constexpr int kMaxNumber = 999;
constexpr int64_t kMostSecondsAhead = 24 * 60 * 60;

}  // namespace

bool IsRunId(absl::string_view text) {
  return std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(),
                    [](char c, char shape) {
                      return shape == '0' ? absl::ascii_isdigit(c) : c == shape;
                    });
}

void RunIds::Follow(absl::string_view id) {
  absl::Time time;
  int number = 0;
  // Digits that are not a valid time, such as a 13th month, are ignored.
  if (!absl::ParseTime(kTimeFormat, id.substr(0, kTimeLength),
                       absl::UTCTimeZone(), &time, nullptr) ||
      !absl::SimpleAtoi(id.substr(kTimeLength + 1), &number)) {
    return;
  }
  const int64_t second = absl::ToUnixSeconds(time);
  if (second > clock_.UnixNs() / base::kNsPerSecond + kMostSecondsAhead) return;
  if (second > last_second_) {
    last_second_ = second;
    last_number_ = number;
  } else if (second == last_second_) {
    last_number_ = std::max(last_number_, number);
  }
}

std::string RunIds::Next() {
  const int64_t now = clock_.UnixNs() / base::kNsPerSecond;
  if (now > last_second_) {
    last_second_ = now;
    last_number_ = 0;
  } else if (last_number_ < kMaxNumber) {
    ++last_number_;
  } else {
    ++last_second_;
    last_number_ = 0;
  }
  return absl::StrFormat(
      "%s-%03d",
      absl::FormatTime(kTimeFormat, absl::FromUnixSeconds(last_second_),
                       absl::UTCTimeZone()),
      last_number_);
}

namespace {

// Explains the end of a run in place of the sequencer that was killed.
std::string WhyInterrupted(const RunDescription& run) {
  if (run.state() == RunDescription::WAITING) {
    return "the test sequencer ended before it was this run's turn";
  }
  const int index = run.current_test_index();
  if (index < 0 || index >= run.test_names_size()) {
    return "the test sequencer ended in the middle of this run";
  }
  return absl::StrCat("the test sequencer ended in the middle of test ",
                      index + 1, " of ", run.test_names_size(), ", ",
                      run.test_names(index));
}

// The description, from the disk, of a run that no longer exists.
RunDescription Interrupted(RunDescription run) {
  // What its result lacks, if anything.
  const std::string lost = run.message();
  run.set_message(WhyInterrupted(run));
  AddSentence(lost, run);
  run.set_state(RunDescription::INTERRUPTED);
  run.clear_queue_position();
  return run;
}

// The same of a run that may have ended: if it had a record, that would tell.
RunDescription InterruptedIfNotEnded(RunDescription run) {
  if (HasEnded(run)) return run;
  run = Interrupted(std::move(run));
  AddSentence("or the disk did not take how the run ended", run);
  return run;
}

bool HasControlCharacters(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_iscntrl(c); });
}

}  // namespace

RunBook::RunBook(const RunLimits& limits, const base::Clock& clock)
    : limits_(limits),
      clock_(clock),
      storage_(std::make_unique<RunStorage>(TemporaryRuns())),
      ids_(clock) {}

RunBook::~RunBook() {
  storage_->AwaitIdle(absl::InfiniteDuration());
  // Destroying the records makes the storage close their files.
  absl::MutexLock lock(&mutex_);
  records_.clear();
}

absl::Status RunBook::OpenDirectory(const std::string& path) {
  absl::StatusOr<std::unique_ptr<RunDirectory>> directory =
      RunDirectory::Open(path);
  if (!directory.ok()) return directory.status();
  OpenDisk(*std::move(directory));
  return absl::OkStatus();
}

void RunBook::OpenDisk(std::shared_ptr<RunDisk> disk) {
  storage_ = std::make_unique<RunStorage>(std::move(disk));
  storage_->Post([this](RunDisk& disk) {
    const RunsOrError runs = disk.List();
    if (!runs.ok()) return;  // whoever lists them is told
    for (const RunDescription& run : *runs) {
      {
        absl::MutexLock lock(&mutex_);
        ids_.Follow(run.id());
      }
      if (!HasEnded(run)) Interrupt(disk, run);
    }
  });
  storage_->AwaitIdle(absl::InfiniteDuration());
}

void RunBook::Interrupt(RunDisk& disk, const RunDescription& left) {
  RunDescription run = Interrupted(left);
  interrupted_runs_.push_back(run);
  const std::string id = run.id();
  RunOrError record = absl::NotFoundError("not needed");
  // If the disk is full, its description of the run is outdated.
  if (!disk.Save(run).ok()) record = OpenStored(disk, std::move(run));
  absl::MutexLock lock(&mutex_);
  ++ended_counts_[RunDescription::INTERRUPTED];
  if (!record.ok()) return;
  (*record)->Save();  // marks it as one that the disk lacks
  records_[id] = *std::move(record);
  ended_.push_back(id);
}

absl::StatusOr<std::shared_ptr<RunRecord>> RunBook::Add(
    const RunSubmission& submission) {
  RunRecord::Options options;
  options.stop_at_failure = submission.stop_at_failure;
  RunDescription& run = options.description;
  run.set_state(RunDescription::WAITING);
  run.set_label(submission.label);
  run.set_client(submission.client);
  if (submission.is_step) run.set_is_step(true);
  run.set_submit_timestamp_ns(clock_.UnixNs());
  for (int i = 0; i < submission.tests.tests_size(); ++i) {
    run.add_test_names(TestName(submission.tests.tests(i), i));
  }
  std::shared_ptr<RunRecord> record;
  {
    absl::MutexLock lock(&mutex_);
    if (absl::Status status = CheckLimits(submission); !status.ok()) {
      return status;
    }
    const std::string id = ids_.Next();
    run.set_id(id);
    options.on_ended = [this, id] { OnEnded(id); };
    options.storage = storage_.get();
    record = std::make_shared<RunRecord>(std::move(options), clock_);
    records_[id] = record;
  }
  record->Save();
  return record;
}

absl::Status RunBook::CheckLimits(const RunSubmission& submission) const {
  if (submission.tests.tests_size() > limits_.tests_per_run) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a run may have ", limits_.tests_per_run, " tests, and this one has ",
        submission.tests.tests_size(), "; submit them in several runs"));
  }
  const int label_size = submission.label.size();
  if (label_size > limits_.label_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a label may have ", limits_.label_bytes,
                     " bytes, and this one has ", label_size));
  }
  if (HasControlCharacters(submission.label)) {
    return absl::InvalidArgumentError(
        "the label has control characters; write it on one line");
  }
  int unfinished = 0;
  int of_client = 0;
  for (const auto& [id, record] : records_) {
    if (record->has_ended()) continue;
    ++unfinished;
    if (record->client() == submission.client) ++of_client;
  }
  if (of_client >= limits_.unfinished_per_client) {
    return absl::ResourceExhaustedError(absl::StrCat(
        of_client, " runs of ", submission.client,
        " wait or run, which is the most that a client may have; submit this "
        "one when some of them have ended, or cancel some: distbench runs "
        "cancel"));
  }
  if (unfinished >= limits_.unfinished) {
    return absl::ResourceExhaustedError(
        absl::StrCat(unfinished,
                     " runs wait or run, which is the most that there may be; "
                     "submit this one when some of them have ended"));
  }
  return absl::OkStatus();
}

std::map<RunDescription::State, int64_t> RunBook::ended_counts() const {
  absl::MutexLock lock(&mutex_);
  return ended_counts_;
}

void RunBook::List(ListHandler on_listed) const {
  {
    absl::MutexLock lock(&mutex_);
    waiting_lists_.push_back(std::move(on_listed));
    if (waiting_lists_.size() > 1) return;  // the first one's task is posted
  }
  storage_->Post([this](RunDisk& disk) {
    std::vector<ListHandler> waiting;
    {
      // Later calls must not get what is listed now.
      absl::MutexLock lock(&mutex_);
      waiting.swap(waiting_lists_);
    }
    const RunsOrError runs = ListNow(disk);
    for (const ListHandler& on_listed : waiting) on_listed(runs);
  });
}

RunBook::RunsOrError RunBook::ListNow(RunDisk& disk) const {
  RunsOrError stored = disk.List();
  if (!stored.ok()) return stored.status();
  std::map<std::string, RunDescription> runs;
  for (RunDescription& run : *stored) {
    std::string id = run.id();
    runs[std::move(id)] = InterruptedIfNotEnded(std::move(run));
  }
  {
    absl::MutexLock lock(&mutex_);
    // The disk's descriptions of these may be outdated.
    for (const auto& [id, record] : records_) runs[id] = record->description();
  }
  std::vector<RunDescription> sorted;
  sorted.reserve(runs.size());
  for (auto& [id, run] : runs) sorted.push_back(std::move(run));
  return sorted;
}

std::vector<RunDescription> RunBook::Unfinished() const {
  std::vector<RunDescription> runs;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, record] : records_) {
    if (!record->has_ended()) runs.push_back(record->description());
  }
  return runs;
}

void RunBook::Find(const std::string& id, FindHandler on_found) {
  std::shared_ptr<RunRecord> record = Known(id);
  if (record != nullptr) return on_found(std::move(record));
  storage_->Post([this, id, on_found = std::move(on_found)](RunDisk& disk) {
    on_found(FindNow(disk, id));
  });
}

std::shared_ptr<RunRecord> RunBook::Known(const std::string& id) const {
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  return it == records_.end() ? nullptr : it->second;
}

RunBook::RunOrError RunBook::FindNow(RunDisk& disk, const std::string& id) {
  // It may have been added since.
  if (std::shared_ptr<RunRecord> record = Known(id)) return record;
  absl::StatusOr<RunDescription> run = disk.Load(id);
  if (absl::IsNotFound(run.status())) return NotFound(disk, id);
  if (!run.ok()) return run.status();
  return OpenStored(disk, InterruptedIfNotEnded(*std::move(run)));
}

RunBook::RunOrError RunBook::OpenStored(RunDisk& disk, RunDescription run) {
  std::unique_ptr<ResultFile> file;
  if (run.has_result_bytes()) {
    absl::StatusOr<std::unique_ptr<ResultFile>> opened =
        disk.OpenResult(run.id(), run.result_bytes());
    if (!opened.ok()) return opened.status();
    file = *std::move(opened);
  }
  RunRecord::Options options;
  options.description = std::move(run);
  options.storage = storage_.get();
  return std::make_shared<RunRecord>(std::move(options), clock_,
                                     std::move(file));
}

absl::Status RunBook::NotFound(RunDisk& disk, const std::string& id) const {
  const RunsOrError runs = ListNow(disk);
  if (!runs.ok()) return runs.status();
  std::vector<std::string> ids;
  for (const RunDescription& run : *runs) ids.push_back(run.id());
  std::reverse(ids.begin(), ids.end());  // latest first
  const std::optional<std::string> meant = config::ClosestName(id, ids);
  return absl::NotFoundError(absl::StrCat(
      "there is no run ", config::Quoted(id), "; ",
      meant ? absl::StrCat("did you mean ", *meant, "? ") : "",
      ids.empty() ? "the test sequencer has none"
                  : "distbench runs list shows those that there are"));
}

void RunBook::OnEnded(const std::string& id) {
  {
    absl::MutexLock lock(&mutex_);
    ++ended_counts_[records_.at(id)->description().state()];
    ended_.push_back(id);
  }
  if (storage_->survives()) {
    while (ForgetNext() != nullptr) continue;
    StoreAgain(id);
    return;
  }
  while (const std::shared_ptr<RunRecord> forgotten = ForgetNext()) {
    forgotten->DropResult();
  }
  while (const std::shared_ptr<RunRecord> excess = NextToDrop()) {
    excess->DropResult();
  }
}

std::shared_ptr<RunRecord> RunBook::ForgetNext() {
  absl::MutexLock lock(&mutex_);
  if (ended_.size() <= static_cast<size_t>(limits_.ended)) return nullptr;
  std::shared_ptr<RunRecord> oldest =
      OldestOfMost([](const RunRecord&) { return 1; },
                   [](const RunRecord&) { return true; });
  records_.erase(oldest->id());
  std::erase(ended_, oldest->id());
  return oldest;
}

std::shared_ptr<RunRecord> RunBook::NextToDrop() const {
  const auto bytes_of = [](const RunRecord& r) { return r.temporary_bytes(); };
  absl::MutexLock lock(&mutex_);
  int64_t bytes = 0;
  std::set<std::string> read;                    // ids
  std::map<std::string, std::string> last_read;  // id by client
  for (const std::string& id : ended_) {
    const RunRecord& record = *records_.at(id);
    bytes += record.temporary_bytes();
    if (!record.is_followed()) continue;
    read.insert(id);
    last_read[record.client()] = id;
  }
  if (bytes <= limits_.disk_bytes) return nullptr;
  std::set<std::string> kept = {ended_.back()};
  for (const auto& [client, id] : last_read) kept.insert(id);
  std::shared_ptr<RunRecord> unread =
      OldestOfMost(bytes_of, [&](const RunRecord& record) {
        return record.id() != ended_.back() && !read.contains(record.id());
      });
  if (unread != nullptr) return unread;
  return OldestOfMost(bytes_of, [&](const RunRecord& record) {
    return !kept.contains(record.id());
  });
}

std::shared_ptr<RunRecord> RunBook::OldestOfMost(
    absl::FunctionRef<int64_t(const RunRecord&)> amount,
    absl::FunctionRef<bool(const RunRecord&)> may_go) const {
  std::map<std::string, int64_t> amounts;  // by client
  for (const std::string& id : ended_) {
    const RunRecord& record = *records_.at(id);
    amounts[record.client()] += amount(record);
  }
  std::shared_ptr<RunRecord> oldest;
  int64_t most = 0;
  for (const std::string& id : ended_) {
    const std::shared_ptr<RunRecord>& record = records_.at(id);
    const int64_t of_client = amounts[record->client()];
    if (of_client <= most || amount(*record) == 0 || !may_go(*record)) continue;
    most = of_client;
    oldest = record;
  }
  return oldest;
}

void RunBook::StoreAgain(const std::string& id) {
  std::vector<std::shared_ptr<RunRecord>> others;
  {
    absl::MutexLock lock(&mutex_);
    for (const std::string& other : ended_) {
      if (other != id) others.push_back(records_.at(other));
    }
  }
  for (const auto& record : others) {
    if (!record->is_on_disk()) record->Commit();
  }
  storage_->Post([this](RunDisk&) { ForgetStored(); });
}

void RunBook::ForgetStored() {
  absl::MutexLock lock(&mutex_);
  std::deque<std::string> kept;
  for (const std::string& id : ended_) {
    if (records_.at(id)->is_on_disk()) {
      records_.erase(id);
    } else {
      kept.push_back(id);
    }
  }
  ended_ = std::move(kept);
}

void RunBook::OnSequencerEnds() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, record] : records_) record->OnSequencerEnds();
}

}  // namespace distbench::sequencer
