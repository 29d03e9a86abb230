#include "distbench/products/protection/language/protection_language.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/protection/language/control_sets.h"
#include "distbench/products/protection/language/experiment.h"
#include "distbench/products/protection/language/test_controls.h"

namespace distbench::protection {

void ProtectionLanguage::Canonicalize(
    DistributedSystemDescription& test) const {
  if (test.has_controls()) CanonicalizeControlSet(*test.mutable_controls());
  if (test.has_experiment()) CanonicalizeExperiment(*test.mutable_experiment());
}

void ProtectionLanguage::Validate(
    const config::TestValidation& validation) const {
  ValidateControls(validation);
  ValidateExperiment(validation);
}

// Isolation is what a search measures whose probes are cells of an experiment;
// a plain run of the test has no antagonist.
bool ProtectionLanguage::CheckObjective(
    const config::TestValidation& validation, const config::Path& path,
    const config::Objective& objective, bool is_of_search) const {
  if (!std::holds_alternative<config::Isolation>(objective.metric)) {
    return false;
  }
  const std::string text = config::Quoted(objective.text);
  if (!is_of_search) {
    validation.Add(
        path, absl::StrCat(text,
                           " is measured beside an antagonist; put it into "
                           "`search`, or give it to `distbench search --slo`"));
  } else if (!validation.test().has_experiment()) {
    validation.Add(path, absl::StrCat(text,
                                      " needs an antagonist; add an "
                                      "`experiment` to the test"));
  }
  return true;
}

void ProtectionLanguage::Warn(const DistributedSystemDescription& test,
                              const config::Path& path,
                              config::Problems& warnings) const {
  WarnOfControls(test, path, warnings);
}

void ProtectionLanguage::AddUsedActivities(
    const DistributedSystemDescription& test,
    std::set<std::string>& names) const {
  for (const Antagonist& antagonist : test.experiment().antagonists()) {
    names.insert(antagonist.activity());
  }
}

}  // namespace distbench::protection
