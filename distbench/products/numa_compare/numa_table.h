// Compares NUMA deployments.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_TABLE_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_TABLE_H_

#include <string>

#include "distbench/products/numa_compare/report.pb.h"
#include "proto/results.pb.h"

namespace distbench::numa_compare {

// Returns an element of the key "numa_comparisons" of reports. Of the searches
// of a deployment, those that converged count. Loads and latencies are
// geometric means over these; ratios, to the first deployment, have intervals
// if both have at least two.
ReportedNumaComparison ReportNumaComparison(const NumaComparison& comparison);

// Renders tables of capacities and binding proofs, and lists what was left out.
std::string RenderNumaComparison(const NumaComparison& comparison);

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_TABLE_H_
