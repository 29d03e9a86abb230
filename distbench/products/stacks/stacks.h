// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Compares protocol drivers under the same traffic: runs, grouped by the stack
// of drivers that carried them.

#ifndef DISTBENCH_PRODUCTS_STACKS_STACKS_H_
#define DISTBENCH_PRODUCTS_STACKS_STACKS_H_

#include <map>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "distbench/products/stacks/report.pb.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::stacks {

struct StackComparison {
  ReportedStacks reported;  // the key "stacks" of reports

  // By the names of two stacks: base and new, under all loads that both had.
  std::map<std::pair<std::string, std::string>, report::ComparisonReport>
      reports;
};

// Compares runs whose traffic is the same and whose drivers differ. Runs of the
// same traffic and drivers are repetitions. Runs of searches and experiments
// are not compared, because these choose their loads. Empty if all other runs
// have the same drivers. All runs need statistics (results/legacy_results.h).
//
// A stack is called after the drivers of its services, such as "tcp",
// "double_barrel over grpc" or "grpc + tcp", and after their settings if these
// differ between runs of the same drivers. Names of simulated ones are marked.
StackComparison CompareStacks(absl::Span<const report::TestRun> runs);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACKS_H_
