// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How much the traffic of an imported config is like that of the traces.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_FIDELITY_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_FIDELITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/json.h"
#include "distbench/products/trace_import/config_writer.h"
#include "distbench/products/trace_import/traces/traffic_model.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

// What is compared of an RPC. Times are those at the server, with the RPCs that
// it waits for; of successes only, if the model has only these.
struct RpcFigures {
  double calls_per_arrival = 0;
  double failed_share = 0;  // of the calls
  double measured = 0;      // how many times there are
  double mean_us = 0;
  double p99_us = 0;
};

// Distances are RelativeDistance(), and missing if there are fewer than 20
// values of one side.
struct RpcFidelity {
  std::string rpc;  // its name in the config
  RpcFigures traces;
  RpcFigures simulated;
  std::optional<double> latency_distance;
};

struct TrafficFigures {
  std::optional<double> arrivals_per_second;  // missing: not all known
  double arrivals = 0;                        // how many there are
  double calls_per_trace = 0;
};

struct Fidelity {
  TrafficFigures traces;
  TrafficFigures simulated;
  std::optional<double> size_distance;   // of calls per trace
  std::optional<double> depth_distance;  // of levels per trace
  std::vector<RpcFidelity> rpcs;         // the largest latency_distance first
};

// Runs the config on simulated time, whose network takes none, traces all of
// its RPCs, imports these traces, and compares. 3000 requests arrive, or fewer
// if that takes more than 100,000 calls or a month; how long the test itself is
// does not matter. `test` is that of the config as it runs. INTERNAL if the
// test does not run to its end.
absl::StatusOr<Fidelity> MeasureFidelity(const TrafficModel& model,
                                         const ImportedConfig& config,
                                         DistributedSystemDescription test);

std::string FidelityText(const Fidelity& fidelity);
base::Json FidelityJson(const Fidelity& fidelity);

// Runs a test as above, and returns its traces, as `distbench report
// --format=otlp` writes them.
absl::StatusOr<std::string> SimulatedTraces(DistributedSystemDescription test,
                                            uint64_t seed);

// The smallest value that at least this share of all do not exceed; 0 of no
// values.
double Quantile(const std::vector<int64_t>& sorted, double share);

// How far the quantiles of two distributions are apart, on average, as a part
// of the mean of the first: the Wasserstein distance of order 1, relative. 0 if
// they are alike, and 0.05 if quantiles differ by 5 % of the mean. Unlike the
// largest difference of cumulative probabilities (Kolmogorov's distance), it is
// small if values differ by little. Without a mean, 0 if the second has none
// either, and otherwise 1. Requires sorted values that are at least 0, and some
// of each.
double RelativeDistance(const std::vector<int64_t>& sorted,
                        const std::vector<int64_t>& other);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_FIDELITY_H_
