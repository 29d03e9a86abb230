// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where the parts of products come among those of the core.

#ifndef DISTBENCH_REPORT_PARTS_PLACEMENT_H_
#define DISTBENCH_REPORT_PARTS_PLACEMENT_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/plugins.h"

namespace distbench::report {

// Directly after what the core has under that name, or at the end if that is
// empty or unknown; among several, in the order of their ranks, then of their
// names.
struct Placement {
  absl::string_view after;
  int rank = 0;
};

// One of the core's own, or the part of a product.
template <typename Part>
struct Placed {
  std::string name;
  const Part* part = nullptr;  // null: the core's own
};

// Returns the core's own, in the order given, with all parts between them. A
// part says by `Placement place` where it belongs.
template <typename Part>
std::vector<Placed<Part>> InOrder(const std::vector<std::string>& own) {
  std::vector<Placed<Part>> parts;
  for (const auto& [name, part] : base::Plugins<Part>::All()) {
    parts.push_back({name, part});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Placed<Part>& a, const Placed<Part>& b) {
                     return a.part->place.rank < b.part->place.rank;
                   });
  std::vector<Placed<Part>> all;
  for (const std::string& name : own) {
    all.push_back({name});
    for (const Placed<Part>& placed : parts) {
      if (placed.part->place.after == name) all.push_back(placed);
    }
  }
  for (const Placed<Part>& placed : parts) {
    if (std::find(own.begin(), own.end(), placed.part->place.after) ==
        own.end()) {
      all.push_back(placed);
    }
  }
  return all;
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_PARTS_PLACEMENT_H_
