// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_LAUNCHER_ENVIRONMENT_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_LAUNCHER_ENVIRONMENT_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace distbench::launching {

// The environment variables of a process, at one time; those without a value
// count as absent, because launchers and templates often set them so.
class LauncherEnvironment {
 public:
  explicit LauncherEnvironment(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {}

  // Those of this process, now.
  static LauncherEnvironment OfThisProcess();

  std::optional<std::string> Get(const std::string& name) const;
  bool Has(const std::string& name) const { return Get(name).has_value(); }

 private:
  std::map<std::string, std::string> variables_;
};

// What a launcher says about the host of a process, as attributes of a node.

using NodeAttributes = std::vector<std::pair<std::string, std::string>>;

// Returns the attributes that the variables of the launcher tell:
//
//   switch, block   the lowest switch or block of SLURM_TOPOLOGY_ADDR
//   partition       SLURM_JOB_PARTITION, or that of the job's component
//   het_group       the component of a heterogeneous job (SLURM_HET_SIZE) whose
//                   SLURM_JOB_NODELIST_HET_GROUP_N has SLURMD_NODENAME
//   gpus            SLURM_STEP_GPUS, or else SLURM_JOB_GPUS
//
// and those of DISTBENCH_NODE_ATTRIBUTES="NAME=VALUE,...", which replace them,
// as `given` replaces both; an empty value removes an attribute. The error
// names the variable.
absl::StatusOr<NodeAttributes> MergeAttributes(
    const LauncherEnvironment& environment, const NodeAttributes& given);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_LAUNCHER_ENVIRONMENT_H_
