// The probes of a search as comma-separated values, a row each.

#ifndef DISTBENCH_SEARCH_SEARCH_TABLE_H_
#define DISTBENCH_SEARCH_SEARCH_TABLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "distbench/search/measured_probe.h"
#include "distbench/search/objective.h"
#include "proto/results.pb.h"

namespace distbench {

// The names of the columns, without a line end. The first fifteen are those of
// FeedSim's reports, the others are appended; docs/search.md explains each.
std::string SearchTableHeader();

// The row of a probe, without a line end. Its counts and latencies are of the
// RPC that `objective` is about: response times, or service times in closed
// loops. NOT_FOUND if there is no such RPC.
absl::StatusOr<std::string> SearchTableRow(int number,
                                           const Objective& objective,
                                           const MeasuredProbe& probe,
                                           const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SEARCH_TABLE_H_
