// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Loads test sequences from files (protobuf text, YAML, JSON, or binary),
// prints them, hashes them, removes their secrets, and says where in the text
// their problems are.
//
//   ConfigText text;
//   auto sequence = LoadTestSequence("test.config", &text);
//   if (sequence.ok()) sequence = CheckTestSequence(*std::move(sequence),
//   text);

#ifndef DISTBENCH_CONFIG_READING_LOAD_H_
#define DISTBENCH_CONFIG_READING_LOAD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/problems/problem.h"
#include "google/protobuf/message.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

class MessagePlaces;

// What a file, or standard input, has.
struct ConfigText {
  std::string source;  // its name
  std::string contents;
};

// Reads a file; "-" and "/dev/stdin" mean standard input. If reading fails, the
// error names the file and the reason. Other errors are those of
// ParseTestSequence(). Files that the tests name are read as well
// (referenced_files.h), so that the sequence needs nothing else. `text`, if
// given, becomes what the file itself says.
absl::StatusOr<TestSequence> LoadTestSequence(const std::string& path,
                                              ConfigText* text = nullptr);

// Parses `contents`, which came from `source`. If the source's name ends with
// .yaml, .yml or .json, they are YAML, of which JSON is a part (parse.h).
// Otherwise, they are binary if they contain bytes that text cannot have, and
// YAML if they look like it and are not text format. INVALID_ARGUMENT lists all
// errors of a text, one per line, as "source:line:column: what is wrong".
// Unknown fields, repeated map keys and a sequence without tests are errors.
// Nothing else is checked; see check.h.
absl::StatusOr<TestSequence> ParseTestSequence(absl::string_view contents,
                                               absl::string_view source);

// Parses the text of any message, in the format that ParseTestSequence() would
// assume. If there are no errors, `places` becomes those of its parts, if
// given.
absl::Status ParseAnyText(absl::string_view contents, absl::string_view source,
                          google::protobuf::Message& message,
                          MessagePlaces* places = nullptr);

// Returns readable text, which ParseTestSequence() can read back. Equal
// sequences give equal text. config_format.h has other formats.
std::string ToText(const TestSequence& sequence);

// Hashes a canonical test into 16 hexadecimal digits, which are equal for
// equivalent tests. The seed is not included, because runs of one test have
// different seeds; nor are secrets, so that the hash gives no hint of them.
std::string ConfigHash(DistributedSystemDescription test);

// Replaces what may be secret in a test. Everything that is kept or hashed goes
// through this.
void RedactSecrets(DistributedSystemDescription& test);

// The problems of a message that was read from a text, one per line, as
// "source:line:column: path: what is wrong", in the order of the text. The
// place is that of the field, or else of the message that lacks it; PlaceNames
// (places.h) says how it is counted. Problems of binary configs have only the
// source, and come last, as others without a place. If there are problems, this
// takes about as long as reading the text. `type` is any message of the type.
std::vector<std::string> PlacedLines(
    absl::Span<const Problem> problems, const ConfigText& text,
    const google::protobuf::Message& type = TestSequence::default_instance());

// OK if there are no problems; otherwise INVALID_ARGUMENT with PlacedLines().
absl::Status ToStatus(
    absl::Span<const Problem> problems, const ConfigText& text,
    const google::protobuf::Message& type = TestSequence::default_instance());

// The error of a sequencer, whose problems of tests of a text get their places.
// Other errors stay as they are.
absl::Status WithPlaces(const absl::Status& error, const ConfigText& text);

// As in check.h, for a sequence that was read from a text: the error has
// PlacedLines().
absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence,
                                               const ConfigText& text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_LOAD_H_
