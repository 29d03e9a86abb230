// What a control group has used, by the kernel's statistics.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GROUP_STATISTICS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GROUP_STATISTICS_H_

#include <string>

#include "distbench/products/protection/control_groups/group_files.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Returns totals since the group was made. Fields whose statistics the kernel
// does not have (a controller that is not passed on, no PSI) are absent.
GroupUse ReadGroupUse(const std::string& folder, const GroupFiles& files);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GROUP_STATISTICS_H_
