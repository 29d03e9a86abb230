#include "distbench/config/reading/config_format.h"

#include "distbench/base/named.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/reading/print_yaml.h"

namespace distbench::config {
namespace {

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

}  // namespace distbench::config
