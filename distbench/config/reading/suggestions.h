// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What to do about names and words that a type of messages does not have.

#ifndef DISTBENCH_CONFIG_READING_SUGGESTIONS_H_
#define DISTBENCH_CONFIG_READING_SUGGESTIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"

namespace distbench::config {

// The names of the type's fields.
std::vector<std::string> FieldNames(const google::protobuf::Descriptor& type);

// What to do about a name that no field of the type has: that the field was
// removed (`reserved` in the .proto); ` Did you mean "x"?` if a field has a
// name close to `name`; or ` It is a field of x.y.` if others have it, by the
// way through fields to them, from the type or else from TestSequence. Empty
// otherwise.
std::string FieldSuggestion(const google::protobuf::Descriptor& type,
                            absl::string_view name);

// The words of an enum.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor& type);

// What to do about a word that is none of the enum of a field, of which only
// the name is known: the end of a message as Suggestion() has it, about the
// words of all such fields of messages of the type and within it. Empty if
// there are none.
std::string WordSuggestion(const google::protobuf::Descriptor& outermost,
                           const std::string& field, absl::string_view word);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_SUGGESTIONS_H_
