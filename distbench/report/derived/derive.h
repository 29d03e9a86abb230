// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Derives what a report says (proto/report.proto) from results and
// measurements: once, for all formats.

#ifndef DISTBENCH_REPORT_DERIVED_DERIVE_H_
#define DISTBENCH_REPORT_DERIVED_DERIVE_H_

#include <cstdint>
#include <set>
#include <string>

#include "distbench/report/json/json_limits.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/report.pb.h"
#include "proto/results.pb.h"

namespace distbench::report {

// A report without its runs, for which there may be no memory at once.
Report ReportWithoutTests();

Report::Test DeriveTest(const TestRun& run, const JsonLimits& limits = {});

// The parts of a run, for parts of products too.

Report::Rpc DeriveRpc(const RpcMeasurements& rpc);

// The services and the RPCs between them. Of the rows of instances, the worst
// max_instance_rows.
Report::Topology DeriveTopology(const TestResult& result,
                                int64_t max_instance_rows);

// The RPCs that main lists send, so that nothing else causes them; all if the
// config does not tell which these are.
struct EntryTraffic {
  std::set<std::string> clients;  // services with such lists; none if unknown
  double rpc_count = 0;           // failures and the warm-up included
};

EntryTraffic EntryTrafficOf(const TestResult& result);

// Nodes, where instances ran, and what sockets had.
void DeriveHosts(const TestResult& result, Report::Test& test);

Report::Binding DeriveBinding(const std::string& instance,
                              const BindingProof& proof);

// What was asked for, for example "CPUs 0-3, memory bind 0"; "none" if nothing.
std::string BindingText(const BindingProof& proof);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_DERIVED_DERIVE_H_
