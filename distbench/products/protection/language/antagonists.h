// The rules of an experiment's antagonists.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_ANTAGONISTS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_ANTAGONISTS_H_

#include <string>

#include "distbench/config/validate/test_validation.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace distbench::protection {

// Adds a problem for each name or glob, at path[i], that matches no service.
void CheckServices(
    const config::TestValidation& validation, const config::Path& path,
    const google::protobuf::RepeatedPtrField<std::string>& globs);

// Names, activities, numbers and places of the experiment's antagonists.
// `path` is the experiment's.
void CheckAntagonists(const config::TestValidation& validation,
                      const config::Path& path);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_ANTAGONISTS_H_
