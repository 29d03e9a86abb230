#include "test_builder/building/vocabulary.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/named.h"
#include "distbench/config/problems/suggest.h"
#include "test_builder/building/config_string.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {
namespace {

constexpr int kMaxTypingErrors = 2;

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
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no pattern ", config::Quoted(pattern_name->second), "; ",
        config::Suggestion(pattern_name->second, PatternNames())));
  }
  const auto found = settings.find(kProtocolSetting);
  const std::string protocol_name =
      found == settings.end() ? kDefaultProtocol : found->second;
  const Protocol* protocol = FindProtocol(protocol_name);
  if (protocol == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no protocol ", config::Quoted(protocol_name),
                     "; ", config::Suggestion(protocol_name, ProtocolNames())));
  }
  return Vocabulary(*pattern, *protocol);
}

Vocabulary::Vocabulary(const Pattern& pattern, const Protocol& protocol)
    : pattern_(&pattern),
      protocol_(&protocol),
      parameters_(
          Joined({pattern.parameters,
                  protocol.parameters,
                  CommonParameters(),
                  {ChoiceParameter(kPatternSetting, pattern.name,
                                   {pattern.name}, "The pattern."),
                   ChoiceParameter(kProtocolSetting, protocol.name,
                                   {protocol.name}, "The protocol.")}})) {}

std::optional<std::string> Vocabulary::MeantBy(absl::string_view name) const {
  const Parameter* closest = nullptr;
  int least = kMaxTypingErrors + 1;
  for (const Parameter& parameter : parameters_) {
    const int distance = config::EditDistance(name, parameter.name);
    if (distance < least) {
      least = distance;
      closest = &parameter;
    }
  }
  if (closest == nullptr) return std::nullopt;
  return closest->name;
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
  for (const Pattern& pattern : AllPatterns()) {
    if (base::FindNamed(pattern.parameters, name))
      owners.push_back(pattern.name);
  }
  for (const Protocol& protocol : AllProtocols()) {
    if (base::FindNamed(protocol.parameters, name))
      owners.push_back(protocol.name);
  }
  return absl::StrJoin(owners, ", ");
}

}  // namespace distbench::test_builder
