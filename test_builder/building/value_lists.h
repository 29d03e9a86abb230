#ifndef DISTBENCH_TEST_BUILDER_BUILDING_VALUE_LISTS_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_VALUE_LISTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "test_builder/building/config_string.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// One combination of values, chosen from settings that may be lists.
struct SettingsVariant {
  ValueMap settings;

  // Parameters that differ between variants: the protocol, then the others in
  // the order in which they were written.
  std::vector<std::string> varied;
};

// Returns one variant per combination of the values of "name=value,value".
// Protocols vary slowest, and the last list fastest. If a setting is repeated,
// the last one counts. Only parameters of the pattern, the protocol and every
// test may be lists, and only if they are not free text; elsewhere a ',' is an
// ordinary character. The error says which list is wrong, or that the pattern
// or protocol is unknown.
absl::StatusOr<std::vector<SettingsVariant>> ExpandValueLists(
    absl::Span<const Setting> settings);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_VALUE_LISTS_H_
