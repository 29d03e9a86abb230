// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/place_in_job.h"

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench::launching {
namespace {

// The two variables in which a launcher tells a process its place.
struct Launcher {
  const char* rank;
  const char* size;
};

constexpr Launcher kSlurm = {"SLURM_PROCID", "SLURM_NTASKS"};
constexpr Launcher kKubernetes = {"JOB_COMPLETION_INDEX", "DISTBENCH_SIZE"};
// In the order in which they are asked.
constexpr Launcher kLaunchers[] = {
    kSlurm,
    kKubernetes,
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"}};

// srun sets this for the tasks of a step. A batch script has a SLURM_PROCID,
// too, but is not one of the tasks that it starts.
constexpr char kSlurmStep[] = "SLURM_STEP_ID";

// What is known so far, and from where.
struct Known {
  std::optional<int> rank;
  std::optional<int> size;
  std::string rank_source;
  std::string size_source;
};

absl::Status WrongPlace(absl::string_view problem) {
  return absl::InvalidArgumentError(problem);
}

absl::StatusOr<int> ParseCount(const std::string& source,
                               const std::string& text, int least, int most) {
  int number = 0;
  if (text.find_first_not_of("0123456789") == std::string::npos &&
      absl::SimpleAtoi(text, &number) && number >= least && number <= most) {
    return number;
  }
  return WrongPlace(absl::StrCat(source, "=", text, " is not a number from ",
                                 least, " to ", most));
}

absl::StatusOr<int> ParseRank(const std::string& source,
                              const std::string& text) {
  return ParseCount(source, text, 0, kMaxJobSize - 1);
}

absl::StatusOr<int> ParseSize(const std::string& source,
                              const std::string& text) {
  return ParseCount(source, text, 1, kMaxJobSize);
}

absl::Status ReadFlags(const PlaceFlags& flags, Known& known) {
  if (flags.rank != kAuto) {
    const absl::StatusOr<int> rank = ParseRank("--rank", flags.rank);
    if (!rank.ok()) return rank.status();
    known.rank = *rank;
    known.rank_source = absl::StrCat("--rank=", *rank);
  }
  if (flags.size != kAuto) {
    const absl::StatusOr<int> size = ParseSize("--size", flags.size);
    if (!size.ok()) return size.status();
    known.size = *size;
    known.size_source = absl::StrCat("--size=", *size);
  }
  return absl::OkStatus();
}

absl::StatusOr<Known> ReadLauncher(const Launcher& launcher,
                                   const LauncherEnvironment& environment) {
  Known known;
  if (const auto text = environment.Get(launcher.rank)) {
    const absl::StatusOr<int> rank = ParseRank(launcher.rank, *text);
    if (!rank.ok()) return rank.status();
    known.rank = *rank;
    known.rank_source = absl::StrCat(launcher.rank, "=", *rank);
  }
  if (const auto text = environment.Get(launcher.size)) {
    const absl::StatusOr<int> size = ParseSize(launcher.size, *text);
    if (!size.ok()) return size.status();
    known.size = *size;
    known.size_source = absl::StrCat(launcher.size, "=", *size);
  }
  return known;
}

absl::Status Contradiction(const Known& one, const Known& other) {
  const bool is_rank = one.rank != other.rank;
  return WrongPlace(absl::StrCat(
      "two launchers contradict each other: ",
      is_rank ? one.rank_source : one.size_source, ", but ",
      is_rank ? other.rank_source : other.size_source,
      "; say with --rank and --size which is right, or unset the variables of "
      "the other"));
}

// The variables of the first launcher that gave this process a rank. Others
// that did must agree, because a wrong choice would start half of two jobs.
absl::StatusOr<Known> AskLaunchers(const LauncherEnvironment& environment) {
  std::optional<Known> found;
  for (const Launcher& launcher : kLaunchers) {
    const absl::StatusOr<Known> known = ReadLauncher(launcher, environment);
    if (!known.ok()) return known.status();
    if (!known->rank.has_value()) continue;
    if (!found.has_value()) {
      found = *known;
      continue;
    }
    const bool sizes_differ = found->size.has_value() &&
                              known->size.has_value() &&
                              found->size != known->size;
    if (found->rank != known->rank || sizes_differ) {
      return Contradiction(*found, *known);
    }
    if (!found->size.has_value()) {
      found->size = known->size;
      found->size_source = known->size_source;
    }
  }
  return found.value_or(Known());
}

absl::Status CheckBatchScript(const LauncherEnvironment& environment) {
  if (!environment.Has(kSlurm.rank) || environment.Has(kSlurmStep)) {
    return absl::OkStatus();
  }
  return WrongPlace(absl::StrCat(
      kSlurm.rank, " is set, but not ", kSlurmStep,
      ": this is a batch script, of which there is only one; start the "
      "processes of the job with srun distbench join ..."));
}

absl::Status NoRank(const LauncherEnvironment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    if (!environment.Has(launcher.size)) continue;
    return WrongPlace(absl::StrCat(launcher.size, " is set, but not ",
                                   launcher.rank,
                                   "; give --rank=R (0 leads), or start "
                                   "distbench join with a launcher that sets "
                                   "it, such as srun"));
  }
  return WrongPlace(
      "nothing says which of the job's processes this is; give --rank=R (0 "
      "leads) and --size=N, or start distbench join with srun, as an Indexed "
      "Job of Kubernetes, or with mpirun");
}

absl::Status NoSize(const Known& known,
                    const LauncherEnvironment& environment) {
  const bool is_kubernetes = environment.Has(kKubernetes.rank);
  return WrongPlace(absl::StrCat(
      known.rank_source, ", but nothing says of how many; give --size=N",
      is_kubernetes ? " or DISTBENCH_SIZE=N, the `completions` of the Job"
                    : ""));
}

}  // namespace

std::string DescribePlace(const PlaceInJob& place) {
  return absl::StrCat("rank ", place.rank, " of ", place.size);
}

absl::StatusOr<PlaceInJob> FindPlaceInJob(
    const PlaceFlags& flags, const LauncherEnvironment& environment) {
  Known known;
  absl::Status status = ReadFlags(flags, known);
  if (!status.ok()) return status;
  if (!known.rank.has_value()) {
    status = CheckBatchScript(environment);
    if (!status.ok()) return status;
  }
  if (!known.rank.has_value() || !known.size.has_value()) {
    const absl::StatusOr<Known> launcher = AskLaunchers(environment);
    if (!launcher.ok()) return launcher.status();
    if (!known.rank.has_value()) {
      known.rank = launcher->rank;
      known.rank_source = launcher->rank_source;
    }
    if (!known.size.has_value()) {
      known.size = launcher->size;
      known.size_source = launcher->size_source;
    }
  }
  // Of one process there is nothing to say.
  if (!known.rank.has_value() && known.size == 1) known.rank = 0;
  if (!known.rank.has_value()) return NoRank(environment);
  if (!known.size.has_value()) return NoSize(known, environment);
  if (*known.rank >= *known.size) {
    return WrongPlace(
        absl::StrCat(known.rank_source, " is not a rank of a job with ",
                     known.size_source, "; ranks are 0 to ", *known.size - 1));
  }
  return PlaceInJob{.rank = *known.rank, .size = *known.size};
}

}  // namespace distbench::launching
