// What a stack of protocol drivers is called, and what is measured of it in one
// run.

#ifndef DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_
#define DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/metric.h"
#include "proto/results.pb.h"

namespace distbench::stacks {

struct StackMetric {
  const char* name;   // in JSON documents
  const char* title;  // for users, such as "p99"
  stats::MetricUnit unit;

  // Whether stacks are compared by it. More is better of amounts per second.
  bool is_judged = false;

  // Absent if only this product measures it.
  std::optional<stats::Metric> measured = {};
};

inline constexpr StackMetric kStackMetrics[] = {
    {"per_second", "rate", stats::MetricUnit::kPerSecond, true,
     stats::Metric{stats::Metric::Kind::kRate}},
    {"p50_ns", "p50", stats::MetricUnit::kNs, true,
     stats::Metric{stats::Metric::Kind::kPercentile, 50}},
    {"p99_ns", "p99", stats::MetricUnit::kNs, true,
     stats::Metric{stats::Metric::Kind::kPercentile, 99}},
    {"p999_ns", "p99.9", stats::MetricUnit::kNs, true,
     stats::Metric{stats::Metric::Kind::kPercentile, 99.9}},

    // CPU time of the instances' processes, divided by the RPCs of main lists,
    // warm-up and failures included: of all instances, of those of the services
    // whose main lists send RPCs, and of the others.
    {"cpu_ns", "CPU per RPC", stats::MetricUnit::kNs, true},
    {"client_cpu_ns", "client CPU", stats::MetricUnit::kNs},
    {"server_cpu_ns", "server CPU", stats::MetricUnit::kNs},

    // Of the service times, if the test measured their parts.
    {"network_share", "network", stats::MetricUnit::kShare},
    {"server_queue_share", "queue", stats::MetricUnit::kShare},
    {"server_handler_share", "handler", stats::MetricUnit::kShare},

    {"failed_share", "failed", stats::MetricUnit::kShare, false,
     stats::Metric{stats::Metric::Kind::kFailures}},
};

// A metric of a run, or over several. Infinite for percentiles that fall among
// failures.
struct StackFigure {
  double value = 0;

  // Of one run, the confidence interval at kReportConfidence of a percentile;
  // of several, their range.
  std::optional<double> lower = {};
  std::optional<double> upper = {};
};

// What one run measured of one RPC.
struct StackValues {
  bool has_response_times = false;  // else latencies are service times

  // Absent in closed loops.
  std::optional<double> offered_per_second = {};

  // By the names of the metrics, as far as they were measured.
  std::map<std::string, StackFigure> figures = {};
};

// Returns the values of the RPCs that main lists send or, if the config does
// not tell which these are, of all RPCs. Requires statistics (see
// results/legacy_results.h).
std::map<std::string, StackValues> StackValuesOf(const TestResult& result);

// Returns a name for the stack of each run: the drivers of its services, such
// as "tcp", "double_barrel over grpc" or "grpc + tcp", and their settings if
// these differ between runs of the same drivers. Runs with equal names have
// equal stacks. Names of simulated ones are marked.
std::vector<std::string> NameStacks(absl::Span<const report::TestRun> runs);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_
