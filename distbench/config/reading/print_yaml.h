// Messages as YAML or JSON, which ParseYaml() can read back.

#ifndef DISTBENCH_CONFIG_READING_PRINT_YAML_H_
#define DISTBENCH_CONFIG_READING_PRINT_YAML_H_

#include <string>

namespace google::protobuf {
class Message;
}

namespace distbench::config {

// Both follow protobuf's JSON mapping, with the fields' own names. Fields that
// are not set are left out, names come first, and maps are in the order of
// their keys, so that equal messages give equal texts. Texts that are not UTF-8
// have replacement characters.

// Indented by two spaces.
std::string ToJson(const google::protobuf::Message& message);

// One field a line. Numbers of 64 bits have no quotes, unlike in JSON, where
// other programs would round them.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_PRINT_YAML_H_
