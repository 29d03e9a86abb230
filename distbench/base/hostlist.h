// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Lists of hosts as Slurm writes them: "n[1-3,7],m01,rack[1-2]-n[08-11]".

#ifndef DISTBENCH_BASE_HOSTLIST_H_
#define DISTBENCH_BASE_HOSTLIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::base {

// Far more hosts than any list names; guards against a range such as
// [0-999999999].
inline constexpr size_t kMaxHostsInList = 1'000'000;

// Returns the hosts in the order of the list. Numbers of a range keep the width
// of its first number: [08-10] is 08, 09, 10. Several brackets in one name
// stand for all combinations, of which the last bracket changes fastest. The
// error quotes the list and says what is wrong with it.
absl::StatusOr<std::vector<std::string>> ParseHostlist(absl::string_view list);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_HOSTLIST_H_
