// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The tests of a job as they are run: with what the job leaves alone, and with
// what earlier jobs found.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_TESTS_OF_JOB_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_TESTS_OF_JOB_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "proto/bench.pb.h"
#include "proto/experiment.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

// Returns `tests` without the settings of passive controllers, and with what
// the nearest job of each kind found:
// - iocost-params: its model and QoS complete io_cost entries of that device
//   (or of none). Sets of controls with an io.weight, which has no effect
//   without io.cost, get such an entry. FAILED_PRECONDITION if the tests do not
//   run on the disk's host alone: a disk of the same name elsewhere is another.
// - calibrate, if it was of the same infile: the sizes of those activities that
//   have not changed since.
// Adds what was taken to the job's parameters, which are cleared before except
// for the notes of TieRecordsTo(). If that fails, they stay as they are: the
// records need them. INVALID_ARGUMENT if the tests are no longer valid.
absl::StatusOr<TestSequence> AdaptedTests(TestSequence tests,
                                          const JobRun& run);

// The parts of AdaptedTests(), which say in `parameters` what they took.
// `hosts` returns the names of the hosts on which the tests run.
absl::Status UseIoCost(
    absl::Span<const BenchJob* const> earlier,
    absl::FunctionRef<absl::StatusOr<std::set<std::string>>()> hosts,
    DistributedSystemDescription& test, BenchJob& job);
void UseCalibration(absl::Span<const BenchJob* const> earlier,
                    DistributedSystemDescription& test, BenchJob& job);

// Notes in the job's parameters that it measures with these tests on these
// hosts. FAILED_PRECONDITION names the tests with which it did otherwise
// before, as when an earlier job has found something else since, or the hosts
// that it had and that are gone (search::CheckHosts()).
absl::Status TieRecordsTo(const TestSequence& tests,
                          const std::set<std::string>& hosts, BenchJob& job);

// The same for the hosts of the run's environment.
absl::Status TieRecordsTo(const TestSequence& tests, const JobRun& run);

// The places of the tests whose results, in the same order, are missing, or are
// of runs that failed or are invalid.
std::vector<int> UnmeasuredTests(const TestSequence& tests,
                                 const TestSequenceResults& results);

// Sets the result of the test at this place, which is at most the number of
// results.
void PutResult(int place, TestResult result, TestSequenceResults& results);

// The nearest search of the same infile, as it still is, that found how much
// one system carries; null if there is none.
const BenchJob* SearchOf(absl::Span<const BenchJob* const> earlier,
                         const BenchJob& job);

// Describes the hosts of the job's results and, for jobs on this host, adds
// what is only known here, with the disks on which activities have their files
// or whose io.cost tests set: as it was during the tests. Adds settings of
// control groups that could not be made to the missed requirements.
void DescribeSystems(const JobEnvironment& environment, BenchJob& job);

// Describes this host with a disk that the job measures. FAILED_PRECONDITION
// names the differences if the job has measurements of another host or disk, or
// of this one with other settings: the description would not be theirs.
absl::Status DescribeDisk(const std::string& disk, const std::string& root,
                          BenchJob& job);

// Adds a missed requirement, unless the job has it.
void AddOnce(const std::string& sentence, BenchJob& job);

// Adds what the job's systems lack for tests of disks and memory.
void AddStorageRequirements(BenchJob& job);

// The subject of jobs that are given no config: a storage service, and for
// experiments a neighbour that takes its memory.

// The single test of the properties "infile" or "pattern"; without both, that
// of the pattern storage_service. INVALID_ARGUMENT if both are given, or if
// there is not exactly one test.
absl::StatusOr<DistributedSystemDescription> SubjectOf(
    const PropertyValues& values, const JobEnvironment& environment);

struct MemoryHogOptions {
  std::string objective;  // such as "p95<=75ms"
  std::string load;       // such as "80%"
  int64_t hog_bytes = 0;  // the most memory that the hog takes
  std::string interfere;  // its time, such as "60s"
  std::string stabilise;  // the longest time before
  int repetitions = 1;
};

// Adds an experiment to a test without one: every service that serves an RPC is
// protected, by weights of CPU and I/O and by memory.low, from a neighbour on
// its nodes that grows as fast as it can ("memory_hog").
void AddMemoryHog(const MemoryHogOptions& options,
                  DistributedSystemDescription& test);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_TESTS_OF_JOB_H_
