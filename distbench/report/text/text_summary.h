// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Summarises a test as text, for users and for scripts that parse it.

#ifndef DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_H_
#define DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// Returns lines without line ends. They are stored in TestResult.log_summary,
// and printed below a line "Test summary:".
//
// If the test failed, the first line says so and why. Four sections follow in a
// documented, stable format (RPC latency, communication, instance and global
// summary), then those sections that have content: response times, generator
// health, time parts, streams, failures, resources, driver counters, those of
// products (parts/text_part.h), findings.
//
// Counts, rates and percentiles cover succeeded RPCs after the warm-up. They
// come from the statistics, not from samples. Rates are relative to the longest
// time that any client spent with any server.
std::vector<std::string> SummarizeTest(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_H_
