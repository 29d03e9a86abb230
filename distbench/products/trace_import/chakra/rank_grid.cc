// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/rank_grid.h"

#include <iterator>
#include <map>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench::trace_import {
namespace {

constexpr absl::string_view kAxisNames[] = {"x", "y", "z"};

absl::Status NoGrid(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      what,
      ": groups must be rows, columns or layers of one grid of ranks, as those "
      "of tensors, data and pipelines are; take other groups out of the "
      "trace"));
}

// Of ranks in ascending order; none if they are no groups that RankGroups has.
std::optional<RankGroups> GroupsLike(const std::vector<int64_t>& members) {
  RankGroups groups = {.size = static_cast<int64_t>(members.size())};
  if (members.size() < 2) return groups;
  groups.stride = members[1] - members[0];
  for (size_t i = 1; i < members.size(); ++i) {
    if (members[i] - members[i - 1] != groups.stride) return std::nullopt;
  }
  return groups;
}

// A filter along the axis: at the same distance, or at the same places of the
// numbers in binary.
std::optional<std::string> FilterAlong(const RankAxis& axis,
                                       absl::Span<const int64_t> peers) {
  const auto distance_of = [&](int64_t rank) {
    return (axis.CoordinateOf(peers[rank]) - axis.CoordinateOf(rank) +
            axis.size) %
           axis.size;
  };
  const auto difference_of = [&](int64_t rank) {
    return axis.CoordinateOf(peers[rank]) ^ axis.CoordinateOf(rank);
  };
  bool is_ring = true;
  bool is_xor = true;
  for (int64_t rank = 0; rank < std::ssize(peers); ++rank) {
    const int64_t moved =
        (axis.CoordinateOf(peers[rank]) - axis.CoordinateOf(rank)) *
        axis.stride;
    if (rank + moved != peers[rank] || moved == 0) return std::nullopt;
    is_ring = is_ring && distance_of(rank) == distance_of(0);
    is_xor = is_xor && difference_of(rank) == difference_of(0);
  }
  if (is_ring) {
    return absl::StrCat("ring_", axis.name, "{", distance_of(0), "}");
  }
  if (is_xor) {
    return absl::StrCat("xor_", axis.name, "{", difference_of(0), "}");
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<RankGroups> GroupsByName(absl::Span<const std::string> names) {
  std::map<std::string, std::vector<int64_t>> members;
  for (int64_t rank = 0; rank < std::ssize(names); ++rank) {
    members[names[rank]].push_back(rank);
  }
  std::optional<RankGroups> common;
  for (const auto& [name, ranks] : members) {
    const auto groups = GroupsLike(ranks);
    if (!groups || groups != common.value_or(*groups)) {
      return NoGrid(absl::StrCat("the group \"", name, "\" has ", ranks.size(),
                                 " ranks, from rank ", ranks[0]));
    }
    common = groups;
  }
  return common.value_or(RankGroups());
}

absl::StatusOr<std::vector<RankAxis>> GridOf(int64_t ranks,
                                             const std::set<RankGroups>& all) {
  std::vector<RankAxis> grid;
  int64_t stride = 1;
  const auto add = [&](int64_t size) {
    grid.push_back({.stride = stride, .size = size});
    stride *= size;
  };
  for (const RankGroups& groups : all) {
    if (groups.size == 1) continue;
    // Ranks between the groups that there are.
    if (groups.stride > stride && groups.stride % stride == 0) {
      add(groups.stride / stride);
    }
    if (groups.stride != stride || ranks % (stride * groups.size) != 0) {
      return NoGrid(absl::StrCat("groups of ", groups.size, " of ", ranks,
                                 " ranks, ", groups.stride,
                                 " apart, do not go with the other groups"));
    }
    add(groups.size);
  }
  if (stride < ranks || grid.empty()) add(ranks / stride);
  if (grid.size() > std::size(kAxisNames)) {
    return NoGrid(absl::StrCat("the groups make a grid of ", grid.size(),
                               " axes, and there are at most 3"));
  }
  for (size_t i = 0; i < grid.size(); ++i) {
    grid[i].name = std::string(kAxisNames[i]);
  }
  return grid;
}

absl::StatusOr<std::string> FilterOf(absl::Span<const int64_t> peers,
                                     absl::Span<const RankAxis> grid) {
  for (const RankAxis& axis : grid) {
    if (const auto filter = FilterAlong(axis, peers)) return *filter;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "rank 0 sends to rank ", peers[0],
      ", and others to none at the same "
      "distance; messages must go between neighbours or partners along an axis "
      "of the ranks: take others out of the trace"));
}

}  // namespace distbench::trace_import
