// Test sequences as files: protobuf, as text or binary.

#ifndef DISTBENCH_CONFIG_LOAD_LOAD_H_
#define DISTBENCH_CONFIG_LOAD_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Reads a file; "-" and "/dev/stdin" are standard input. The error names the
// file and says why it could not be read; otherwise as ParseTestSequence().
absl::StatusOr<TestSequence> LoadTestSequence(const std::string& path);

// Parses contents, which came from source: text, unless it holds bytes that no
// text does. INVALID_ARGUMENT lists every error of a text, one per line, as
// "source:line:column: what is wrong". Unknown fields, repeated map keys and a
// sequence without tests are errors. Nothing else is checked: see check.h.
absl::StatusOr<TestSequence> ParseTestSequence(absl::string_view contents,
                                               absl::string_view source);

// The sequence for people to read, and for ParseTestSequence() to read back.
// Equal sequences give equal text.
std::string ToText(const TestSequence& sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_LOAD_LOAD_H_
