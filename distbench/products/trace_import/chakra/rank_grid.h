// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The grid on which ranks stand, such that each group of ranks that do a
// collective together is a line along one of its axes.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_GRID_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_GRID_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace distbench::trace_import {

// Groups of so many ranks, whose numbers differ by the stride: {1, 5, 9} has a
// stride of 4. All ranks are in such groups, which begin at multiples.
struct RankGroups {
  int64_t stride = 1;
  int64_t size = 1;

  friend auto operator<=>(const RankGroups&, const RankGroups&) = default;
};

// The groups, if ranks with the same name are one. INVALID_ARGUMENT: they do
// not all have one size and one stride.
absl::StatusOr<RankGroups> GroupsByName(absl::Span<const std::string> names);

struct RankAxis {
  std::string name;  // as of fanout filters: "x", "y" or "z"
  int64_t stride = 1;
  int64_t size = 1;

  int64_t CoordinateOf(int64_t rank) const { return rank / stride % size; }
};

// One to three axes, whose sizes multiply to the number of ranks.
// INVALID_ARGUMENT: the groups are not lines of one such grid.
absl::StatusOr<std::vector<RankAxis>> GridOf(int64_t ranks,
                                             const std::set<RankGroups>& all);

// The fanout filter by which each rank has the peer of its number, such as
// "ring_x{1}". INVALID_ARGUMENT: there is none.
absl::StatusOr<std::string> FilterOf(absl::Span<const int64_t> peers,
                                     absl::Span<const RankAxis> grid);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_GRID_H_
