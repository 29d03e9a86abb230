// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/instance_names.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace distbench::config {
namespace {

constexpr int kMaxDimensions = 3;

// Parses a coordinate: decimal, without sign or leading zeros.
std::optional<int> ParseCoordinate(absl::string_view text) {
  int value;
  if (!absl::SimpleAtoi(text, &value) || value < 0) return std::nullopt;
  if (text != absl::StrCat(value)) return std::nullopt;
  return value;
}

}  // namespace

int64_t Grid::Count() const {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const int64_t plane = int64_t{sizes[0]} * sizes[1];
  return plane > kMax / sizes[2] ? kMax : plane * sizes[2];
}

Grid GridOf(const ServiceSpec& service) {
  Grid grid;
  grid.sizes = {std::max(1, service.x_size()), std::max(1, service.y_size()),
                std::max(1, service.z_size())};
  if (service.has_y_size()) grid.dimensions = 2;
  if (service.has_z_size()) grid.dimensions = 3;
  return grid;
}

Coordinates CoordinatesOf(const Grid& grid, int number) {
  const int row = number / grid.sizes[0];
  return {number % grid.sizes[0], row % grid.sizes[1], row / grid.sizes[1]};
}

std::string InstanceName(absl::string_view service, const Grid& grid,
                         int number) {
  const Coordinates coordinates = CoordinatesOf(grid, number);
  std::string name(service);
  for (int axis = 0; axis < grid.dimensions; ++axis) {
    absl::StrAppend(&name, "/", coordinates[axis]);
  }
  return name;
}

std::map<std::string, std::string> InstanceAttributes(const Grid& grid,
                                                      int number) {
  const Coordinates coordinates = CoordinatesOf(grid, number);
  const std::vector<std::string> names = InstanceAttributeNames(grid);
  std::map<std::string, std::string> attributes;
  for (int axis = 0; axis < grid.dimensions; ++axis) {
    attributes[names[axis]] = absl::StrCat(coordinates[axis]);
  }
  return attributes;
}

std::vector<std::string> InstanceAttributeNames(const Grid& grid) {
  if (grid.dimensions == 1) return {"index"};
  std::vector<std::string> names = {"x_index", "y_index", "z_index"};
  names.resize(grid.dimensions);
  return names;
}

bool IsOutside(const ServiceSpec& service) { return service.has_external(); }

std::vector<std::string> OutsideAddresses(const ServiceSpec& service) {
  const auto& addresses = service.external().addresses();
  return {addresses.begin(), addresses.end()};
}

bool CallsOutside(const RpcSpec& rpc) { return rpc.has_external_call(); }

std::vector<std::string> InstanceNames(const ServiceSpec& service) {
  std::vector<std::string> names;
  if (IsOutside(service)) return names;
  const Grid grid = GridOf(service);
  names.reserve(grid.Count());
  for (int number = 0; number < grid.Count(); ++number) {
    names.push_back(InstanceName(service.name(), grid, number));
  }
  return names;
}

std::optional<ParsedInstanceName> ParseInstanceName(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  if (parts.size() < 2 || parts.size() > 1 + kMaxDimensions) {
    return std::nullopt;
  }
  ParsedInstanceName parsed;
  parsed.service = std::string(parts[0]);
  if (parsed.service.empty()) return std::nullopt;
  for (int i = 1; i < parts.size(); ++i) {
    const std::optional<int> coordinate = ParseCoordinate(parts[i]);
    if (!coordinate.has_value()) return std::nullopt;
    parsed.coordinates.push_back(*coordinate);
  }
  return parsed;
}

std::string ServiceOf(const std::string& instance) {
  const std::optional<ParsedInstanceName> name = ParseInstanceName(instance);
  return name ? name->service : instance;
}

std::optional<int> InstanceNumber(const Grid& grid,
                                  const std::vector<int>& coordinates) {
  if (coordinates.size() != grid.dimensions) return std::nullopt;
  if (grid.Count() > std::numeric_limits<int>::max()) return std::nullopt;
  int number = 0;
  int stride = 1;
  for (int axis = 0; axis < grid.dimensions; ++axis) {
    if (coordinates[axis] < 0 || coordinates[axis] >= grid.sizes[axis]) {
      return std::nullopt;
    }
    number += coordinates[axis] * stride;
    stride *= grid.sizes[axis];
  }
  return number;
}

std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const Grid& grid) {
  std::vector<Attributes> instances;
  for (int number = 0; number < grid.Count(); ++number) {
    // Only constraints use attributes.
    instances.push_back(channel.has_constraints()
                            ? InstanceAttributes(grid, number)
                            : Attributes());
  }
  return MembersOf(channel, instances);
}

std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const std::vector<Attributes>& instances) {
  const int count = static_cast<int>(instances.size());
  std::set<int> members;
  for (const int number : channel.selected_instances()) {
    if (number >= 0 && number < count) members.insert(number);
  }
  if (channel.has_constraints()) {
    for (int number = 0; number < count; ++number) {
      if (Matches(channel.constraints(), instances[number])) {
        members.insert(number);
      }
    }
  }
  return {members.begin(), members.end()};
}

bool DependsOnPlacement(const MultiServerChannel& channel, const Grid& grid) {
  const std::vector<std::string> own = InstanceAttributeNames(grid);
  for (const ConstraintSet& set : channel.constraints().constraint_sets()) {
    for (const Constraint& constraint : set.constraints()) {
      if (std::find(own.begin(), own.end(), constraint.attribute_name()) ==
          own.end()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace distbench::config
