// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_REPORT_TESTING_RESULT_FUZZ_ENTRY_H_
#define DISTBENCH_REPORT_TESTING_RESULT_FUZZ_ENTRY_H_

#include "absl/strings/string_view.h"

namespace distbench::report {

// Reads the bytes of a result file, renders every report of it, and compares it
// with itself. Returns whether the bytes were a result.
bool ReadAndReport(absl::string_view bytes);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TESTING_RESULT_FUZZ_ENTRY_H_
