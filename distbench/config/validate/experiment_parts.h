// The checks of an experiment's parts, which ValidateExperiment() calls.
// Private to validation.

#ifndef DISTBENCH_CONFIG_VALIDATE_EXPERIMENT_PARTS_H_
#define DISTBENCH_CONFIG_VALIDATE_EXPERIMENT_PARTS_H_

#include <string>

#include "distbench/config/validate/test_validation.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace distbench::config {

// Adds a problem for each name or glob, at path[i], that matches no service.
void CheckServices(
    const TestValidation& validation, const Path& path,
    const google::protobuf::RepeatedPtrField<std::string>& globs);

// Names, activities, numbers and places of the experiment's antagonists.
// `path` is the experiment's.
void CheckAntagonists(const TestValidation& validation, const Path& path);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_EXPERIMENT_PARTS_H_
