// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/execution/sequence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/bench/files/bench_file.h"
#include "distbench/products/search/resumption.h"
#include "distbench/report/findings/findings.h"

namespace distbench::bench {
namespace {

absl::Status About(const JobSpec& spec, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("job ", ToText(spec), ": ",
                                                  status.message()));
}

// A job that ended so was not at fault, and continues at the next start.
bool IsCutShort(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsUnavailable(status);
}

absl::Status Cancelled() {
  return absl::CancelledError(
      "cancelled; the same command continues the sequence");
}

void ClearRecords(BenchJob& job) {
  job.clear_results();
  job.clear_io_phases();
  job.clear_parameters();
  job.clear_systems();
  job.clear_start_timestamp_ns();
}

bool HasRecords(const BenchJob& job) {
  return job.results().ByteSizeLong() > 0 || !job.io_phases().empty();
}

// Nothing is known of the job but, unless it runs elsewhere, its host.
void BeginAnew(const JobEnvironment& environment, BenchJob& job) {
  ClearRecords(job);
  if (!environment.test_sequencer.empty()) return;
  *job.add_systems() = ReadHostSystem(environment.host_root);
}

// Prepares a job of the file, perhaps a new one, for its run. Its kind refuses
// records of other hosts (TieRecordsTo(), DescribeDisk()): nothing that was
// measured is dropped.
void Begin(const TestSequence& tests, bool starts_anew,
           const JobEnvironment& environment, const base::Clock& clock,
           BenchJob& job) {
  if (starts_anew || !HasRecords(job)) BeginAnew(environment, job);
  *job.mutable_tests() = tests;
  job.clear_error();
  job.clear_exit_code();
  job.clear_outcome();
  job.clear_missed_requirements();
  job.clear_end_timestamp_ns();
  job.set_state(BenchJob::CUT_SHORT);
  if (!job.has_start_timestamp_ns()) {
    job.set_start_timestamp_ns(clock.UnixNs());
  }
}

}  // namespace

absl::StatusOr<Sequence> Sequence::Plan(std::vector<JobSpec> specs,
                                        const JobEnvironment& environment,
                                        const SequenceOptions& options,
                                        OpenBenchFile& file) {
  Sequence sequence(environment, options, file);
  for (const JobSpec& spec : specs) {
    const absl::Status status = sequence.Add(spec);
    if (!status.ok()) return About(spec, status);
  }
  return sequence;
}

absl::Status Sequence::Add(const JobSpec& spec) {
  const auto kind = std::find_if(
      options_.kinds.begin(), options_.kinds.end(), [&](const JobKind* known) {
        return known->declaration().kind == spec.kind;
      });
  if (kind == options_.kinds.end()) {
    return absl::InvalidArgumentError("there is no such kind of job");
  }
  for (const Item& item : items_) {
    if (RequestOf(item.spec) != RequestOf(spec)) continue;
    return absl::InvalidArgumentError(
        "is given twice; give the jobs different ids, or use repeat=");
  }
  const PropertyValues values((*kind)->declaration(), spec.properties);
  const absl::StatusOr<TestSequence> tests =
      (*kind)->Prepare(values, environment_);
  if (!tests.ok()) return tests.status();
  for (int repetition = 0; repetition < spec.repeat; ++repetition) {
    Item item = {spec, repetition, *kind, *tests};
    absl::Status status = CheckAgainstFile(item);
    if (!status.ok()) return status;
    items_.push_back(std::move(item));
  }
  return absl::OkStatus();
}

absl::Status Sequence::CheckAgainstFile(const Item& item) const {
  const int place = PlaceOf(item);
  if (place < 0) return absl::OkStatus();
  const BenchJob& job = file_.content().jobs(place);
  const bool is_kept = job.state() == BenchJob::DONE ||
                       (!item.kind->StartsAnew() && HasRecords(job));
  if (!is_kept) return absl::OkStatus();
  return search::CheckSame(
      absl::StrCat("its tests have changed since it was begun in ",
                   file_.path(),
                   "; give the job another id=, or use another file"),
      job.tests(), item.tests);
}

