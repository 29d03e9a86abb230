#ifndef DISTBENCH_REPORT_TEXT_FAULTS_TEXT_H_
#define DISTBENCH_REPORT_TEXT_FAULTS_TEXT_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// The lines of the summary on servers' faults: when they were in effect, after
// the start of the traffic, and what they did.
std::vector<std::string> FaultLines(const TestResult& result);

// The lines on services that limit their requests.
std::vector<std::string> AdmissionLines(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_FAULTS_TEXT_H_
