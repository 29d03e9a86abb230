// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rules that options of fields tell (proto/rules.proto): one walk checks
// them in a message and all messages within, another one makes these canonical.
//
//   CanonicalizeFields(test);
//   CheckTest(test, Path("tests").At(0), names, HasProduct, problems);

#ifndef DISTBENCH_CONFIG_RULES_FIELD_RULES_H_
#define DISTBENCH_CONFIG_RULES_FIELD_RULES_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/problem.h"
#include "google/protobuf/message.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

inline constexpr int kMaxNameLength = 200;

// Removes what means the default, replaces quantities with units by their
// numbers, and writes other texts that have several forms in one
// (CanonicalText()). Leaves what CheckFields() reports. Idempotent.
void CanonicalizeFields(google::protobuf::Message& message);

// Adds a problem for each rule that the canonical message, which is at `path`,
// and its fields break. `names` are those of the test that it belongs to:
// without them, references are not checked, nor names of elements.
void CheckFields(const google::protobuf::Message& message, const Path& path,
                 const TestNames* names, Problems& problems);

// The same for a whole test, whose channels it knows, too. No field may be set
// that belongs to a product (proto/product.proto) for which `has_product` is
// false.
void CheckTest(const DistributedSystemDescription& test, const Path& path,
               const TestNames& names,
               absl::FunctionRef<bool(absl::string_view)> has_product,
               Problems& problems);

// Whether CheckFields() finds nothing wrong with this field of the message, and
// within it, alone.
bool IsRight(const google::protobuf::Message& message, absl::string_view field);

// The position of the field's word among the words of its rules, which is the
// value of the plan's enum. An empty text, which messages that are not
// canonical may have, is the field's default. Requires that the word is one of
// them.
int WordNumber(const google::protobuf::Message& message, int field_number);

// What is wrong with the characters of any name: controls, which would change
// what a terminal shows. Empty if nothing.
std::string ProblemOfCharacters(const std::string& name);

// Whether a text has only letters, digits, '_', '-' and '.', as names with the
// rule `plain` do. So does an empty one.
bool IsPlain(absl::string_view name);

// The path of an element of a list: by its name, or by its position if it has
// none, or that of an element before it.
Path ElementPath(const Path& list, const NameIndex& names, int position);

// What is wrong with a name that is not in the index: no `kind` is called so;
// or it is missing. Takes time; see Problems::Add().
std::string UnknownName(absl::string_view kind, const std::string& name,
                        const NameIndex& index);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_RULES_FIELD_RULES_H_
