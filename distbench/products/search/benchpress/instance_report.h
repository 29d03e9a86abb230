#ifndef DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_INSTANCE_REPORT_H_
#define DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_INSTANCE_REPORT_H_

#include "absl/status/statusor.h"
#include "proto/results.pb.h"

namespace distbench::search {

// The search as one of the instances saw it that ran side by side (from 1): its
// share of the loads if they are rates, its own measurements, and nothing of
// the others. Verdict, evidence and CPU use remain those of all, on which the
// search was decided. Probes that were ended early have no measurements of
// single instances and are left out. INVALID_ARGUMENT if there is no such
// instance.
absl::StatusOr<SearchReport> ReportOfInstance(const SearchReport& all,
                                              int instance);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_INSTANCE_REPORT_H_
