// The groups beside the delegated one, which controls of "everything else"
// concern.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_NEIGHBOURS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_NEIGHBOURS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/hierarchy.h"

namespace distbench::protection {

// Returns the paths of all groups that compete with the delegated one or with a
// group above it: on each level, those beside the group on the way to the root.
// Below a delegated root, those beside the test's own groups.
absl::StatusOr<std::vector<std::string>> NeighbourPaths(
    const GroupHierarchy& hierarchy, const GroupFiles& files);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_NEIGHBOURS_H_
