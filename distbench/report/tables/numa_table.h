// A comparison of NUMA deployments, in numbers and as text.

#ifndef DISTBENCH_REPORT_TABLES_NUMA_TABLE_H_
#define DISTBENCH_REPORT_TABLES_NUMA_TABLE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/welch_interval.h"
#include "proto/results.pb.h"

namespace distbench {

// Those of the results that the runs were listed from, each once.
std::vector<const NumaComparison*> NumaComparisonsOf(
    absl::Span<const TestRun> runs);

// What the searches of one deployment under one objective found.
struct DeploymentCapacity {
  std::string objective;
  std::string unit;
  int search_count = 0;

  // Of the searches that found one: their loads, in order.
  std::vector<double> loads;

  // Geometric mean of the loads; and its ratio to that of the comparison's
  // first deployment, with an interval if both have two loads or more.
  std::optional<double> mean;
  std::optional<Difference> ratio;
};

struct DeploymentRow {
  const NumaDeployment* deployment = nullptr;
  DeploymentCapacity cpu_target;
  DeploymentCapacity objective;

  // Whether every binding held, of those that were asked for; absent if there
  // were none.
  std::optional<bool> bindings_held;
};

// In the order of the comparison, whose deployments it refers to.
std::vector<DeploymentRow> CompareDeployments(const NumaComparison& comparison,
                                              double confidence);

// Tables of capacities and of proofs, and what was left out.
std::string RenderNumaComparison(const NumaComparison& comparison);

nlohmann::ordered_json NumaComparisonJson(const NumaComparison& comparison);

nlohmann::ordered_json BindingProofJson(const std::string& instance,
                                        const BindingProof& proof);

// Of a proof, for people: "0: 12.0 MiB, 1: 3.0 MiB".
std::string ResidentText(const BindingProof& proof);

// "2: 55 %, 3: 45 %".
std::string CpusText(const BindingProof& proof);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TABLES_NUMA_TABLE_H_
