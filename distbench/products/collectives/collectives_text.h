// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_COLLECTIVES_COLLECTIVES_TEXT_H_
#define DISTBENCH_PRODUCTS_COLLECTIVES_COLLECTIVES_TEXT_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::collectives {

// The lines of the summary about collective operations; none without any. Of
// many groups, those that took longest.
std::vector<std::string> CollectiveLines(const TestResult& result);

}  // namespace distbench::collectives

#endif  // DISTBENCH_PRODUCTS_COLLECTIVES_COLLECTIVES_TEXT_H_
