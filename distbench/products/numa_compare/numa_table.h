// Compares NUMA deployments, in numbers and as text.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_TABLE_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_TABLE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/run_interval.h"
#include "proto/results.pb.h"

namespace distbench::numa_compare {

// The comparisons in the results from which the runs were listed, each once.
std::vector<const NumaComparison*> NumaComparisonsOf(
    absl::Span<const report::TestRun> runs);

// The results of one deployment's searches under one objective.
struct DeploymentCapacity {
  std::string objective;
  std::string unit;
  int search_count = 0;

  // The loads of the searches that found one, in order.
  std::vector<double> loads;

  // The geometric mean of the loads, and its ratio to that of the comparison's
  // first deployment. The ratio has an interval if both have at least two
  // loads.
  std::optional<double> mean;
  std::optional<stats::Difference> ratio;

  // The same for the mean latencies in nanoseconds, one for each load, that the
  // final runs measured at it: response times, or service times in closed
  // loops, of the RPCs that succeeded. Shorter if some had none.
  std::vector<double> latencies_ns;
  std::optional<double> latency_ns;
  std::optional<stats::Difference> latency_ratio;
};

struct DeploymentRow {
  const NumaDeployment* deployment = nullptr;
  DeploymentCapacity cpu_target;
  DeploymentCapacity objective;

  // Whether every requested binding held; absent if none was requested.
  std::optional<bool> bindings_held;
};

// Returns rows in the order of the comparison, to whose deployments they point.
std::vector<DeploymentRow> CompareDeployments(const NumaComparison& comparison,
                                              double confidence);

// Renders tables of capacities and binding proofs, and lists what was left out.
std::string RenderNumaComparison(const NumaComparison& comparison);

nlohmann::ordered_json NumaComparisonJson(const NumaComparison& comparison);

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_TABLE_H_
