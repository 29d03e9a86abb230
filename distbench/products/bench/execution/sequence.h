// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs jobs after each other into one result file.

#ifndef DISTBENCH_PRODUCTS_BENCH_EXECUTION_SEQUENCE_H_
#define DISTBENCH_PRODUCTS_BENCH_EXECUTION_SEQUENCE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/products/bench/files/bench_file.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

struct SequenceOptions {
  // Those that the specs name; for tests.
  absl::Span<const JobKind* const> kinds = JobKinds();

  const base::Clock* clock = &base::RealClock();

  // Called when a job is about to run, and when it has ended. `was_done` says
  // that it was done before, and is not run again.
  std::function<void(const BenchJob& job, int number, int count)> announce;
  std::function<void(const BenchJob& job, bool was_done)> observe;
};

// A sequence that can be run: all of its jobs were checked.
class Sequence {
 public:
  // Checks the jobs, as far as that is possible before they run, and against
  // the file. The error names the job: INVALID_ARGUMENT for a wrong job or two
  // equal ones, FAILED_PRECONDITION if a job has measured with other tests, or
  // errors of JobKind::Prepare(). All arguments must outlive the sequence.
  static absl::StatusOr<Sequence> Plan(std::vector<JobSpec> specs,
                                       const JobEnvironment& environment,
                                       const SequenceOptions& options,
                                       OpenBenchFile& file);

  // Runs the jobs that are not done, and saves the file before and after each
  // and whenever a job asks for it. A job that failed ends the sequence unless
  // it says keep_going, and so does a job that was cut short. Returns the worst
  // ExitCode of the jobs, or an error: CANCELLED if a cancellation left jobs to
  // be run, or that of saving the file.
  absl::StatusOr<int> Run();

 private:
  // One repetition of a job.
  struct Item {
    JobSpec spec;
    int repetition = 0;
    const JobKind* kind = nullptr;
    TestSequence tests;
  };

  Sequence(const JobEnvironment& environment, const SequenceOptions& options,
           OpenBenchFile& file)
      : environment_(environment), options_(options), file_(file) {}

  absl::Status Add(const JobSpec& spec);
  absl::Status CheckAgainstFile(const Item& item) const;

  // The place of a job in the file; -1 if it is not there.
  int PlaceOf(const Item& item) const;

  // The jobs that item `index` may use, the nearest before it first: those of
  // the sequence, then the others of the file.
  std::vector<const BenchJob*> EarlierThan(size_t index) const;

  absl::Status RunItem(size_t index, BenchJob& job);
  void Finish(const Item& item, absl::Status status, BenchJob& job) const;

  const JobEnvironment& environment_;
  const SequenceOptions& options_;
  OpenBenchFile& file_;
  std::vector<Item> items_;
};

// The ExitCode that a job stands for.
int ExitCodeOf(const BenchJob& job);

// Computes outcome, summaries and exit code of all done jobs anew, from their
// records. A job without an outcome becomes a failed one; returns a sentence
// about each of these.
std::vector<std::string> StudyAll(BenchFile& file);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_EXECUTION_SEQUENCE_H_
