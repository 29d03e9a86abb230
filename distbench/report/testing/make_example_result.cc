// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Writes a synthetic result of the given size, to test and measure reports:
//
//   make_example_result FILE NAME CLIENTS SERVERS RPCS SECONDS COUNT
//       [SLOWNESS [NODES]]

#include <iostream>

#include "absl/strings/numbers.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/results/result_file.h"

namespace distbench::report {
namespace {

int Main(int argc, char** argv) {
  ExampleOptions options;
  if (argc < 8 || argc > 10 || !absl::SimpleAtoi(argv[3], &options.clients) ||
      !absl::SimpleAtoi(argv[4], &options.servers) ||
      !absl::SimpleAtoi(argv[5], &options.rpcs) ||
      !absl::SimpleAtoi(argv[6], &options.seconds) ||
      !absl::SimpleAtoi(argv[7], &options.count) ||
      (argc >= 9 && !absl::SimpleAtod(argv[8], &options.slowness)) ||
      (argc == 10 && !absl::SimpleAtoi(argv[9], &options.nodes))) {
    std::cerr << "Usage: make_example_result FILE NAME CLIENTS SERVERS RPCS "
                 "SECONDS COUNT [SLOWNESS [NODES]]\n";
    return 1;
  }
  options.name = argv[2];
  TestSequenceResults results;
  *results.add_test_results() = MakeExampleResult(options);
  const absl::Status status =
      results::WriteResults(results, argv[1], results::ResultEncoding::kBinary);
  if (!status.ok()) std::cerr << status.message() << '\n';
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace distbench::report

int main(int argc, char** argv) { return distbench::report::Main(argc, argv); }
