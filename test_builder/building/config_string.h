// Parses CONFIG arguments of the command line, such as
// "clique:{grpc,tcp}:ipv4:node_count=4,8:extra_test_contents=<FILE".

#ifndef DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_STRING_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_STRING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::test_builder {

// Names of the settings that bare words set.
inline constexpr char kPatternSetting[] = "traffic_pattern";
inline constexpr char kProtocolSetting[] = "protocol_driver";
inline constexpr char kIpVersionSetting[] = "ip_version";

struct Setting {
  std::string name;
  std::string value;

  // The value came from a file, so a ',' in it does not separate values.
  bool from_file = false;
};

// Returns the settings in the order in which they were written; a name may
// appear several times. Reads the files of key=<file, relative to the working
// directory, and strips trailing line ends. The error lists every invalid part,
// one per line.
absl::StatusOr<std::vector<Setting>> ParseConfig(absl::string_view config);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_CONFIG_STRING_H_
