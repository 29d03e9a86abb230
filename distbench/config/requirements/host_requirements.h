// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a test requires of its hosts (HostRequirements): which facts there are,
// and whether a host meets them. HostRequirements describes the facts.

#ifndef DISTBENCH_CONFIG_REQUIREMENTS_HOST_REQUIREMENTS_H_
#define DISTBENCH_CONFIG_REQUIREMENTS_HOST_REQUIREMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "distbench/config/catalogs/settings.h"
#include "distbench/config/problems/problem.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// A fact that tests may require. A product adds one with
// base::Plugin<config::HostFact>, under the fact's name.
struct HostFact {
  // The value of a host as text; nothing if it does not report it.
  using Value = std::optional<std::string>;

  // How the value that a test requires relates to the host's.
  enum class Rule { kEqual, kAtLeast, kContains, kIncludes, kVersion };

  // Without a description.
  SettingDeclaration declaration;

  Value (*value)(const HostFacts& host);
  Rule rule = Rule::kEqual;
};

// Adds a problem for each fact that is unknown, repeated, of the wrong type or
// impossible.
void ValidateHostRequirements(const Path& path,
                              const HostRequirements& requirements,
                              Problems& problems);

// Returns the requirements that a host does not meet, such as `cpu_boost is
// "on", but the test requires "off"`. A fact that the host does not report is
// not met. Expects valid requirements; others are not met.
std::vector<std::string> UnmetRequirements(const HostRequirements& requirements,
                                           const HostFacts& host);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_REQUIREMENTS_HOST_REQUIREMENTS_H_
