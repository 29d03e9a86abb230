// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The formats in which programs write configs. All of them can be read
// (load.h).

#ifndef DISTBENCH_CONFIG_READING_CONFIG_FORMAT_H_
#define DISTBENCH_CONFIG_READING_CONFIG_FORMAT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

enum class ConfigFormat { kText, kYaml, kJson };

// All of them.
inline constexpr ConfigFormat kConfigFormats[] = {
    ConfigFormat::kText, ConfigFormat::kYaml, ConfigFormat::kJson};

// As flags take them: "text", "yaml", "json".
std::vector<std::string> ConfigFormatNames();

// Absent if no format has this name.
std::optional<ConfigFormat> FindConfigFormat(absl::string_view name);

// The end of the name of a file, such as ".yaml".
std::string FileEnding(ConfigFormat format);

// Equal sequences give equal texts.
std::string ToFormat(const TestSequence& sequence, ConfigFormat format);

// Messages as JSON or YAML, which ParseYaml() can read back. Both follow
// protobuf's JSON mapping, with the fields' own names. Fields that are not set
// are left out, names come first, and maps are in the order of their keys, so
// that equal messages give equal texts. Texts that are not UTF-8 have
// replacement characters.

// Indented by two spaces.
std::string ToJson(const google::protobuf::Message& message);

// One field a line. Numbers of 64 bits have no quotes, unlike in JSON, where
// other programs would round them.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_CONFIG_FORMAT_H_
