// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/help.h"

#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/flags.h"
#include "test_builder/command_line.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {
namespace {

// The parameters of the patterns and the protocol that a CONFIG names, and of
// every test.
std::vector<Parameter> ParametersOf(const std::string& config) {
  std::vector<Parameter> parameters;
  const Protocol* protocol = FindProtocol(kDefaultProtocol);
  for (absl::string_view part : absl::StrSplit(config, ':')) {
    if (const Pattern* pattern = FindPattern(part)) {
      parameters = Joined(parameters, pattern->parameters());
    }
    if (const Protocol* named = FindProtocol(part)) protocol = named;
  }
  return Joined(parameters, protocol->parameters(), CommonParameters());
}

// The names, with what is before them, and the summaries.
template <typename List>
std::vector<flags::Candidate> CandidatesOf(const List& all,
                                           const std::string& before) {
  std::vector<flags::Candidate> candidates;
  for (const auto& each : all) {
    candidates.push_back({before + each.name(), each.summary()});
  }
  return candidates;
}

// What may stand between two colons; `stays` is what is before it.
std::vector<flags::Candidate> SettingCandidates(const std::string& stays) {
  std::vector<flags::Candidate> candidates = ProtocolCandidates(stays);
  for (const char* version : {"ipv4", "ipv6"}) {
    candidates.push_back({stays + version, "IP version of the traffic"});
  }
  for (const Parameter& parameter : ParametersOf(stays)) {
    candidates.push_back(
        {absl::StrCat(stays, parameter.name(), "="), parameter.meaning()});
  }
  return candidates;
}

// The names of all parameters, which a sweep may vary. Of those with the same
// name, the first describes them.
std::vector<flags::Candidate> SweepCandidates() {
  std::vector<Parameter> parameters = CommonParameters();
  for (const Pattern& pattern : AllPatterns()) {
    parameters = Joined(parameters, pattern.parameters());
  }
  for (const Protocol& protocol : AllProtocols()) {
    parameters = Joined(parameters, protocol.parameters());
  }
  std::vector<flags::Candidate> candidates;
  std::set<std::string> names;
  for (const Parameter& parameter : parameters) {
    if (!names.insert(parameter.name()).second) continue;
    candidates.push_back({parameter.name(), parameter.meaning()});
  }
  return candidates;
}

std::vector<flags::Candidate> Values(const flags::ValueRequest& request) {
  const bool names_sweep =
      !request.words.empty() && request.words.back() == kSweepWord;
  if (request.type == "CONFIG" && names_sweep) return SweepCandidates();
  if (request.type == "CONFIG") {
    std::vector<flags::Candidate> candidates = ConfigCandidates(request.typed);
    if (!absl::StrContains(request.typed, ':')) {
      candidates.push_back({kSweepWord, "NAME START STEP END: a range"});
      candidates.push_back({"help", "explains a pattern or a protocol"});
    }
    return candidates;
  }
  if (request.type == "PREFIX") {
    return SettingCandidates(
        request.typed.substr(0, request.typed.rfind(':') + 1));
  }
  if (request.type == "HOST:PORT") {
    const std::string address =
        flags::ConnectionDefaults(flags::ProcessEnvironment())
            .ValueOf("test_sequencer");
    if (!address.empty()) return {{address}};
  }
  return {};
}

}  // namespace

std::vector<flags::Candidate> PatternCandidates() {
  return CandidatesOf(AllPatterns(), "");
}

std::vector<flags::Candidate> ProtocolCandidates(const std::string& before) {
  return CandidatesOf(AllProtocols(), before);
}

std::vector<flags::Candidate> ConfigCandidates(const std::string& typed) {
  const size_t colon = typed.rfind(':');
  if (colon == std::string::npos) return PatternCandidates();
  const std::string stays = typed.substr(0, colon + 1);
  const size_t equals = typed.find('=', colon);
  if (equals == std::string::npos) return SettingCandidates(stays);
  const std::string name = typed.substr(colon + 1, equals - colon - 1);
  const std::vector<Parameter> parameters = ParametersOf(stays);
  const Parameter* const parameter = FindByName(parameters, name);
  std::vector<flags::Candidate> candidates;
  if (parameter == nullptr) return candidates;
  for (const std::string& choice : parameter->choices()) {
    candidates.push_back({typed.substr(0, equals + 1) + choice});
  }
  return candidates;
}

flags::Completion CompleteTestBuilder(std::vector<std::string> words) {
  CommandLine line;
  flags::Program program(kDescription, kName);
  AddFlags(program.app(), line);
  return flags::Complete(program.app(), std::move(words), Values);
}

}  // namespace distbench::test_builder
