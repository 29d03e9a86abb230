// What a node manager and its guardian say to each other, a byte each.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GUARDIAN_MESSAGES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GUARDIAN_MESSAGES_H_

namespace distbench::protection {

inline constexpr char kOnWatch = 'w';    // by the guardian
inline constexpr char kDismissed = 'd';  // by the node manager

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GUARDIAN_MESSAGES_H_
