// The CONFIG arguments of the command line, such as
// "clique:grpc:ipv4:node_count=4,8:extra_test_contents=<FILE".

#ifndef DISTBENCH_TEST_BUILDER_CONFIG_STRING_H_
#define DISTBENCH_TEST_BUILDER_CONFIG_STRING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench {

// Names of the settings that bare words stand for.
inline constexpr char kPatternSetting[] = "traffic_pattern";
inline constexpr char kProtocolSetting[] = "protocol_driver";
inline constexpr char kIpVersionSetting[] = "ip_version";

struct Setting {
  std::string name;
  std::string value;

  // The value came from a file, so that a ',' in it does not make a list.
  bool from_file = false;
};

// The settings in the order in which they were written; a name may occur
// several times. Reads the files of key=<file, relative to the working
// directory, without the line ends at their end. The error lists every part
// that is wrong, one per line.
absl::StatusOr<std::vector<Setting>> ParseConfig(absl::string_view config);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_CONFIG_STRING_H_
