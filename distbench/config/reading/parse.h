// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Messages written in protobuf's text format, as YAML or as JSON. `source` is
// the name of the text. INVALID_ARGUMENT lists the errors, one per line, as
// "source:line:column: what is wrong", with suggestions for misspelt fields;
// PlaceNames (places.h) says what a column counts. The message is cleared
// first. If there are no errors, `places` becomes those of all of its parts, if
// given.

#ifndef DISTBENCH_CONFIG_READING_PARSE_H_
#define DISTBENCH_CONFIG_READING_PARSE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/config/reading/places.h"
#include "google/protobuf/message.h"

namespace distbench::config {

// Parses protobuf text. Unlike protobuf's parser, it rejects repeated map keys.
// A syntax error ends the list. Places take as long again. Requires less than 2
// GiB of text.
absl::Status ParseText(absl::string_view text, absl::string_view source,
                       google::protobuf::Message& message,
                       MessagePlaces* places = nullptr);

// Parses YAML, of which JSON is a part. Messages look as protobuf's JSON
// mapping says: fields have their own names or those in lowerCamelCase;
// repeated fields are lists, and map fields maps; numbers may be in quotes;
// bytes are base64; enums are words or numbers; null is a field that is not
// set. Moreover, texts need no quotes, whatever they look like, and "<<" merges
// fields of other maps, which fields beside it override.
//
// Errors are misspelt fields, wrong types and words, numbers out of range,
// fields and keys that are repeated, and aliases that repeat more than
// kMaxRepeatedBytes. A syntax error is the only one. What aliases repeat has
// the place where it is written.
absl::Status ParseYaml(absl::string_view text, absl::string_view source,
                       google::protobuf::Message& message,
                       MessagePlaces* places = nullptr);

// Far above what aliases save in any config.
inline constexpr int kMaxRepeatedBytes = 16 << 20;

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_PARSE_H_
