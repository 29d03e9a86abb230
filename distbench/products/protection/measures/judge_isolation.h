// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Judges what the subject of an experiment kept beside its antagonist.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_JUDGE_ISOLATION_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_JUDGE_ISOLATION_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/objectives/objectives.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Judges an objective on isolation by the run of a cell. What makes its figures
// doubtful, such as an antagonist that did nothing, is in `measured`. If too
// few requests were served in the baseline (kLeastServedShare), nothing was
// kept, and the objective is missed by far. NOT_FOUND if the run is none, or
// nothing is known of its baseline.
absl::StatusOr<report::ObjectiveOutcome> JudgeIsolation(
    const config::Objective& objective, const TestResult& result);

// The same from the values of the seconds, of which there is at least one:
// shares, infinite for a second in which nothing ended. A percentile has the
// bounds of order statistics. These take the seconds for independent, which
// neighbours are not quite: a longer run says more than its bounds.
report::ObjectiveOutcome JudgeSeconds(const config::Objective& objective,
                                      absl::Span<const double> seconds);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_JUDGE_ISOLATION_H_
