// The rules of a test's experiment: its subject, antagonists, controls and
// phases.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_EXPERIMENT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_EXPERIMENT_H_

#include "distbench/config/validate/test_validation.h"
#include "proto/experiment.pb.h"

namespace distbench::protection {

// Brings the experiment into its canonical form. Idempotent.
void CanonicalizeExperiment(Experiment& experiment);

// Adds a problem for each rule that the experiment breaks, if the test is the
// subject of one.
void ValidateExperiment(const config::TestValidation& validation);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_EXPERIMENT_H_
