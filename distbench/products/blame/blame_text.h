#ifndef DISTBENCH_PRODUCTS_BLAME_BLAME_TEXT_H_
#define DISTBENCH_PRODUCTS_BLAME_BLAME_TEXT_H_

#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

// Says for each run who is to blame for its tail, in lines of text.
std::string BlameText(absl::Span<const TestRun> runs);

}  // namespace distbench

#endif  // DISTBENCH_PRODUCTS_BLAME_BLAME_TEXT_H_
