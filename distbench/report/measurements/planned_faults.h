// What servers did to their clients on purpose, over all instances of a
// service.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_PLANNED_FAULTS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_PLANNED_FAULTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::report {

// In Unix nanoseconds.
struct FaultSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// A fault of the test's config, and what it did.
struct PlannedFault {
  std::string name;
  std::string description;  // "server fails with UNAVAILABLE"
  int64_t request_count = 0;
  int64_t connection_count = 0;

  // When it was in effect on some instance, ascending and disjoint. A moment at
  // which several instances broke their connections is one, the first's.
  std::vector<FaultSpan> spans;
  bool has_more_spans = false;  // than results keep

  // It was not in effect on any instance whose log there is.
  bool was_missed = false;
};

// In the order of the config.
std::vector<PlannedFault> PlannedFaultsOf(const TestResult& result);

// Whether any of them was in effect, as far as is known.
bool AnyHappened(const std::vector<PlannedFault>& faults);

// A service that limits the requests that it takes.
struct ServiceAdmission {
  std::string service;
  int64_t admitted_count = 0;
  int64_t refused_count = 0;
  stats::LogHistogram wait_ns;  // of the admitted ones
};

// In the order of the names. Damaged histograms are left out.
std::vector<ServiceAdmission> AdmissionsOf(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_PLANNED_FAULTS_H_
