// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Distributions of a config that have the quantiles of measured values.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_DISTRIBUTION_FIT_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_DISTRIBUTION_FIT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/joint_distribution.pb.h"

namespace distbench::trace_import {

// A distribution of delays of this name: ranges that each have a 32nd of the
// values, and less and less of them in the tail. Values are at least 0; there
// is at least one.
DistributionConfig FitDelays(std::vector<int64_t> values_ns,
                             const std::string& name);

// The same for sizes of requests and responses: boxes of sizes of the same
// powers of two, so that large requests keep their large responses.
DistributionConfig FitSizes(
    const std::vector<std::pair<int64_t, int64_t>>& sizes,
    const std::string& name);

// A number, and how often it occurs.
using CountWeights = std::vector<std::pair<int, int64_t>>;

// The counts, ascending; of more than eight, neighbours are merged into their
// mean. 0 stays as it is.
CountWeights SimplifyCounts(const std::map<int, int64_t>& counts);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_DISTRIBUTION_FIT_H_
