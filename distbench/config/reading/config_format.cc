// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/config_format.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/base/named.h"
#include "distbench/config/reading/load.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

using ::distbench::base::Json;
using ::google::protobuf::Message;

// Whether no reader of YAML, of whichever version, could take the text for
// something else without quotes.
bool IsPlainText(absl::string_view text) {
  // Of numbers, dates, times, and dates with a time after a space.
  constexpr absl::string_view kNumberLike =
      "0123456789abcdefABCDEFxXoO_:.+-TZ ";
  const auto is_usual = [](char c) {
    return absl::ascii_isalnum(c) ||
           absl::StrContains("_-./+%@()=<>;^$|*&~ :,", c);
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_usual)) {
    return false;
  }
  const char first = text[0];
  if (!absl::ascii_isalnum(first) && first != '_' && first != '/') return false;
  if (text.back() == ' ' || text.back() == ':' ||
      absl::StrContains(text, ": ")) {
    return false;
  }
  if (absl::ascii_isdigit(first) &&
      text.find_first_not_of(kNumberLike) == absl::string_view::npos) {
    return false;
  }
  static constexpr absl::string_view kWords[] = {
      "true", "false", "yes", "no", "on", "off", "y", "n", "null"};
  return std::find(std::begin(kWords), std::end(kWords),
                   absl::AsciiStrToLower(text)) == std::end(kWords);
}

std::string YamlOfText(const std::string& text) {
  return IsPlainText(text) ? text : base::DumpJson(Json(text));
}

bool IsScalar(const Json& json) {
  return !json.is_structured() || json.empty();
}

std::string YamlOfScalar(const Json& json) {
  return json.is_string() ? YamlOfText(json.get<std::string>())
                          : base::DumpJson(json);
}

// Appends the lines of a map or a list that is not empty.
void AppendYaml(const Json& json, int indentation, std::string& yaml) {
  const std::string margin(indentation, ' ');
  if (json.is_array()) {
    for (const Json& item : json) {
      absl::StrAppend(&yaml, margin, "- ");
      if (IsScalar(item)) {
        absl::StrAppend(&yaml, YamlOfScalar(item), "\n");
        continue;
      }
      std::string lines;
      AppendYaml(item, indentation + 2, lines);
      // The first line has its margin already.
      yaml.append(lines, indentation + 2);
    }
    return;
  }
  for (const auto& [key, value] : json.items()) {
    absl::StrAppend(&yaml, margin, YamlOfText(key), ":");
    if (IsScalar(value)) {
      absl::StrAppend(&yaml, " ", YamlOfScalar(value), "\n");
    } else {
      yaml += '\n';
      AppendYaml(value, value.is_array() ? indentation : indentation + 2, yaml);
    }
  }
}

// ---- Formats ----------------------------------------------------------------

struct NamedFormat {
  ConfigFormat format;
  const char* name;
  const char* ending;
};

constexpr NamedFormat kFormats[] = {
    {ConfigFormat::kText, "text", ".config"},
    {ConfigFormat::kYaml, "yaml", ".yaml"},
    {ConfigFormat::kJson, "json", ".json"},
};

}  // namespace

std::vector<std::string> ConfigFormatNames() { return base::NamesOf(kFormats); }

std::optional<ConfigFormat> FindConfigFormat(absl::string_view name) {
  const NamedFormat* const found = base::FindNamed(kFormats, name);
  if (found == nullptr) return std::nullopt;
  return found->format;
}

std::string FileEnding(ConfigFormat format) {
  return kFormats[static_cast<int>(format)].ending;
}

std::string ToFormat(const TestSequence& sequence, ConfigFormat format) {
  switch (format) {
    case ConfigFormat::kText:
      return ToText(sequence);
    case ConfigFormat::kYaml:
      return ToYaml(sequence);
    case ConfigFormat::kJson:
      return ToJson(sequence);
  }
  return "";
}

std::string ToJson(const Message& message) {
  return base::DumpJson(base::MessageJson(message, base::JsonForm::kConfig),
                        2) +
         "\n";
}

std::string ToYaml(const Message& message) {
  const Json json =
      base::MessageJson(message, base::JsonForm::kConfigOfNumbers);
  if (IsScalar(json)) return YamlOfScalar(json) + "\n";
  std::string yaml;
  AppendYaml(json, 0, yaml);
  return yaml;
}

}  // namespace distbench::config
