// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/plugins.h"
#include "distbench/config/reading/parse.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/pattern_files.h"

namespace distbench::test_builder {
namespace {

// ---- Reading the files ------------------------------------------------------

// A file is a part of the program, so that it is valid is for tests to show.
template <typename Message>
Message Read(absl::string_view yaml) {
  Message message;
  const absl::Status status =
      config::ParseYaml(yaml, "a file of test_builder/patterns", message);
  CHECK(status.ok()) << status;
  return message;
}

const SharedParts& Shared() {
  static const auto& shared = *new SharedParts(Read<SharedParts>(kSharedYaml));
  return shared;
}

Parameter Completed(const Parameter& declared) {
  if (!declared.has_like()) return declared;
  const auto found = Shared().parameters().find(declared.like());
  CHECK(found != Shared().parameters().end()) << declared.like();
  Parameter completed = found->second;
  if (!completed.has_name()) completed.set_name(declared.like());
  completed.MergeFrom(declared);
  return completed;
}

Pattern ReadPattern(absl::string_view yaml) {
  Pattern pattern = Read<Pattern>(yaml);
  for (Parameter& parameter : *pattern.mutable_parameters()) {
    parameter = Completed(parameter);
  }
  return pattern;
}

// ---- Filling the forms ------------------------------------------------------

// Fills the forms of one test. What users wrote is inserted as it is: a '<' in
// it is no hole, and a quote does not end a text.
class Filler {
 public:
  Filler(const Pattern& pattern, const ParameterValues& values,
         const ValueMap& derived)
      : pattern_(pattern), values_(values), derived_(derived) {}

  std::string Name(absl::string_view form) { return Fill(form, false, {}); }
  std::string Body(absl::string_view form) { return Fill(form, true, {}); }

  // A hole that stands for nothing, if there was one.
  const std::string& unknown() const { return unknown_; }

 private:
  std::string Fill(absl::string_view form, bool is_body,
                   const ValueMap& arguments);
  std::string ValueOf(absl::string_view name, bool is_body, bool is_quoted,
                      const ValueMap& arguments);

  // Null if there is no form of that name.
  const std::string* FindForm(absl::string_view name) const;

  const Pattern& pattern_;
  const ParameterValues& values_;
  const ValueMap& derived_;
  std::string unknown_;
};

std::string Filler::Fill(absl::string_view form, bool is_body,
                         const ValueMap& arguments) {
  return FillForm(form, [&](absl::string_view hole, bool is_quoted) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(hole, absl::ByAnyChar(" \n"), absl::SkipEmpty());
    ValueMap inner;
    for (size_t i = 1; i < parts.size(); ++i) {
      const std::pair<std::string, std::string> argument =
          absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
      inner[argument.first] = Fill(argument.second, is_body, arguments);
    }
    const absl::string_view name = parts.empty() ? "" : parts.front();
    const auto argument = arguments.find(name);
    if (argument != arguments.end()) return argument->second;
    return ValueOf(name, is_body, is_quoted, inner);
  });
}

std::string Filler::ValueOf(absl::string_view name, bool is_body,
                            bool is_quoted, const ValueMap& arguments) {
  if (values_.Has(name)) {
    const std::string& text = values_.Text(name);
    if (is_quoted) return absl::CEscape(text);
    if (is_body) return absl::StrCat(values_.Integer(name));
    // The pieces of arrivals are joined by what names of files should not have.
    return name == kArrivals ? absl::StrReplaceAll(text, {{":", "_"}}) : text;
  }
  if (const std::string* form = FindForm(name)) {
    return Fill(*form, is_body, arguments);
  }
  if (!FindByName(pattern_.parameters(), name)) unknown_ = std::string(name);
  return "";
}

const std::string* Filler::FindForm(absl::string_view name) const {
  const auto derived = derived_.find(name);
  if (derived != derived_.end()) return &derived->second;
  for (const auto* forms : {&pattern_.forms(), &Shared().forms()}) {
    const auto found = forms->find(std::string(name));
    if (found != forms->end()) return &found->second;
  }
  return nullptr;
}

// Whether the condition of a case holds, by what is there before it.
bool Holds(absl::string_view condition, const ParameterValues& values,
           const ValueMap& derived) {
  const std::vector<absl::string_view> parts = absl::StrSplit(condition, '=');
  const absl::string_view name = parts.front();
  if (parts.size() == 1) return values.Has(name);
  if (values.Has(name)) return values.Text(name) == parts.back();
  const auto found = derived.find(name);
  return found != derived.end() && found->second == parts.back();
}

absl::StatusOr<ValueMap> Derive(const Pattern& pattern,
                                const ParameterValues& values) {
  ValueMap derived = {{"duration_us", absl::StrCat(TestDurationUs(values))}};
  for (const Case& each : pattern.cases()) {
    if (!Holds(each.when(), values, derived)) continue;
    derived.insert(each.values().begin(), each.values().end());
  }
  if (!pattern.has_derive()) return derived;
  const DeriveFunction derive = FindDeriveFunction(pattern.derive());
  CHECK(derive != nullptr) << pattern.derive();
  if (absl::Status status = derive(values, derived); !status.ok()) {
    return status;
  }
  return derived;
}

}  // namespace

absl::StatusOr<Traffic> BuildTraffic(const Pattern& pattern,
                                     const ParameterValues& values) {
  const absl::StatusOr<ValueMap> derived = Derive(pattern, values);
  if (!derived.ok()) return derived.status();
  Filler filler(pattern, values, *derived);
  Traffic traffic = {.alias = filler.Name(pattern.alias()),
                     .name_suffix = filler.Name(pattern.name_suffix()),
                     .body = {}};
  const std::string body = filler.Body(pattern.body());
  if (!filler.unknown().empty()) {
    return absl::InternalError(absl::StrCat("the forms of ", pattern.name(),
                                            " name ", filler.unknown(),
                                            ", which there is not"));
  }
  if (!google::protobuf::TextFormat::ParseFromString(body, &traffic.body)) {
    return absl::InternalError(
        absl::StrCat("the form of ", pattern.name(), " is wrong"));
  }
  return traffic;
}

namespace {

std::vector<Pattern> ReadPatterns() {
  std::vector<Pattern> patterns = {
      ReadPattern(kClientServerYaml),
      ReadPattern(kCliqueYaml),
      ReadPattern(kRectangularYaml),
      ReadPattern(kTripartiteYaml),
      ReadPattern(kStochasticYaml),
      ReadPattern(kMultiLevelRpcYaml),
      ReadPattern(kVariableResponseMultiLevelRpcYaml),
      ReadPattern(kFeedAggregatorYaml),
      ReadPattern(kStorageServiceYaml),
      ReadPattern(kInferenceYaml),
      ReadPattern(kStreamingYaml),
      ReadPattern(kCollectiveYaml),
      ReadPattern(kTrainingYaml),
      ReadPattern(kHomaCpNodeYaml),
  };
  for (const auto& [name, added] : base::Plugins<PatternText>::All()) {
    patterns.push_back(ReadPattern(added->yaml));
  }
  return patterns;
}

}  // namespace

const std::vector<Pattern>& AllPatterns() {
  static const auto& patterns = *new std::vector<Pattern>(ReadPatterns());
  return patterns;
}

std::vector<std::string> PatternNames() { return NamesOf(AllPatterns()); }

const Pattern* FindPattern(absl::string_view name) {
  return FindByName(AllPatterns(), name);
}

}  // namespace distbench::test_builder
