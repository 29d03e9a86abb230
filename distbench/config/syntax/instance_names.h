// How the instances of a service are numbered, named and found by name.
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
#include "proto/traffic_config.pb.h"

namespace distbench {

// The extent of a service's grid.
struct Grid {
  std::array<int, 3> sizes = {1, 1, 1};  // along x, y, z; at least 1 each
  int dimensions = 1;                    // how many are part of names

  // Number of instances; the largest int64_t if that is exceeded.
  int64_t Count() const;
};

using Coordinates = std::array<int, 3>;

// The grid of a canonical service; sizes below 1 count as 1.
Grid GridOf(const ServiceSpec& service);

// Require 0 <= number < grid.Count().
Coordinates CoordinatesOf(const Grid& grid, int number);
std::string InstanceName(absl::string_view service, const Grid& grid,
                         int number);

// What constraints know of an instance: "index" in one dimension, else
// "x_index", "y_index" and so on. Requires 0 <= number < grid.Count().
std::map<std::string, std::string> InstanceAttributes(const Grid& grid,
                                                      int number);

// The names of those attributes.
std::vector<std::string> InstanceAttributeNames(const Grid& grid);

// The names of all instances of a canonical service, by number.
std::vector<std::string> InstanceNames(const ServiceSpec& service);

// An instance name taken apart.
struct ParsedInstanceName {
  std::string service;
  std::vector<int> coordinates;  // one to three, at least 0 each
};

// Nothing if the name is not of the form "service/x", "service/x/y" or
// "service/x/y/z" with decimal coordinates without leading zeros.
std::optional<ParsedInstanceName> ParseInstanceName(absl::string_view name);

// The number of the instance at the coordinates. Nothing if there are not as
// many coordinates as the grid has dimensions, or they are outside the grid.
std::optional<int> InstanceNumber(const Grid& grid,
                                  const std::vector<int>& coordinates);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SYNTAX_INSTANCE_NAMES_H_
