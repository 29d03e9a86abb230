// The rules of a test's `search` in the traffic language.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SEARCH_LANGUAGE_H_
#define DISTBENCH_PRODUCTS_SEARCH_SEARCH_LANGUAGE_H_

#include "distbench/config/validate/language_part.h"

namespace distbench::search {

class SearchLanguage final : public config::LanguagePart {
 public:
  void Canonicalize(DistributedSystemDescription& test) const override;
  void Validate(const config::TestValidation& validation) const override;
};

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SEARCH_LANGUAGE_H_
