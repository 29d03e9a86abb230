// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What kinds of jobs do, and what they get for it.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_JOB_KIND_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_JOB_KIND_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/security/tls_files.h"
#include "proto/bench.pb.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

// A request to end what is going on, whatever that is at the moment.

// Thread-safe.
class Cancellation {
 public:
  // Calls the current handler, if there is one. Only the first call counts.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

  bool is_cancelled() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets what to do about the request while this object lives; at once if the
  // request has already come. The handler has ended, or will never run, when
  // the object is destroyed; it must not use the Cancellation. One at a time.
  class Scope {
   public:
    Scope(Cancellation& cancellation, std::function<void()> handler)
        : cancellation_(cancellation) {
      cancellation_.SetHandler(std::move(handler));
    }
    ~Scope() { cancellation_.SetHandler({}); }

    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Cancellation& cancellation_;
  };

 private:
  void SetHandler(std::function<void()> handler) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> handler_ ABSL_GUARDED_BY(mutex_);
};

// Where jobs run, and how they read tests. Must outlive them.
struct JobEnvironment {
  // Reads a file of canonical tests. The error lists its problems.
  std::function<absl::StatusOr<TestSequence>(const std::string& infile)>
      load_tests;

  // Builds the canonical test of a pattern, such as "storage_service".
  std::function<absl::StatusOr<DistributedSystemDescription>(
      const std::string& pattern)>
      build_test;

  // The sequencer's "HOST:PORT". If empty, each job that needs one starts it
  // and its node managers on this host, as processes of `program`.
  std::string test_sequencer;
  security::TlsFiles tls;
  std::string program;

  // The folder that holds proc and sys; empty for the real ones.
  std::string host_root;

  // Receives lines about what goes on, and the events of tests.
  std::function<void(const std::string& line)> say;
  std::function<void(const RunTestsEvent& event)> progress;

  // Ends the current job, and all later ones at once.
  Cancellation* cancellation = nullptr;
};

// A job that is running. Its functions are called on one thread.
struct JobRun {
  const JobSpec& spec;
  const PropertyValues& values;
  const JobEnvironment& environment;

  // Jobs before this one, the nearest first, whose outcomes it may use.
  absl::Span<const BenchJob* const> earlier;

  // Has its identity and its tests, and this host as its system unless jobs run
  // on others; if it was cut short before, also what it had measured, and its
  // systems of then, perhaps others: FAILED_PRECONDITION. The run adds records,
  // parameters and missed requirements.
  BenchJob& job;

  // Writes the result file. An error ends the job.
  std::function<absl::Status()> save;
};

// Stateless.
class JobKind {
 public:
  virtual ~JobKind() = default;

  virtual const JobDeclaration& declaration() const = 0;

  // Checks everything that can be wrong before hours are spent, and returns the
  // tests that the job is about, which may be none.
  virtual absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const = 0;

  // Whether to clear what a job that was cut short had measured, before it runs
  // again.
  virtual bool StartsAnew() const { return true; }

  // Measures. An error means that the job failed, CANCELLED that it was cut
  // short; `job` keeps what was measured.
  virtual absl::Status Run(const JobRun& run) const = 0;

  // Computes outcome and exit_code from the records, anew. An error means that
  // the records do not have an outcome.
  virtual absl::Status Study(BenchJob& job) const = 0;

  // The result as text, with line ends, from the records.
  virtual std::string ResultText(const BenchJob& job) const = 0;

  // The result in a line for each thing that was measured, without the last
  // line end: the last line of the text, for kinds whose text ends with the
  // answer.
  virtual std::string Summary(const BenchJob& job) const;
};

// All kinds, in the order of the help text. Never destroyed.
absl::Span<const JobKind* const> JobKinds();

// Their declarations, in the same order.
std::vector<JobDeclaration> JobDeclarations();

// NOT_FOUND if there is no such kind.
absl::StatusOr<const JobKind*> FindJobKind(absl::string_view kind);

// One for each kind.
const JobKind& RunKind();
const JobKind& SearchKind();
const JobKind& ProtectionKind();
const JobKind& HashdParamsKind();
const JobKind& IoCostParamsKind();
const JobKind& NumaKind();
const JobKind& CalibrateKind();

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_JOB_KIND_H_
