// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What an entry of server_metrics means: who reads it, what its values are, and
// which time they are about. Entries are valid and canonical.
//
//   entry ── a node reads it (reading/) ──▶ ServerMetricLog of the result
//         ── measured_metric ──▶ mean and interval ──▶ objectives, findings,
//                                                      reports

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_SERVER_METRICS_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_SERVER_METRICS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/stats/metric.h"
#include "proto/traffic_config.pb.h"

namespace distbench::server_metrics {

// The metric that objectives call "metric:NAME".
stats::Metric MetricOf(const ServerMetric& entry);

// What one of the unit in which the entry is read is in the unit of results.
double ScaleOf(const ServerMetric& entry);

// What is read, for users, with its unit: readings of two runs are about the
// same thing if this is the same.
std::string DefinitionOf(const DistributedSystemDescription& test,
                         const ServerMetric& entry);

// The instance whose node reads the entry.
std::string ReaderOf(const DistributedSystemDescription& test,
                     const ServerMetric& entry);

// How much of the time before a reading is in its value, in nanoseconds.
int64_t LookBackNs(const ServerMetric& entry);

// How far a query of PromQL looks back: its longest range, and what subqueries
// and offsets add to it. 0 for what has none, or is no query. Too much rather
// than too little, where several of them are not about the same.
int64_t QueryRangeNs(absl::string_view query);

// Why the objective cannot be about the entry, whose values have another unit
// than its limit, and what would be right; empty if it can.
std::string UnitProblem(const config::Objective& objective,
                        const ServerMetric& entry);

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_SERVER_METRICS_H_
