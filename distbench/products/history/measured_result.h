// What an index keeps of one test of a result file.

#ifndef DISTBENCH_PRODUCTS_HISTORY_MEASURED_RESULT_H_
#define DISTBENCH_PRODUCTS_HISTORY_MEASURED_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "distbench/report/measurements/test_run.h"

namespace distbench::history {

// The metric of an RPC, in base units; see SeriesSummary for the names.
struct MeasuredMetric {
  std::string rpc;
  std::string metric;
  std::string unit;
  bool higher_is_better = false;

  // Absent where the percentile falls among failed requests, or the run failed
  // or is invalid. Then the result is left out of the metric's series.
  std::optional<double> value = std::nullopt;
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
};

struct MeasuredTest {
  // Followed by " (search)" for runs of searches, whose loads the search chose,
  // and by " (simulated)" for results of simulations, so that they have series
  // of their own; these also have the attributes "search", its objectives, and
  // "simulated".
  std::string name;
  int64_t started_ms = 0;
  double duration_seconds = 0;
  std::string verdict;
  std::set<std::string> hosts;
  std::map<std::string, std::string> attributes;

  // What may explain a change, by name; only what is known.
  std::map<std::string, std::string> facts;
  std::vector<MeasuredMetric> metrics;

  // The metrics that lists show, by "RPC · METRIC".
  std::map<std::string, double> headline;
};

// Takes the figures of reports. Percentiles that the number of requests does
// not support are absent from the metrics.
MeasuredTest Measure(const report::TestRun& run);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_MEASURED_RESULT_H_
