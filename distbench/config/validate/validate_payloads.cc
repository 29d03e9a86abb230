#include "distbench/config/validate/quantities.h"
#include "distbench/config/validate/validators.h"

namespace distbench {

void ValidatePayloads(const TestValidation& validation) {
  for (int i = 0; i < validation.test().payload_descriptions_size(); ++i) {
    const PayloadSpec& payload = validation.test().payload_descriptions(i);
    const Path path = validation.Element("payload_descriptions",
                                         validation.names().payloads, i);
    CheckQuantities(payload, path, validation.problems());
    const bool is_fixed = payload.has_size() || payload.has_size_with_unit();
    const bool is_drawn = !payload.size_distribution_name().empty();
    if (is_fixed && is_drawn) {
      validation.Add(path,
                     "has both a size and size_distribution_name; give one");
    } else if (!is_fixed && !is_drawn) {
      validation.Add(path,
                     "has no size; give size_with_unit, size or "
                     "size_distribution_name");
    }
    if (payload.has_size()) {
      validation.CheckRange(path.Field("size"), payload.size(), 0,
                            kMaxSizeBytes);
    }
    validation.ResolveOptional(path.Field("size_distribution_name"),
                               "size_distribution_configs entry",
                               payload.size_distribution_name(),
                               validation.names().size_distributions);
  }
}

}  // namespace distbench
