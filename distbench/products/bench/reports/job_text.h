// Jobs as text: the header of resctl-bench's reports, then parameters and
// result.

#ifndef DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_TEXT_H_
#define DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_TEXT_H_

#include <string>

#include "absl/time/time.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

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

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_TEXT_H_
