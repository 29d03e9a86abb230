// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/settings.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/named.h"
#include "distbench/config/problems/suggest.h"
#include "proto/catalogs.pb.h"
#include "proto/rules.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;

bool HasMoreRules(const catalog::SettingOptions& options) {
  return options.has_multiple_of() || options.has_absolute_path() ||
         !options.at_most().empty() || options.has_only_with() ||
         !options.only_if().empty() || !options.product().empty();
}

SettingDeclaration SettingOf(const FieldDescriptor& field) {
  const FieldRules& rules = field.options().GetExtension(distbench::rules);
  SettingDeclaration setting;
  setting.name = field.name();
  const catalog::SettingOptions& options =
      field.options().GetExtension(catalog::setting);
  setting.description = options.about();
  if (HasMoreRules(options)) setting.options = &options;
  setting.required = rules.required();
  setting.needs_network = options.needs_network();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    setting.default_value = field.default_value_string();
    setting.allowed_values.assign(rules.words().begin(), rules.words().end());
  } else {
    setting.default_value = int64_t{field.default_value_int64()};
    setting.minimum = rules.min();
    if (rules.has_max()) setting.maximum = rules.max();
  }
  return setting;
}

bool PassesThrough(const SettingsDeclaration& declaration,
                   const std::string& name) {
  const std::string& prefix = declaration.pass_through_prefix;
  return !prefix.empty() && name.size() > prefix.size() &&
         absl::StartsWith(name, prefix);
}

int64_t PassThroughMaximum(const SettingsDeclaration& declaration,
                           const std::string& name) {
  const auto known = declaration.pass_through_maxima.find(name);
  return known == declaration.pass_through_maxima.end()
             ? std::numeric_limits<int32_t>::max()
             : known->second;
}

bool IsString(const SettingDeclaration& setting) {
  return std::holds_alternative<std::string>(setting.default_value);
}

void ValidateString(const Path& path, const std::string& value,
                    const SettingDeclaration& declaration, Problems& problems) {
  const std::vector<std::string>& allowed = declaration.allowed_values;
  if (allowed.empty()) {
    if (declaration.required && value.empty()) {
      problems.Add(path, "must not be empty");
    }
    return;
  }
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  problems.Add(path, Quoted(value), " is not a valid value; ",
               "must be one of ", QuotedList(allowed));
}

// A setting is either a string or a number. Returns whether this one is exactly
// one of them.
bool ValidateKind(const Path& path, const NamedSetting& setting,
                  Problems& problems) {
  if (setting.has_string_value() && setting.has_int64_value()) {
    problems.Add(path, "has both string_value and int64_value; give one");
    return false;
  }
  if (!setting.has_string_value() && !setting.has_int64_value()) {
    problems.Add(path, "has no value; give string_value or int64_value");
    return false;
  }
  return true;
}

void ValidateSetting(const Path& path, const NamedSetting& setting,
                     const SettingDeclaration& declaration,
                     Problems& problems) {
  if (IsString(declaration)) {
    if (setting.has_string_value()) {
      ValidateString(path, setting.string_value(), declaration, problems);
    } else {
      problems.Add(path, "is a string; give string_value, not int64_value");
    }
    return;
  }
  if (setting.has_int64_value()) {
    CheckRange(path, setting.int64_value(), declaration.minimum,
               declaration.maximum, problems);
  } else {
    problems.Add(path, "is a number; give int64_value, not string_value");
  }
}

