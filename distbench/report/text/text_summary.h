// The summary of a test that people read and scripts parse.

#ifndef DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_H_
#define DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench {

// Lines without line ends: what goes into TestResult.log_summary, and is
// printed below a line "Test summary:".
//
// First, if the test failed, a line that says so and why. Then four sections of
// a documented, stable format (RPC latency, communication, instance and global
// summary), then those that have something to say of: response times, generator
// health, failures, resources, driver counters, findings.
//
// Counts, rates and percentiles are of succeeded RPCs after the warm-up, and
// come from the statistics, not from samples. Rates are over the longest time
// that any client spent with any server.
std::vector<std::string> SummarizeTest(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_H_
