// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a result says about the subject before the antagonist begins.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_RECORD_H_
#define DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_RECORD_H_

#include <string>

#include "absl/time/time.h"
#include "distbench/products/protection/experiment_plan.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// Sets the result's experiment_cell: the cell, its phases by the clock of the
// sequencer and, unless the antagonist ran alone, whether the subject held
// still before the baseline. A test that never started has no phases.
void LabelResult(const ExperimentPlan& plan, const ExperimentCell& cell,
                 absl::Duration stabilise, TestResult& result);

// Why the result says nothing about protection: the run failed before the
// antagonist began. Empty if it does; a subject that did not survive the
// antagonist is a result. Requires a labelled result.
std::string WhyUnusable(const TestResult& result);

// The time that a labelled result's subject had to hold still.
absl::Duration StabiliseTimeOf(const TestResult& result);

// The threads of the subject's instances.

// The fewest workers that the sequencer would give any instance of the test on
// its own: the CPUs of a host divided by the instances there, at least 1.
//
// By default, the sequencer divides CPUs by all instances of a host, so that an
// antagonist would cost the subject workers even if it did nothing, and the
// division of its traffic among workers, which draws the arrivals, would differ
// from cell to cell. `test` must be valid; constraints are not taken into
// account.
int WorkersOfSubject(const DistributedSystemDescription& test,
                     const GetStatusResponse& status);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_RECORD_H_
