// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The jobs of a result file: those that a user names, as text, and packed.

#ifndef DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_REPORTS_H_
#define DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_REPORTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/products/bench/files/tarball.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

// Jobs of a result file that a user names.

// Returns the jobs that any selector names, in the order of the file: a number
// of the list (from 1), a kind, or "KIND:id=ID". Without selectors, all jobs.
// NOT_FOUND if a selector names none, INVALID_ARGUMENT for other options. The
// pointers are into `file`.
absl::StatusOr<std::vector<const BenchJob*>> SelectJobs(
    const BenchFile& file, absl::Span<const std::string> selectors);

// Jobs as text: the header of resctl-bench's reports, then parameters and
// result.

// The header: a line with kind, id and period, then the hosts, their disks, and
// the requirements that they missed. Times are in `zone`.
std::string JobHeader(const BenchJob& job, absl::TimeZone zone);

// Header, parameters and result; why there is no result if the job is not done.
std::string JobText(const BenchJob& job, absl::TimeZone zone);

// A line for each job: number, state, period and title.
std::string ListText(const BenchFile& file, absl::TimeZone zone);

// The last line of each job's result below its title; jobs that can be compared
// are next to each other.
std::string SummaryText(const BenchFile& file);

// What `pack` puts into an archive.

// The files of an archive, below the folder `name`: the result file; a report
// of all jobs; and for each job, in a folder of its own, its tests as a config,
// its hosts as text, its report, and its results, which distbench report reads.
// RESOURCE_EXHAUSTED if a message is too large to be written.
absl::StatusOr<std::vector<PackedFile>> PackedJobs(const BenchFile& file,
                                                   const std::string& name,
                                                   absl::TimeZone zone);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_REPORTS_H_
