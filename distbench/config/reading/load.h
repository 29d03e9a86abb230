// Loads test sequences from files (protobuf text or binary), prints them,
// hashes them, and removes their secrets.
//
//   absl::StatusOr<TestSequence> sequence = LoadTestSequence("test.config");
//   if (sequence.ok()) sequence = CheckTestSequence(*std::move(sequence));

#ifndef DISTBENCH_CONFIG_READING_LOAD_H_
#define DISTBENCH_CONFIG_READING_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Reads a file; "-" and "/dev/stdin" mean standard input. If reading fails, the
// error names the file and the reason. Other errors are those of
// ParseTestSequence(). Files that the tests name are read as well
// (referenced_files.h), so that the sequence needs nothing else.
absl::StatusOr<TestSequence> LoadTestSequence(const std::string& path);

// Parses `contents`, which came from `source`. Contents are text unless they
// contain bytes that text cannot have. INVALID_ARGUMENT lists all errors of a
// text, one per line, as "source:line:column: what is wrong". Unknown fields,
// repeated map keys and a sequence without tests are errors. Nothing else is
// checked; see check.h.
absl::StatusOr<TestSequence> ParseTestSequence(absl::string_view contents,
                                               absl::string_view source);

// Returns readable text, which ParseTestSequence() can read back. Equal
// sequences give equal text.
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
