#ifndef DISTBENCH_TEST_BUILDER_VALUE_LISTS_H_
#define DISTBENCH_TEST_BUILDER_VALUE_LISTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "test_builder/config_string.h"
#include "test_builder/parameter.h"

namespace distbench {

// One way to read settings of which some are lists.
struct SettingsVariant {
  ValueMap settings;

  // Parameters that have another value in other variants: the protocol, then
  // the others in the order in which they were written.
  std::vector<std::string> varied;
};

// One variant per combination of the values of "name=value,value": protocols
// vary slowest, and the last list fastest. Of settings with the same name the
// last one counts. Only parameters of the pattern, the protocol and every test
// may be lists, and only those that are no free text: in other settings a ','
// is a character like any other. The error says which list is wrong, or that
// the pattern or protocol is unknown.
absl::StatusOr<std::vector<SettingsVariant>> ExpandValueLists(
    absl::Span<const Setting> settings);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_VALUE_LISTS_H_
