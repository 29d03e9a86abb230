// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/suggestions.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/type_rules.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::FieldDescriptor;

struct TypeWithin {
  const Descriptor* type;
  std::string path;  // of fields, from the outermost type; empty for that
  int depth;
};

// The type, and all that messages of it may have within, the nearest first: at
// each place, but what is within them only once.
std::vector<TypeWithin> TypesWithin(const Descriptor& outermost) {
  std::vector<TypeWithin> types = {{&outermost, "", 0}};
  std::set<const Descriptor*> seen;
  for (size_t i = 0; i < types.size(); ++i) {
    const TypeWithin outer = types[i];
    if (!seen.insert(outer.type).second) continue;
    for (int j = 0; j < outer.type->field_count(); ++j) {
      const FieldDescriptor& field = *outer.type->field(j);
      const Descriptor* const inner = MessagesOf(field);
      if (inner == nullptr) continue;
      types.push_back({inner,
                       absl::StrCat(outer.path, outer.path.empty() ? "" : ".",
                                    field.name()),
                       outer.depth + 1});
    }
  }
  return types;
}

// Those of a file of tests.
const std::vector<TypeWithin>& TypesOfTests() {
  static const auto* const types =
      new std::vector<TypeWithin>(TypesWithin(*TestSequence::descriptor()));
  return *types;
}

// The paths of the nearest ones that have such a field; none if there are too
// many for a hint.
std::vector<std::string> PathsOf(const std::string& field,
                                 const std::vector<TypeWithin>& types) {
  constexpr size_t kMaxPaths = 3;
  std::vector<std::string> paths;
  int depth = 0;
  for (const TypeWithin& each : types) {
    if (!paths.empty() && each.depth > depth) break;
    if (each.type->FindFieldByName(field) == nullptr &&
        each.type->FindFieldByCamelcaseName(field) == nullptr) {
      continue;
    }
    depth = each.depth;
    paths.push_back(each.path);
  }
  if (paths.size() > kMaxPaths) paths.clear();
  return paths;
}

// To what has a field that messages of the type do not have: within them or, in
// a file of tests, elsewhere.
std::vector<std::string> PathsTo(const std::string& field,
                                 const Descriptor& type) {
  const std::vector<std::string> paths = PathsOf(field, TypesWithin(type));
  const bool is_of_tests = absl::c_any_of(
      TypesOfTests(),
      [&](const TypeWithin& each) { return each.type == &type; });
  return paths.empty() && is_of_tests ? PathsOf(field, TypesOfTests()) : paths;
}

}  // namespace

std::vector<std::string> FieldNames(const google::protobuf::Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  return names;
}

std::string FieldSuggestion(const google::protobuf::Descriptor& type,
                            absl::string_view name) {
  if (type.IsReservedName(std::string(name))) {
    return " It was removed; leave it out (CHANGELOG.md, \"Removed\", says "
           "what there is instead).";
  }
  if (absl::StartsWith(name, "//") || absl::StartsWith(name, "/*")) {
    return " Comments begin with #.";
  }
  const std::optional<std::string> closest =
      ClosestName(name, FieldNames(type));
  if (closest.has_value()) {
    return absl::StrCat(" Did you mean ", Quoted(*closest), "?");
  }
  const std::vector<std::string> paths = PathsTo(std::string(name), type);
  if (paths.empty()) return "";
  return absl::StrCat(" It is a field of ", absl::StrJoin(paths, " or "), ".");
}

std::vector<std::string> WordsOf(const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    words.push_back(type.value(i)->name());
  }
  return words;
}

std::string WordSuggestion(const Descriptor& outermost,
                           const std::string& field, absl::string_view word) {
  std::vector<std::string> words;
  for (const TypeWithin& each : TypesWithin(outermost)) {
    const FieldDescriptor* const found = each.type->FindFieldByName(field);
    if (found == nullptr || found->enum_type() == nullptr) continue;
    for (std::string& other : WordsOf(*found->enum_type())) {
      if (!absl::c_linear_search(words, other)) {
        words.push_back(std::move(other));
      }
    }
  }
  return words.empty() ? "" : Suggestion(word, words);
}

}  // namespace distbench::config
