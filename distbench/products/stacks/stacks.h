// Compares protocol drivers under the same traffic.
//
//   const StackComparison comparison = CompareStacks(runs);

#ifndef DISTBENCH_PRODUCTS_STACKS_STACKS_H_
#define DISTBENCH_PRODUCTS_STACKS_STACKS_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::stacks {

// What is measured of a stack under a load.
struct StackMetric {
  enum class Unit { kPerSecond, kNs, kShare };

  const char* name;   // in JSON documents
  const char* title;  // for users, such as "p99"
  Unit unit;

  // Whether stacks are compared by it, and what a ratio above 1 means then.
  bool is_judged = false;
  bool higher_is_better = false;
};

inline constexpr StackMetric kStackMetrics[] = {
    {"per_second", "rate", StackMetric::Unit::kPerSecond, true, true},
    {"p50_ns", "p50", StackMetric::Unit::kNs, true},
    {"p99_ns", "p99", StackMetric::Unit::kNs, true},
    {"p999_ns", "p99.9", StackMetric::Unit::kNs, true},

    // CPU time of the instances' processes, divided by the RPCs of main lists,
    // warm-up and failures included: of all instances, of those of the services
    // whose main lists send RPCs, and of the others.
    {"cpu_ns", "CPU per RPC", StackMetric::Unit::kNs, true},
    {"client_cpu_ns", "client CPU", StackMetric::Unit::kNs},
    {"server_cpu_ns", "server CPU", StackMetric::Unit::kNs},

    // Of the service times, if the test measured their parts.
    {"network_share", "network", StackMetric::Unit::kShare},
    {"server_queue_share", "queue", StackMetric::Unit::kShare},
    {"server_handler_share", "handler", StackMetric::Unit::kShare},

    {"failed_share", "failed", StackMetric::Unit::kShare},
};
inline constexpr size_t kStackMetricCount = std::size(kStackMetrics);

// A metric over the runs of a stack: their median. Infinite for percentiles
// that fall among failures.
struct StackFigure {
  double value = 0;

  // Of a single run, the confidence interval at kReportConfidence of a
  // percentile; of several, the range over the runs.
  std::optional<double> lower;
  std::optional<double> upper;
};

struct StackRow {
  std::string stack;
  int runs = 0;
  std::array<std::optional<StackFigure>, kStackMetricCount> figures;
};

// A stack compared with the first one, by one metric.
struct StackChange {
  std::string stack;
  size_t metric = 0;  // position in kStackMetrics
  report::ComparisonVerdict verdict = report::ComparisonVerdict::kNotShown;

  // Of the geometric means over the runs, by the first stack's; with its
  // interval at kCompareConfidence if both have at least two runs.
  stats::Difference ratio = {};
};

// One traffic over several stacks.
struct StackLoad {
  // The words with which the names of all stacks' tests begin; the name of the
  // first one's if there are none.
  std::string test;

  // Absent in closed loops.
  std::optional<double> offered_per_second;

  std::vector<StackRow> rows;  // at least two
  std::vector<StackChange> changes;

  // The changes in words, one for each stack but the first.
  std::vector<std::string> sentences;

  // What differs beside the drivers: hosts, placement, versions.
  std::vector<std::string> notes;
};

// An RPC of a main list under several loads, with the same payloads.
struct StackStudy {
  std::string rpc;
  bool has_response_times = false;  // else latencies are service times

  // All stacks of the runs, some of which may lack this RPC or be invalid.
  std::vector<std::string> stacks;
  std::vector<StackLoad> loads;
};

struct StackComparison {
  std::vector<StackStudy> studies;

  // Which tests are left out, and why.
  std::vector<std::string> omissions;
};

// Compares runs whose traffic is the same and whose drivers differ. Runs of the
// same traffic and drivers are repetitions. Runs of searches and experiments
// are not compared, because these choose their loads. Empty if all other runs
// have the same drivers.
StackComparison CompareStacks(absl::Span<const report::TestRun> runs);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACKS_H_