std::string UnknownSetting(const std::string& name,
                           const SettingsDeclaration& declaration,
                           const std::string& owner) {
  if (const auto refused = declaration.refused.find(name);
      refused != declaration.refused.end()) {
    return absl::StrCat(owner, " cannot have the setting ", Quoted(name), ": ",
                        refused->second);
  }
  const std::vector<std::string> known = base::NamesOf(declaration.settings);
  std::string message =
      absl::StrCat(owner, " has no setting ", Quoted(name), " here; ");
  if (const auto closest = ClosestName(name, known)) {
    absl::StrAppend(&message, "did you mean ", Quoted(*closest), "? ");
  }
  if (known.empty()) {
    absl::StrAppend(&message, "it has none");
  } else {
    absl::StrAppend(&message, "it has ", QuotedList(known, 100));
  }
  if (!declaration.pass_through_prefix.empty()) {
    absl::StrAppend(&message, " and names that begin with ",
                    Quoted(declaration.pass_through_prefix));
  }
  return message;
}

// ---- With other settings ----

// The rules of settings that are right by themselves.
class RulesCheck {
 public:
  RulesCheck(const SettingDeclaration& setting, const CheckedSettings& all)
      : name_(setting.name), options_(*setting.options), all_(all) {}

  void CheckText() const {
    const std::string text = all_.Text(name_);
    if (!options_.absolute_path() || absl::StartsWith(text, "/")) return;
    all_.Add(name_, Quoted(text),
             " is not an absolute path, and engines have no directory of their "
             "own; begin with \"/\"");
  }

  void CheckNumber() const {
    const int64_t number = all_.Number(name_);
    if (options_.has_multiple_of() && number % options_.multiple_of() != 0) {
      all_.Add(name_, number, " is not a multiple of ", options_.multiple_of(),
               "; round it");
    }
    for (const std::string& whole : options_.at_most()) {
      CheckAtMost(number, whole);
    }
    if (number > 0) CheckOnlyIf();
    CheckProducts(number);
  }

  void CheckOnlyWith() const {
    const catalog::SettingOptions::Value& with = options_.only_with();
    if (!options_.has_only_with() || !all_.IsGiven(name_) ||
        all_.Text(with.setting()) == with.value()) {
      return;
    }
    all_.Add(name_, "has no effect, because ", with.setting(), " is ",
             Quoted(all_.Text(with.setting())), "; remove it, or use ",
             Quoted(with.value()));
  }

 private:
  void CheckAtMost(int64_t number, const std::string& whole) const {
    const int64_t most = all_.Number(whole);
    if (most == 0 || number <= most) return;
    std::string message =
        absl::StrCat(number, " is more than ", whole, ", ", most,
                     "; make it smaller, or ", whole, " larger");
    if (options_.has_zero()) {
      absl::StrAppend(&message, ", or 0 for ", options_.zero());
    }
    all_.Add(name_, std::move(message));
  }

  void CheckOnlyIf() const {
    if (absl::c_all_of(options_.only_if(), [&](const std::string& other) {
          return all_.Number(other) != 0;
        })) {
      return;
    }
    const std::string others = absl::StrJoin(options_.only_if(), " and ");
    all_.Add(name_, "has no effect without ", others, "; remove it, or raise ",
             others);
  }

  void CheckProducts(int64_t number) const {
    for (const catalog::SettingOptions::Product& rule : options_.product()) {
      int64_t product = number;
      std::vector<std::string> factors;
      for (const std::string& factor : rule.times()) {
        product *= all_.Number(factor);
        factors.push_back(factor == name_ ? "squared"
                                          : absl::StrCat("times ", factor));
      }
      if (product <= rule.at_most()) continue;
      all_.Add(name_, absl::StrJoin(factors, " "), " is more than ",
               rule.at_most(), rule.has_of() ? " " : "", rule.of(),
               "; make one of them smaller");
      return;
    }
  }

  const std::string& name_;
  const catalog::SettingOptions& options_;
  const CheckedSettings& all_;
};

void CheckTogether(const SettingsDeclaration& declaration,
                   const CheckedSettings& all) {
  for (const SettingDeclaration& setting : declaration.settings) {
    if (setting.options == nullptr) continue;
    const RulesCheck check(setting, all);
    if (IsString(setting)) {
      check.CheckText();
    } else {
      check.CheckNumber();
    }
    check.CheckOnlyWith();
  }
}

