// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/building/config_string.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "distbench/base/files.h"
#include "distbench/config/problems/suggest.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {
namespace {

absl::Status Error(absl::string_view part, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(config::Quoted(part), ": ", problem));
}

std::vector<std::string> BareWords() {
  std::vector<std::string> words = PatternNames();
  for (std::string& name : ProtocolNames()) words.push_back(std::move(name));
  words.insert(words.end(), {"ipv4", "ipv6"});
  return words;
}

absl::StatusOr<Setting> ParseBareWord(absl::string_view word) {
  if (FindPattern(word) != nullptr) {
    return Setting{kPatternSetting, std::string(word)};
  }
  if (FindProtocol(word) != nullptr) {
    return Setting{kProtocolSetting, std::string(word)};
  }
  if (word == "ipv4") return Setting{kIpVersionSetting, "4"};
  if (word == "ipv6") return Setting{kIpVersionSetting, "6"};
  return Error(word,
               absl::StrCat("neither KEY=VALUE nor a pattern, a protocol, "
                            "ipv4 or ipv6; ",
                            config::Suggestion(word, BareWords())));
}

// "{WORD,WORD,...}": one test for each of the words.
absl::StatusOr<Setting> ParseBraces(absl::string_view part) {
  if (part.size() < 2 || part.back() != '}') {
    return Error(part, "the '{' has no '}' at the end of this part");
  }
  Setting list;
  for (absl::string_view word :
       absl::StrSplit(part.substr(1, part.size() - 2), ',')) {
    const absl::StatusOr<Setting> setting = ParseBareWord(word);
    if (!setting.ok()) return Error(part, setting.status().message());
    const bool is_first = list.name.empty();
    if (setting->name == kPatternSetting ||
        (!is_first && setting->name != list.name)) {
      return Error(part,
                   "braces hold either protocols, or ipv4 and ipv6; separate "
                   "patterns by blanks");
    }
    list.name = setting->name;
    absl::StrAppend(&list.value, is_first ? "" : ",", setting->value);
  }
  return list;
}

bool IsName(absl::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(name[0]) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
         });
}

// Whether the value is JSON, such as a request, or begins with an address of
// IPv6.
bool IsBracketed(absl::string_view value) {
  return absl::StartsWith(value, "{") || absl::StartsWith(value, "[");
}

// Whether the value has a bracket that is not closed. Those in the texts of
// JSON do not count.
bool IsOpen(absl::string_view value) {
  int depth = 0;
  bool is_text = false;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (is_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_text = !is_text;
    } else if (!is_text) {
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    }
  }
  return depth > 0;
}

absl::StatusOr<Setting> ParsePart(absl::string_view part) {
  if (absl::StartsWith(part, "{")) return ParseBraces(part);
  const size_t equals = part.find('=');
  if (equals == part.npos) return ParseBareWord(part);
  Setting setting{std::string(part.substr(0, equals)),
                  std::string(part.substr(equals + 1))};
  if (!IsName(setting.name)) {
    return Error(part,
                 "the name before '=' must consist of letters, digits, "
                 "'_', '-' and '.', and not begin with a digit");
  }
  if (absl::StrContains(setting.value, "=") && !IsBracketed(setting.value)) {
    return Error(part,
                 "a value cannot contain '=', unless it is JSON; put it into a "
                 "file and write KEY=<FILE");
  }
  if (absl::StartsWith(setting.value, "<")) {
    absl::StatusOr<std::string> contents =
        base::ReadFile(setting.value.substr(1));
    if (!contents.ok()) return Error(part, contents.status().message());
    contents->erase(contents->find_last_not_of('\n') + 1);
    setting.value = *std::move(contents);
    setting.from_file = true;
  }
  if (setting.value.empty()) {
    return Error(part,
                 "the value is empty; leave the setting out to get its "
                 "default");
  }
  return setting;
}

// More than one pattern is a mistake. Other settings may be repeated, to
// override a prefix.
absl::Status CheckOnePattern(const std::vector<Setting>& settings) {
  const std::string* pattern = nullptr;
  for (const Setting& setting : settings) {
    if (setting.name != kPatternSetting) continue;
    if (pattern != nullptr && *pattern != setting.value) {
      return absl::InvalidArgumentError(
          absl::StrCat("two patterns, ", *pattern, " and ", setting.value,
                       "; a test has one: separate CONFIGs by blanks"));
    }
    pattern = &setting.value;
  }
  return absl::OkStatus();
}

// Whether "NAME=VALUE" goes on after the ':' before `next`: before digits, as
// in "arrivals=gamma:3", before '/', as in "dns:///HOST", and between brackets.
// A bare word never begins so.
bool GoesOn(absl::string_view part, absl::string_view next) {
  const size_t equals = part.find('=');
  if (equals == part.npos) return false;
  const absl::string_view value = part.substr(equals + 1);
  if (IsBracketed(value) && IsOpen(value)) return true;
  return !next.empty() && (absl::ascii_isdigit(next[0]) || next[0] == '/') &&
         !absl::StrContains(next, '=');
}

