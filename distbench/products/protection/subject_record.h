// What a result says about the subject before the antagonist begins.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_RECORD_H_
#define DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_RECORD_H_

#include <string>

#include "absl/time/time.h"
#include "distbench/products/protection/experiment_plan.h"
#include "proto/results.pb.h"

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

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_SUBJECT_RECORD_H_
