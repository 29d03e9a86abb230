// What this product adds to the traffic language: `controls`, `experiment`, and
// objectives on isolation.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_PROTECTION_LANGUAGE_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_PROTECTION_LANGUAGE_H_

#include <set>
#include <string>

#include "distbench/config/validate/language_part.h"

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

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_PROTECTION_LANGUAGE_H_
