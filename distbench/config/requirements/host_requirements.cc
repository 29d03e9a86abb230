// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/requirements/host_requirements.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/named.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/problems/suggest.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "proto/catalogs.pb.h"

namespace distbench::config {
namespace {

// ---- The values of a host, as text; nothing if it does not report them ------

using Value = HostFact::Value;

Value Text(bool is_known, const std::string& value) {
  return is_known ? Value(value) : std::nullopt;
}

// The field with this number: a text, a number, or a switch that is on or off.
template <int kNumber>
Value Field(const HostFacts& host) {
  using google::protobuf::FieldDescriptor;
  const auto& field = *host.GetDescriptor()->FindFieldByNumber(kNumber);
  const auto& reflection = *host.GetReflection();
  if (!reflection.HasField(host, &field)) return std::nullopt;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(host, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(host, &field) ? "on" : "off";
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(reflection.GetInt32(host, &field));
    default:
      return absl::StrCat(reflection.GetInt64(host, &field));
  }
}

// Without the name of the system: "6.1.0-18-amd64" of "Linux 6.1.0-18-amd64
// x86_64".
Value KernelRelease(const HostFacts& host) {
  const std::vector<std::string> words = absl::StrSplit(host.kernel(), ' ');
  return Text(words.size() >= 2, words.size() >= 2 ? words[1] : "");
}

// A host without states that could be disabled has a driver called "none", or
// does not report anything.
Value DeepestIdleState(const HostFacts& host) {
  if (host.idle_states().empty()) {
    return Text(host.has_idle_driver(), "none");
  }
  return *host.idle_states().rbegin();
}

// "on" if there is a mitigation for every vulnerability that affects the CPU,
// "off" if there is for none, otherwise "partial". L1TF has one that costs
// nothing and is never off. Entries like "KVM: ..." only concern guests.
Value Mitigations(const HostFacts& host) {
  if (host.mitigations().empty()) return std::nullopt;
  int mitigated = 0;
  int vulnerable = 0;
  for (const auto& [name, state] : host.mitigations()) {
    if (name == "l1tf") continue;
    mitigated += absl::StartsWith(state, "Mitigation");
    vulnerable += absl::StartsWith(state, "Vulnerable");
  }
  if (vulnerable == 0) return "on";
  return mitigated == 0 ? "off" : "partial";
}

Value ControlGroups(const HostFacts& host) {
  return Text(host.has_control_groups(),
              absl::StrCat(host.control_groups().version()));
}

// Those that the node manager may use.
Value Controllers(const HostFacts& host) {
  return Text(host.has_control_groups(),
              absl::StrJoin(host.control_groups().controllers(), ","));
}

// ---- The facts --------------------------------------------------------------

using Rule = HostFact::Rule;

struct CoreFact {
  absl::string_view name;
  Value (*value)(const HostFacts& host);
  Rule rule = Rule::kEqual;
};

// Those of proto/catalogs.proto.
constexpr CoreFact kCoreFacts[] = {
    {"control_groups", ControlGroups},
    {"controllers", Controllers, Rule::kIncludes},
    {"cpu_boost", Field<HostFacts::kIsCpuBoostEnabledFieldNumber>},
    {"cpu_frequency_governor",
     Field<HostFacts::kCpuFrequencyGovernorFieldNumber>},
    {"cpu_model", Field<HostFacts::kCpuModelFieldNumber>, Rule::kContains},
    {"deepest_idle_state", DeepestIdleState},
    {"default_queueing_discipline",
     Field<HostFacts::kDefaultQueueingDisciplineFieldNumber>},
    {"kernel", KernelRelease, Rule::kVersion},
    {"min_cpus", Field<HostFacts::kCpuCountFieldNumber>, Rule::kAtLeast},
    {"min_memory_bytes", Field<HostFacts::kMemoryBytesFieldNumber>,
     Rule::kAtLeast},
    {"mitigations", Mitigations},
    {"smt", Field<HostFacts::kIsSmtActiveFieldNumber>},
    {"tcp_congestion_control",
     Field<HostFacts::kTcpCongestionControlFieldNumber>},
    {"tcp_ecn_mode", Field<HostFacts::kTcpEcnModeFieldNumber>},
    {"transparent_huge_pages",
     Field<HostFacts::kTransparentHugePagesFieldNumber>},
};

// All facts, by name.
using Facts = std::map<std::string, HostFact>;

Facts CollectFacts() {
  Facts facts;
  for (const SettingDeclaration& declaration :
       SettingsOf(*catalog::RequiredFacts::descriptor())) {
    const CoreFact* const fact = base::FindNamed(kCoreFacts, declaration.name);
    CHECK(fact != nullptr) << declaration.name;
    facts.emplace(declaration.name,
                  HostFact{declaration, fact->value, fact->rule});
  }
  for (const auto& [name, fact] : base::Plugins<HostFact>::All()) {
    facts.emplace(name, *fact);
  }
  return facts;
}

const Facts& AllFacts() {
  static const auto* const facts = new Facts(CollectFacts());
  return *facts;
}

const HostFact* FindFact(const std::string& name) {
  const auto found = AllFacts().find(name);
  return found == AllFacts().end() ? nullptr : &found->second;
}

SettingsDeclaration Declarations() {
  SettingsDeclaration declarations;
  for (const auto& [name, fact] : AllFacts()) {
    declarations.settings.push_back(fact.declaration);
  }
  return declarations;
}

// ---- Comparison -------------------------------------------------------------

bool IsEqual(const std::string& value, const std::string& wanted) {
  return value == wanted;
}

bool Contains(const std::string& value, const std::string& wanted) {
  return absl::StrContains(value, wanted);
}

// "6.1" stands for "6.1" and "6.1.90", but not for "6.12".
bool IsVersion(const std::string& value, const std::string& wanted) {
  absl::string_view rest = value;
  return absl::ConsumePrefix(&rest, wanted) &&
         (rest.empty() || !absl::ascii_isdigit(rest[0]) ||
          !absl::ascii_isdigit(wanted.back()));
}

bool IsAtLeast(const std::string& value, const std::string& wanted) {
  int64_t number = 0;
  int64_t minimum = 0;
  return absl::SimpleAtoi(value, &number) &&
         absl::SimpleAtoi(wanted, &minimum) && number >= minimum;
}

// Whether all of the wanted parts are there; both are lists with commas.
bool Includes(const std::string& value, const std::string& wanted) {
  const std::set<absl::string_view> parts = absl::StrSplit(value, ',');
  for (const absl::string_view part : absl::StrSplit(wanted, ',')) {
    if (!parts.contains(absl::StripAsciiWhitespace(part))) return false;
  }
  return true;
}

// What the test requires, before the value, and whether a host has it.
struct Comparison {
  absl::string_view demand;
  bool (*is_met)(const std::string& value, const std::string& wanted);
};

// By HostFact::Rule.
constexpr Comparison kComparisons[] = {{"", IsEqual},
                                       {"at least ", IsAtLeast},
                                       {"a name that contains ", Contains},
                                       {"all of ", Includes},
                                       {"version ", IsVersion}};

Value WhyUnmet(const HostFact& fact, const NamedSetting& setting,
               const HostFacts& host) {
  const bool is_text = setting.has_string_value();
  const std::string wanted =
      is_text ? setting.string_value() : absl::StrCat(setting.int64_value());
  const auto shown = [is_text](const std::string& value) {
    return is_text ? Quoted(value) : value;
  };
  const Value value = fact.value(host);
  const Comparison& comparison = kComparisons[static_cast<int>(fact.rule)];
  if (value && !wanted.empty() && comparison.is_met(*value, wanted)) {
    return std::nullopt;
  }
  return absl::StrCat(
      setting.name(), " is ", value ? shown(*value) : "not known",
      ", but the test requires ", comparison.demand, shown(wanted));
}

}  // namespace

void ValidateHostRequirements(const Path& path,
                              const HostRequirements& requirements,
                              Problems& problems) {
  const Path facts = path.Field("facts");
  ValidateSettings(facts, requirements.facts(), Declarations(), "a host",
                   problems);
  for (const NamedSetting& setting : requirements.facts()) {
    const HostFact* const fact = FindFact(setting.name());
    if (fact == nullptr || !fact->declaration.allowed_values.empty()) continue;
    if (setting.has_string_value() && setting.string_value().empty()) {
      problems.Add(facts.At(setting.name()),
                   "must not be empty; give the value that hosts must have");
    }
  }
}

std::vector<std::string> UnmetRequirements(const HostRequirements& requirements,
                                           const HostFacts& host) {
  std::vector<std::string> unmet;
  for (const NamedSetting& setting : requirements.facts()) {
    const HostFact* const fact = FindFact(setting.name());
    if (fact == nullptr) {
      unmet.push_back(
          absl::StrCat(Quoted(setting.name()), " is not a fact about hosts"));
    } else if (Value why = WhyUnmet(*fact, setting, host)) {
      unmet.push_back(*std::move(why));
    }
  }
  return unmet;
}

}  // namespace distbench::config
