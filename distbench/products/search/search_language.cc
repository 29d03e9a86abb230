// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rules of a test's `search` in the traffic language.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/plugins.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/test_validation.h"
#include "distbench/products/search/knobs/knob_name.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {
namespace {

void CheckKnobOf(const config::TestValidation& validation,
                 const config::Path& path, const std::string& text) {
  const absl::StatusOr<KnobName> knob = ParseKnobName(text);
  if (!knob.ok()) {
    validation.Add(path, knob.status().message());
  } else if (knob->kind == KnobName::Kind::kBuilder) {
    validation.Add(path,
                   "a builder's knob generates its own tests instead of this "
                   "one; give it to `distbench search --knob`");
  } else if (absl::Status status = CheckKnob(*knob, validation.test());
             !status.ok()) {
    validation.Add(path, status.message());
  }
}

class SearchLanguage final : public config::LanguagePart {
 public:
  void Validate(const config::TestValidation& validation) const override {
    if (!validation.test().has_search()) return;
    const LoadSearchSpec& search = validation.test().search();
    const config::Path path = validation.path().Field("search");
    for (int i = 0; i < search.objectives_size(); ++i) {
      config::CheckObjective(validation, path.Field("objectives").At(i),
                             search.objectives(i), /*is_of_search=*/true);
    }
    // If the config names no knob, a flag may name a better one than the
    // default.
    if (search.has_knob()) {
      CheckKnobOf(validation, path.Field("knob"), search.knob());
    }
  }
};

const base::Plugin<config::LanguagePart> kLanguage("search",
                                                   new SearchLanguage);

}  // namespace
}  // namespace distbench::search