int Sequence::PlaceOf(const Item& item) const {
  const std::string request = RequestOf(item.spec);
  const BenchFile& content = file_.content();
  for (int i = 0; i < content.jobs_size(); ++i) {
    if (content.jobs(i).repetition() == item.repetition &&
        RequestOf(content.jobs(i)) == request) {
      return i;
    }
  }
  return -1;
}

std::vector<const BenchJob*> Sequence::EarlierThan(size_t index) const {
  std::vector<const BenchJob*> earlier;
  std::vector<int> places;
  for (size_t i = 0; i < items_.size(); ++i) {
    const int place = PlaceOf(items_[i]);
    if (place < 0) continue;
    places.push_back(place);
    if (i < index) {
      earlier.insert(earlier.begin(), &file_.content().jobs(place));
    }
  }
  for (int i = file_.content().jobs_size() - 1; i >= 0; --i) {
    if (std::find(places.begin(), places.end(), i) == places.end()) {
      earlier.push_back(&file_.content().jobs(i));
    }
  }
  return earlier;
}

absl::Status Sequence::RunItem(size_t index, BenchJob& job) {
  const Item& item = items_[index];
  Begin(item.tests, item.kind->StartsAnew(), environment_, *options_.clock,
        job);
  if (absl::Status saved = file_.Save(); !saved.ok()) return saved;
  if (options_.announce) {
    options_.announce(job, static_cast<int>(index) + 1,
                      static_cast<int>(items_.size()));
  }
  const PropertyValues values(item.kind->declaration(), item.spec.properties);
  const std::vector<const BenchJob*> earlier = EarlierThan(index);
  absl::Status saved;
  const JobRun run = {item.spec, values, environment_, earlier, job, [&] {
                        saved.Update(file_.Save());
                        return saved;
                      }};
  Finish(item, item.kind->Run(run), job);
  saved.Update(file_.Save());
  return saved;
}

void Sequence::Finish(const Item& item, absl::Status status,
                      BenchJob& job) const {
  if (status.ok()) status = item.kind->Study(job);
  job.set_end_timestamp_ns(options_.clock->UnixNs());
  if (status.ok()) {
    job.set_state(BenchJob::DONE);
    return;
  }
  job.set_state(IsCutShort(status) ? BenchJob::CUT_SHORT : BenchJob::FAILED);
  job.set_error(std::string(status.message()));
}

absl::StatusOr<int> Sequence::Run() {
  int exit_code = report::kExitOk;
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const int place = PlaceOf(item);
    const bool was_done =
        place >= 0 && file_.content().jobs(place).state() == BenchJob::DONE;
    if (!was_done && environment_.cancellation->is_cancelled()) {
      return Cancelled();
    }
    BenchJob& job = place >= 0 ? *file_.content().mutable_jobs(place)
                               : *file_.content().add_jobs();
    if (place < 0) SetIdentity(item.spec, item.repetition, job);
    if (!was_done) {
      const absl::Status status = RunItem(i, job);
      if (!status.ok()) return status;
    }
    if (options_.observe) options_.observe(job, was_done);
    exit_code = std::max(exit_code, ExitCodeOf(job));
    if (job.state() == BenchJob::CUT_SHORT) {
      if (environment_.cancellation->is_cancelled()) return Cancelled();
      break;
    }
    if (job.state() == BenchJob::FAILED && !item.spec.keep_going) break;
  }
  return exit_code;
}

int ExitCodeOf(const BenchJob& job) {
  return job.state() == BenchJob::DONE ? job.exit_code()
                                       : report::kExitRunFailed;
}

std::vector<std::string> StudyAll(BenchFile& file) {
  std::vector<std::string> problems;
  for (BenchJob& job : *file.mutable_jobs()) {
    if (job.state() != BenchJob::DONE) continue;
    const absl::StatusOr<const JobKind*> kind = FindJobKind(job.kind());
    const absl::Status status = kind.ok() ? (*kind)->Study(job) : kind.status();
    if (status.ok()) continue;
    job.set_state(BenchJob::FAILED);
    job.set_error(std::string(status.message()));
    problems.push_back(
        absl::StrCat(JobTitle(job.kind(), job.id()), ": ", status.message()));
  }
  return problems;
}

}  // namespace distbench::bench
