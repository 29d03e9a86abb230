#ifndef DISTBENCH_REPORT_TESTING_RESULT_FUZZ_ENTRY_H_
#define DISTBENCH_REPORT_TESTING_RESULT_FUZZ_ENTRY_H_

#include "absl/strings/string_view.h"

namespace distbench {

// Reads the bytes of a result file, and makes every report of it and a
// comparison with itself. Returns whether it was a result.
bool ReadAndReport(absl::string_view bytes);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TESTING_RESULT_FUZZ_ENTRY_H_