std::vector<std::string> SplitParts(absl::string_view config) {
  std::vector<std::string> parts;
  for (absl::string_view part : absl::StrSplit(config, ':')) {
    if (!parts.empty() && GoesOn(parts.back(), part)) {
      absl::StrAppend(&parts.back(), ":", part);
    } else {
      parts.emplace_back(part);
    }
  }
  return parts;
}

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

bool MayBeList(const Setting& setting, const Vocabulary& vocabulary) {
  if (setting.from_file) return false;
  const Parameter* parameter = vocabulary.Find(setting.name);
  return parameter != nullptr && parameter->type() != Parameter::TEXT;
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
    if (values->size() == 1) {
      for (SettingsVariant& variant : variants) {
        variant.settings[setting.name] = values->front();
      }
    } else {
      variants = Multiply(variants, {setting.name}, *values);
    }
  }
  return variants;
}

}  // namespace

absl::StatusOr<std::vector<Setting>> ParseConfig(absl::string_view config) {
  std::vector<Setting> settings;
  std::vector<std::string> problems;
  for (const std::string& part : SplitParts(config)) {
    absl::StatusOr<Setting> setting = ParsePart(part);
    if (setting.ok()) {
      settings.push_back(*std::move(setting));
    } else {
      problems.push_back(std::string(setting.status().message()));
    }
  }
  absl::Status status = ToStatus(problems);
  if (status.ok()) status = CheckOnePattern(settings);
  if (!status.ok()) return status;
  return settings;
}

std::vector<SettingsVariant> Multiply(
    const std::vector<SettingsVariant>& variants,
    const std::vector<std::string>& names,
    const std::vector<std::string>& values) {
  std::vector<SettingsVariant> multiplied;
  for (const SettingsVariant& variant : variants) {
    for (const std::string& value : values) {
      SettingsVariant& added = multiplied.emplace_back(variant);
      for (const std::string& name : names) {
        added.settings[name] = value;
        added.varied.push_back(name);
      }
    }
  }
  return multiplied;
}

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

namespace {

constexpr int kMaxTypingErrors = 2;

absl::Status NoSuch(absl::string_view kind, absl::string_view name,
                    const std::vector<std::string>& names) {
  return absl::InvalidArgumentError(
      absl::StrCat("there is no ", kind, " ", config::Quoted(name), "; ",
                   config::Suggestion(name, names)));
}

// Of a bare word, which has one value.
Parameter NamingParameter(const std::string& name, const std::string& value) {
  return ParameterFrom(absl::Substitute(
      R"(name: "$0" type: CHOICE choices: "$1" default_value: "$1")", name,
      value));
}

}  // namespace

absl::StatusOr<Vocabulary> Vocabulary::For(const ValueMap& settings) {
  const auto pattern_name = settings.find(kPatternSetting);
  if (pattern_name == settings.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("names no pattern; must contain one of ",
                     absl::StrJoin(PatternNames(), ", ")));
  }
  const Pattern* pattern = FindPattern(pattern_name->second);
  if (pattern == nullptr) {
    return NoSuch("pattern", pattern_name->second, PatternNames());
  }
  const auto found = settings.find(kProtocolSetting);
  const std::string protocol_name =
      found == settings.end() ? kDefaultProtocol : found->second;
  const Protocol* protocol = FindProtocol(protocol_name);
  if (protocol == nullptr) {
    return NoSuch("protocol", protocol_name, ProtocolNames());
  }
  return Vocabulary(*pattern, *protocol);
}

Vocabulary::Vocabulary(const Pattern& pattern, const Protocol& protocol)
    : pattern_(&pattern),
      protocol_(&protocol),
      parameters_(Joined(pattern.parameters(), protocol.parameters(),
                         CommonParameters())) {
  parameters_.push_back(NamingParameter(kPatternSetting, pattern.name()));
  parameters_.push_back(NamingParameter(kProtocolSetting, protocol.name()));
}

std::optional<std::string> Vocabulary::MeantBy(absl::string_view name) const {
  const Parameter* closest = nullptr;
  int least = kMaxTypingErrors + 1;
  for (const Parameter& parameter : parameters_) {
    const int distance = config::EditDistance(name, parameter.name());
    if (distance < least) {
      least = distance;
      closest = &parameter;
    }
  }
  if (closest == nullptr) return std::nullopt;
  return closest->name();
}

bool IsDerived(absl::string_view name) {
  for (absl::string_view derived :
       {"config_label", "ip_version_string", "protocol_alias",
        "swept_parameter", "test_name", "traffic_alias"}) {
    if (name == derived) return true;
  }
  return false;
}

std::string WhereKnown(absl::string_view name) {
  std::vector<std::string> owners;
  const auto add = [&](const auto& all) {
    for (const auto& each : all) {
      if (FindByName(each.parameters(), name)) owners.push_back(each.name());
    }
  };
  add(AllPatterns());
  add(AllProtocols());
  return absl::StrJoin(owners, ", ");
}

}  // namespace distbench::test_builder
