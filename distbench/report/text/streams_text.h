#ifndef DISTBENCH_REPORT_TEXT_STREAMS_TEXT_H_
#define DISTBENCH_REPORT_TEXT_STREAMS_TEXT_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// Returns the section "Streams" of the summary: for each RPC that streams, a
// line with its messages, and one for each time that was measured of them.
// Empty if there is none.
std::vector<std::string> StreamLines(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_STREAMS_TEXT_H_
