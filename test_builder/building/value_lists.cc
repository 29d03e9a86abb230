#include "test_builder/building/value_lists.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test_builder/building/vocabulary.h"

namespace distbench::test_builder {
namespace {

constexpr size_t kMaxVariants = 10000;

// Keeps the last setting of each name.
std::vector<Setting> LastOfEachName(absl::Span<const Setting> settings) {
  std::vector<Setting> last;
  for (const Setting& setting : settings) {
    const auto same = std::find_if(
        last.begin(), last.end(),
        [&](const Setting& other) { return other.name == setting.name; });
    if (same == last.end()) {
      last.push_back(setting);
    } else {
      *same = setting;
    }
  }
  return last;
}

absl::StatusOr<std::vector<std::string>> SplitList(const Setting& setting) {
  std::vector<std::string> values = absl::StrSplit(setting.value, ',');
  for (const std::string& value : values) {
    if (value.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(setting.name, "=", setting.value,
                       ": a value between commas is empty"));
    }
  }
  return values;
}

// Combines the given variants with each value of the setting.
std::vector<SettingsVariant> Multiply(
    const std::vector<SettingsVariant>& variants, const std::string& name,
    const std::vector<std::string>& values) {
  std::vector<SettingsVariant> multiplied;
  for (const SettingsVariant& variant : variants) {
    for (const std::string& value : values) {
      SettingsVariant& added = multiplied.emplace_back(variant);
      added.settings[name] = value;
      if (values.size() > 1) added.varied.push_back(name);
    }
  }
  return multiplied;
}

bool MayBeList(const Setting& setting, const Vocabulary& vocabulary) {
  if (setting.from_file) return false;
  const Parameter* parameter = vocabulary.Find(setting.name);
  return parameter != nullptr && parameter->type != Parameter::Type::kText;
}

// Expands settings that name a single protocol.
absl::StatusOr<std::vector<SettingsVariant>> ExpandForOneProtocol(
    const std::vector<Setting>& settings) {
  ValueMap names;
  for (const Setting& setting : settings) names[setting.name] = setting.value;
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::For(names);
  if (!vocabulary.ok()) return vocabulary.status();

  std::vector<SettingsVariant> variants(1);
  for (const Setting& setting : settings) {
    absl::StatusOr<std::vector<std::string>> values =
        MayBeList(setting, *vocabulary)
            ? SplitList(setting)
            : std::vector<std::string>{setting.value};
    if (!values.ok()) return values.status();
    if (variants.size() * values->size() > kMaxVariants) {
      return absl::InvalidArgumentError(absl::StrCat(
          "its lists make more than ", kMaxVariants, " tests; shorten them"));
    }
    if (const Parameter* parameter = vocabulary->Find(setting.name)) {
      for (std::string& value : *values) value = PlainValue(*parameter, value);
    }
    variants = Multiply(variants, setting.name, *values);
  }
  return variants;
}

}  // namespace

absl::StatusOr<std::vector<SettingsVariant>> ExpandValueLists(
    absl::Span<const Setting> settings) {
  std::vector<Setting> last = LastOfEachName(settings);
  const auto protocol = std::find_if(
      last.begin(), last.end(),
      [](const Setting& setting) { return setting.name == kProtocolSetting; });
  if (protocol == last.end()) return ExpandForOneProtocol(last);

  const absl::StatusOr<std::vector<std::string>> names = SplitList(*protocol);
  if (!names.ok()) return names.status();
  std::vector<SettingsVariant> variants;
  for (const std::string& name : *names) {
    protocol->value = name;
    absl::StatusOr<std::vector<SettingsVariant>> added =
        ExpandForOneProtocol(last);
    if (!added.ok()) return added.status();
    for (SettingsVariant& variant : *added) {
      if (names->size() > 1) {
        variant.varied.insert(variant.varied.begin(), kProtocolSetting);
      }
      variants.push_back(std::move(variant));
    }
  }
  return variants;
}

}  // namespace distbench::test_builder
