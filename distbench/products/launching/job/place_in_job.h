// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which of a job's processes this one is.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_PLACE_IN_JOB_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_PLACE_IN_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/launching/job/launcher_environment.h"

namespace distbench::launching {

// As many processes as a sequencer can have nodes.
inline constexpr int kMaxJobSize = 100'000;

// The value of a flag that leaves the answer to the launcher.
inline constexpr char kAuto[] = "auto";

struct PlaceInJob {
  int rank = 0;  // 0 to size - 1; 0 leads
  int size = 1;  // the number of processes

  bool is_leader() const { return rank == 0; }
};

// "rank 1 of 3".
std::string DescribePlace(const PlaceInJob& place);

// The values of --rank and --size: numbers, or kAuto.
struct PlaceFlags {
  std::string rank = kAuto;
  std::string size = kAuto;
};

// Finds the place from the flags and, for what they leave open, from the
// variables of the launcher: Slurm (SLURM_PROCID, SLURM_NTASKS), an Indexed Job
// of Kubernetes (JOB_COMPLETION_INDEX, with DISTBENCH_SIZE), Open MPI
// (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE), other MPIs (PMI_RANK,
// PMI_SIZE). The only process of a job needs no rank. The error names the flag
// or the variable that is missing, wrong, or contradicted by another
// launcher's, and says what to give.
absl::StatusOr<PlaceInJob> FindPlaceInJob(
    const PlaceFlags& flags, const LauncherEnvironment& environment);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_PLACE_IN_JOB_H_
