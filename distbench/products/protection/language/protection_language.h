// What this product adds to the traffic language: `controls`, `experiment`, and
// objectives on isolation.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_PROTECTION_LANGUAGE_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_PROTECTION_LANGUAGE_H_

#include <set>
#include <string>

#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/test_validation.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/experiment.pb.h"

namespace distbench::protection {

class ProtectionLanguage final : public config::LanguagePart {
 public:
  void Canonicalize(DistributedSystemDescription& test) const override;
  void Validate(const config::TestValidation& validation) const override;
  bool CheckObjective(const config::TestValidation& validation,
                      const config::Path& path,
                      const config::Objective& objective,
                      bool is_of_search) const override;
  void Warn(const DistributedSystemDescription& test, const config::Path& path,
            config::Problems& warnings) const override;
  void AddUsedActivities(const DistributedSystemDescription& test,
                         std::set<std::string>& names) const override;
};

// The rules of a test's experiment: its subject, antagonists, controls and
// phases.

// Brings the experiment into its canonical form. Idempotent.
void CanonicalizeExperiment(Experiment& experiment);

// Adds a problem for each rule that the experiment breaks, if the test is the
// subject of one.
void ValidateExperiment(const config::TestValidation& validation);

// The rules of an experiment's antagonists.

// Adds a problem for each name or glob, at path[i], that matches no service.
void CheckServices(
    const config::TestValidation& validation, const config::Path& path,
    const google::protobuf::RepeatedPtrField<std::string>& globs);

// Names, activities, numbers and places of the experiment's antagonists.
// `path` is the experiment's.
void CheckAntagonists(const config::TestValidation& validation,
                      const config::Path& path);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_PROTECTION_LANGUAGE_H_