bool HasOptions(const SettingDeclaration& setting) {
  return setting.options != nullptr;
}

}  // namespace

std::vector<SettingDeclaration> SettingsOf(const Descriptor& type) {
  std::vector<SettingDeclaration> settings;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type() == nullptr) {
      settings.push_back(SettingOf(field));
    } else {
      absl::c_move(SettingsOf(*field.message_type()),
                   std::back_inserter(settings));
    }
  }
  return settings;
}

const SettingDeclaration* FindSetting(const SettingsDeclaration& declaration,
                                      absl::string_view name) {
  return base::FindNamed(declaration.settings, name);
}

bool ValidateSettings(const Path& path, const NamedSettings& settings,
                      const SettingsDeclaration& declaration,
                      const std::string& owner, Problems& problems) {
  const int64_t problems_before = problems.count();
  std::set<std::string> given;
  for (int i = 0; i < settings.size(); ++i) {
    const NamedSetting& setting = settings[i];
    const std::string& name = setting.name();
    if (name.empty()) {
      problems.Add(path.At(i).Field("name"), "is missing; name the setting");
      continue;
    }
    if (!given.insert(name).second) {
      problems.Add(path.At(i), "setting ", Quoted(name),
                   " is given more than once; remove all but one");
      continue;
    }
    const SettingDeclaration* const known = FindSetting(declaration, name);
    if (known == nullptr && !PassesThrough(declaration, name)) {
      problems.Add(path.At(name), UnknownSetting(name, declaration, owner));
    } else if (!ValidateKind(path.At(name), setting, problems)) {
      continue;
    } else if (known != nullptr) {
      ValidateSetting(path.At(name), setting, *known, problems);
    } else {
      CheckRange(path.At(name), setting.int64_value(),
                 std::numeric_limits<int32_t>::min(),
                 PassThroughMaximum(declaration, name), problems);
    }
  }
  for (const SettingDeclaration& setting : declaration.settings) {
    if (!setting.required || given.count(setting.name) > 0) continue;
    problems.Add(path, "setting ", Quoted(setting.name), " is missing; ", owner,
                 " needs it");
  }
  if (problems.count() > problems_before) return false;
  if (absl::c_any_of(declaration.settings, HasOptions)) {
    CheckTogether(declaration,
                  CheckedSettings(path, settings, declaration, problems));
  }
  return true;
}

std::map<std::string, SettingValue> ResolveSettings(
    const NamedSettings& settings, const SettingsDeclaration& declaration) {
  std::map<std::string, SettingValue> resolved;
  for (const SettingDeclaration& setting : declaration.settings) {
    resolved[setting.name] = setting.default_value;
  }
  for (const NamedSetting& setting : settings) {
    const std::string& name = setting.name();
    if (FindSetting(declaration, name) == nullptr &&
        !PassesThrough(declaration, name)) {
      continue;
    }
    if (setting.has_string_value()) {
      resolved[name] = setting.string_value();
    } else {
      resolved[name] = setting.int64_value();
    }
  }
  return resolved;
}

std::string StringSetting(const NamedSettings& settings,
                          const SettingsDeclaration& declaration,
                          const std::string& name) {
  for (const NamedSetting& setting : settings) {
    if (setting.name() == name) return setting.string_value();
  }
  const SettingDeclaration* const known = FindSetting(declaration, name);
  if (known == nullptr || !IsString(*known)) return "";
  return std::get<std::string>(known->default_value);
}

std::string CheckedSettings::Text(const std::string& name) const {
  return std::get<std::string>(all_.at(name));
}

int64_t CheckedSettings::Number(const std::string& name) const {
  return std::get<int64_t>(all_.at(name));
}

bool CheckedSettings::IsGiven(absl::string_view name) const {
  return absl::c_any_of(given_, [name](const NamedSetting& setting) {
    return setting.name() == name;
  });
}

}  // namespace distbench::config
