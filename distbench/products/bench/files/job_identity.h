// Which jobs are the same, and which belong together.

#ifndef DISTBENCH_PRODUCTS_BENCH_FILES_JOB_IDENTITY_H_
#define DISTBENCH_PRODUCTS_BENCH_FILES_JOB_IDENTITY_H_

#include <string>

#include "distbench/products/bench/jobs/job_spec.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

// What was asked for, as text: kind, id, passive controls and properties. Equal
// for the repetitions of a job.
std::string RequestOf(const JobSpec& spec);
std::string RequestOf(const BenchJob& job);

// Writes the request and the number of the repetition into a new job.
void SetIdentity(const JobSpec& spec, int repetition, BenchJob& job);

// Jobs with equal keys can be compared: the same request and tests, on block
// devices of the same models.
std::string GroupKeyOf(const BenchJob& job);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_FILES_JOB_IDENTITY_H_
