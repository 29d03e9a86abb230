// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// In which encoding a file of results is.

#ifndef DISTBENCH_RESULTS_RESULT_ENCODING_H_
#define DISTBENCH_RESULTS_RESULT_ENCODING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/results/result_file.h"

namespace distbench::results {

// Guesses from the beginning of a file. Text is printable, or contains
// non-ASCII letters but begins with its only field. Binary results begin with
// tags and lengths, most of which are control characters.
bool LooksLikeText(absl::string_view beginning);

// The encoding that ReadResults() takes this file to have. The error names the
// path: it cannot be read, is damaged or empty.
absl::StatusOr<ResultEncoding> EncodingOf(const std::string& path);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RESULT_ENCODING_H_
