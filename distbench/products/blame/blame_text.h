#ifndef DISTBENCH_PRODUCTS_BLAME_BLAME_TEXT_H_
#define DISTBENCH_PRODUCTS_BLAME_BLAME_TEXT_H_

#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::blame {

// Says for each run who is to blame for its tail, in lines of text.
std::string BlameText(absl::Span<const report::TestRun> runs);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_BLAME_TEXT_H_
