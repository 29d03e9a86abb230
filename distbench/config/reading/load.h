// Loads test sequences from files (protobuf text, YAML, JSON, or binary),
// prints them, hashes them, and removes their secrets.
//
//   ConfigText text;
//   auto sequence = LoadTestSequence("test.config", &text);
//   if (sequence.ok()) sequence = CheckTestSequence(*std::move(sequence),
//   text);

#ifndef DISTBENCH_CONFIG_READING_LOAD_H_
#define DISTBENCH_CONFIG_READING_LOAD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/reading/config_text.h"
#include "proto/traffic_config.pb.h"

namespace google::protobuf {
class Message;
}

namespace distbench::config {

class MessagePlaces;

// Reads a file; "-" and "/dev/stdin" mean standard input. If reading fails, the
// error names the file and the reason. Other errors are those of
// ParseTestSequence(). Files that the tests name are read as well
// (referenced_files.h), so that the sequence needs nothing else. `text`, if
// given, becomes what the file itself says.
absl::StatusOr<TestSequence> LoadTestSequence(const std::string& path,
                                              ConfigText* text = nullptr);

// Parses `contents`, which came from `source`. If the source's name ends with
// .yaml, .yml or .json, they are YAML, of which JSON is a part (parse_yaml.h).
// Otherwise, they are binary if they contain bytes that text cannot have, and
// YAML if they look like it and are not text format. INVALID_ARGUMENT lists all
// errors of a text, one per line, as "source:line:column: what is wrong".
// Unknown fields, repeated map keys and a sequence without tests are errors.
// Nothing else is checked; see check.h.
absl::StatusOr<TestSequence> ParseTestSequence(absl::string_view contents,
                                               absl::string_view source);

// Parses the text of any message, in the format that ParseTestSequence() would
// assume. Adds its parts to `places`, if given and if there are no errors.
absl::Status ParseAnyText(absl::string_view contents, absl::string_view source,
                          google::protobuf::Message& message,
                          MessagePlaces* places = nullptr);

// Some editors begin UTF-8 files with a byte order mark, which is no part of
// the text and of its columns.
absl::string_view WithoutByteOrderMark(absl::string_view contents);

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

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_LOAD_H_
