// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Lists of things that have a `name`, such as declarations.

#ifndef DISTBENCH_BASE_NAMED_H_
#define DISTBENCH_BASE_NAMED_H_

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::base {

// Their names, in the same order.
template <typename Things>
std::vector<std::string> NamesOf(const Things& all) {
  std::vector<std::string> names;
  for (const auto& each : all) names.push_back(each.name);
  return names;
}

// The first one of that name, in the list; null if there is none.
template <typename Things>
auto FindNamed(const Things& all, absl::string_view name) {
  const auto found =
      std::find_if(std::begin(all), std::end(all),
                   [name](const auto& each) { return each.name == name; });
  return found == std::end(all) ? nullptr : &*found;
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_NAMED_H_
