#include "distbench/products/search/search_language.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/test_validation.h"
#include "distbench/products/search/knobs/knob_name.h"
#include "distbench/products/search/strategy/load_search.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {
namespace {

void CheckKnobOf(const config::TestValidation& validation,
                 const config::Path& path, const std::string& text) {
  const absl::StatusOr<KnobName> knob = ParseKnobName(text);
  if (!knob.ok()) {
    validation.Add(path, std::string(knob.status().message()));
  } else if (knob->kind == KnobName::Kind::kBuilder) {
    validation.Add(path,
                   "a builder's knob generates its own tests instead of this "
                   "one; give it to `distbench search --knob`");
  } else if (absl::Status status = CheckKnob(*knob, validation.test());
             !status.ok()) {
    validation.Add(path, std::string(status.message()));
  }
}

void CheckLoads(const config::TestValidation& validation,
                const config::Path& path, const LoadSearchSpec& search) {
  const auto check = [&](const char* field, bool is_given, double load) {
    if (!is_given || (load > 0 && load <= kMaxSearchLoad)) return;
    validation.Add(path.Field(field),
                   absl::StrCat(load,
                                " is not a load; must be above 0, and at "
                                "most ",
                                kMaxSearchLoad));
  };
  check("min_load", search.has_min_load(), search.min_load());
  check("max_load", search.has_max_load(), search.max_load());
  check("initial_load", search.has_initial_load(), search.initial_load());
  if (search.has_min_load() && search.has_max_load() &&
      search.min_load() > search.max_load()) {
    validation.Add(path.Field("min_load"),
                   absl::StrCat(search.min_load(), " is above max_load, ",
                                search.max_load(), "; must be at most that"));
  }
}

const base::Plugin<config::LanguagePart> kLanguage("search",
                                                   new SearchLanguage);

}  // namespace

void SearchLanguage::Canonicalize(DistributedSystemDescription& test) const {
  if (!test.has_search()) return;
  config::CanonicalizeFields(*test.mutable_search());
}

void SearchLanguage::Validate(const config::TestValidation& validation) const {
  if (!validation.test().has_search()) return;
  const LoadSearchSpec& search = validation.test().search();
  const config::Path path = validation.path().Field("search");
  for (int i = 0; i < search.objectives_size(); ++i) {
    config::CheckObjective(validation, path.Field("objectives").At(i),
                           search.objectives(i), /*is_of_search=*/true);
  }
  // If the config names no knob, a flag may name a better one than the default.
  if (search.has_knob()) {
    CheckKnobOf(validation, path.Field("knob"), search.knob());
  }
  CheckLoads(validation, path, search);
  config::CheckFields(search, path, &validation.names(), validation.problems());
}

}  // namespace distbench::search
