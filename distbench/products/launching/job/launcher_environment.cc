// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/launcher_environment.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/hostlist.h"

namespace distbench::launching {

LauncherEnvironment LauncherEnvironment::OfThisProcess() {
  std::map<std::string, std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    std::pair<std::string, std::string> variable =
        absl::StrSplit(*each, absl::MaxSplits('=', 1));
    variables.insert(std::move(variable));
  }
  return LauncherEnvironment(std::move(variables));
}

std::optional<std::string> LauncherEnvironment::Get(
    const std::string& name) const {
  const auto it = variables_.find(name);
  if (it == variables_.end() || it->second.empty()) return std::nullopt;
  return it->second;
}

namespace {

constexpr char kGiven[] = "DISTBENCH_NODE_ATTRIBUTES";
constexpr char kHostLevel[] = "node";  // of SLURM_TOPOLOGY_ADDR_PATTERN

// More components than Slurm allows in a job.
constexpr int kMaxHetSize = 1000;

using Attributes = std::map<std::string, std::string>;

// Slurm writes the way from the topmost switch to the host, and what each part
// of it is: "s0.s4.host7" and "switch.switch.node". The lowest part of a kind
// comes last. Names with dots make the two differ; then nothing is certain.
void AddTopology(const LauncherEnvironment& environment,
                 Attributes& attributes) {
  const auto address = environment.Get("SLURM_TOPOLOGY_ADDR");
  const auto pattern = environment.Get("SLURM_TOPOLOGY_ADDR_PATTERN");
  if (!address.has_value() || !pattern.has_value()) return;
  const std::vector<std::string> parts = absl::StrSplit(*address, '.');
  const std::vector<std::string> kinds = absl::StrSplit(*pattern, '.');
  if (parts.size() != kinds.size()) return;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (kinds[i] != kHostLevel && !parts[i].empty()) {
      attributes[kinds[i]] = parts[i];
    }
  }
}

// Returns the component of a heterogeneous job to which this host belongs.
std::optional<int> HetGroup(const LauncherEnvironment& environment) {
  int size = 0;
  const auto host = environment.Get("SLURMD_NODENAME");
  if (!host.has_value() ||
      !absl::SimpleAtoi(environment.Get("SLURM_HET_SIZE").value_or(""),
                        &size)) {
    return std::nullopt;
  }
  for (int group = 0; group < std::min(size, kMaxHetSize); ++group) {
    const auto list =
        environment.Get(absl::StrCat("SLURM_JOB_NODELIST_HET_GROUP_", group));
    if (!list.has_value()) continue;
    const auto hosts = base::ParseHostlist(*list);
    if (hosts.ok() &&
        std::find(hosts->begin(), hosts->end(), *host) != hosts->end()) {
      return group;
    }
  }
  return std::nullopt;
}

void AddSlurm(const LauncherEnvironment& environment, Attributes& attributes) {
  AddTopology(environment, attributes);
  std::optional<std::string> partition = environment.Get("SLURM_JOB_PARTITION");
  if (const std::optional<int> group = HetGroup(environment)) {
    attributes["het_group"] = absl::StrCat(*group);
    // The other variable is that of the first component.
    if (auto own = environment.Get(
            absl::StrCat("SLURM_JOB_PARTITION_HET_GROUP_", *group))) {
      partition = std::move(own);
    }
  }
  if (partition.has_value()) attributes["partition"] = *partition;
  std::optional<std::string> gpus = environment.Get("SLURM_STEP_GPUS");
  if (!gpus.has_value()) gpus = environment.Get("SLURM_JOB_GPUS");
  if (gpus.has_value()) attributes["gpus"] = *gpus;
}

void Set(const std::string& name, const std::string& value,
         Attributes& attributes) {
  if (value.empty()) {
    attributes.erase(name);
  } else {
    attributes[name] = value;
  }
}

absl::Status AddGiven(const std::string& text, Attributes& attributes) {
  for (const absl::string_view element :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> attribute =
        absl::StrSplit(element, absl::MaxSplits('=', 1));
    if (attribute.first.empty() || attribute.first == element) {
      return absl::InvalidArgumentError(
          absl::StrCat(kGiven, "=", text, ": \"", element,
                       "\" is not NAME=VALUE, such as zone=a"));
    }
    Set(attribute.first, attribute.second, attributes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NodeAttributes> MergeAttributes(
    const LauncherEnvironment& environment, const NodeAttributes& given) {
  Attributes attributes;
  AddSlurm(environment, attributes);
  if (const auto text = environment.Get(kGiven)) {
    const absl::Status status = AddGiven(*text, attributes);
    if (!status.ok()) return status;
  }
  for (const auto& [name, value] : given) Set(name, value, attributes);
  return NodeAttributes(attributes.begin(), attributes.end());
}

}  // namespace distbench::launching
