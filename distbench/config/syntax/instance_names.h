// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Numbers and names of a service's instances.
//
// The instances of a service form a grid of one to three dimensions. An
// instance has a number, x + y*X + z*X*Y, and a name made of the service's name
// and its coordinates: "client/7", "torus/1/4", "cube/0/2/1".

#ifndef DISTBENCH_CONFIG_SYNTAX_INSTANCE_NAMES_H_
#define DISTBENCH_CONFIG_SYNTAX_INSTANCE_NAMES_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/config/syntax/constraints.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The extent of a service's grid.
struct Grid {
  std::array<int, 3> sizes = {1, 1, 1};  // along x, y, z; at least 1 each
  int dimensions = 1;                    // how many sizes are part of names

  // The number of instances, clamped to the largest int64_t.
  int64_t Count() const;
};

using Coordinates = std::array<int, 3>;

// The grid of a canonical service. Sizes below 1 count as 1.
Grid GridOf(const ServiceSpec& service);

// Both require 0 <= number < grid.Count().
Coordinates CoordinatesOf(const Grid& grid, int number);
std::string InstanceName(absl::string_view service, const Grid& grid,
                         int number);

// The attributes of an instance that constraints can use: "index" in one
// dimension, otherwise "x_index", "y_index" and "z_index". Requires 0 <= number
// < grid.Count().
std::map<std::string, std::string> InstanceAttributes(const Grid& grid,
                                                      int number);

// The names of these attributes.
std::vector<std::string> InstanceAttributeNames(const Grid& grid);

// Whether a service is outside of the test: its one instance is servers of
// others, whose addresses the config has, and nothing of distbench runs there.
bool IsOutside(const ServiceSpec& service);

// "HOST:PORT" of each of these servers; none of a service of the test.
std::vector<std::string> OutsideAddresses(const ServiceSpec& service);

// Whether the RPC's server is a service outside of the test.
bool CallsOutside(const RpcSpec& rpc);

// The names of all instances of a canonical service that a test runs, by
// number; none of a service that is outside.
std::vector<std::string> InstanceNames(const ServiceSpec& service);

// The parts of an instance name.
struct ParsedInstanceName {
  std::string service;
  std::vector<int> coordinates;  // one to three, at least 0 each
};

// Returns nothing unless the name has the form "service/x", "service/x/y" or
// "service/x/y/z", with decimal coordinates without leading zeros.
std::optional<ParsedInstanceName> ParseInstanceName(absl::string_view name);

// The service of an instance; other names are returned as they are.
std::string ServiceOf(const std::string& instance);

// The number of the instance at these coordinates. Returns nothing if their
// number differs from the grid's dimensions, or they are outside the grid.
std::optional<int> InstanceNumber(const Grid& grid,
                                  const std::vector<int>& coordinates);

// The instances of the service that the channel reaches, ascending: the
// selected ones and those that match its constraints. Selected instances
// outside the grid are ignored.
std::vector<int> MembersOf(const MultiServerChannel& channel, const Grid& grid);

// Same, with the attributes of each instance of the service, by number.
std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const std::vector<Attributes>& instances);

// Whether the members depend on where instances run, because a constraint uses
// an attribute that instances do not have by themselves.
bool DependsOnPlacement(const MultiServerChannel& channel, const Grid& grid);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_INSTANCE_NAMES_H_
