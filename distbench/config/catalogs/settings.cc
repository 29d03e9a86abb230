#include "distbench/config/catalogs/settings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

const SettingDeclaration* Find(const SettingsDeclaration& declaration,
                               const std::string& name) {
  for (const SettingDeclaration& setting : declaration.settings) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
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
  problems.Add(path, absl::StrCat(Quoted(value), " is not a valid value; ",
                                  "must be one of ", QuotedList(allowed)));
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
  std::vector<std::string> known;
  for (const SettingDeclaration& setting : declaration.settings) {
    known.push_back(setting.name);
  }
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

}  // namespace

void ValidateSettings(const Path& path, const NamedSettings& settings,
                      const SettingsDeclaration& declaration,
                      const std::string& owner, Problems& problems) {
  std::set<std::string> given;
  for (int i = 0; i < settings.size(); ++i) {
    const NamedSetting& setting = settings[i];
    const std::string& name = setting.name();
    if (name.empty()) {
      problems.Add(path.At(i).Field("name"), "is missing; name the setting");
      continue;
    }
    if (!given.insert(name).second) {
      problems.Add(path.At(i), absl::StrCat("setting ", Quoted(name),
                                            " is given more than once; "
                                            "remove all but one"));
      continue;
    }
    const SettingDeclaration* const known = Find(declaration, name);
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
    problems.Add(path, absl::StrCat("setting ", Quoted(setting.name),
                                    " is missing; ", owner, " needs it"));
  }
}

std::map<std::string, SettingValue> ResolveSettings(
    const NamedSettings& settings, const SettingsDeclaration& declaration) {
  std::map<std::string, SettingValue> resolved;
  for (const SettingDeclaration& setting : declaration.settings) {
    resolved[setting.name] = setting.default_value;
  }
  for (const NamedSetting& setting : settings) {
    const std::string& name = setting.name();
    if (Find(declaration, name) == nullptr &&
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
  const SettingDeclaration* const known = Find(declaration, name);
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

void CheckedSettings::Add(const std::string& name, std::string message) const {
  problems_.Add(path_.At(name), std::move(message));
}

}  // namespace distbench::config
