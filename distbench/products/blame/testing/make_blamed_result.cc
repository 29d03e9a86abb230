// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Writes a result with traces, in which the handler of leaf/3 is to blame for
// the tail. The name is that of the test, and part of the RPCs' names.
//
//   make_blamed_result FILE NAME

#include <iostream>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "distbench/results/result_file.h"

namespace distbench::blame {
namespace {

int Main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "Usage: make_blamed_result FILE NAME\n";
    return 1;
  }
  TracedRequests requests = Simulate({.trouble = {.rpc = kLookup,
                                                  .instance = 3,
                                                  .probability = 0.05,
                                                  .extra_ns = 3'000'000}});
  for (std::string& rpc : requests.rpcs) rpc += argv[2];
  TestSequenceResults results;
  *results.add_test_results() = ResultOf(requests);
  results.mutable_test_results(0)->mutable_traffic_config()->set_name(argv[2]);
  const absl::Status status =
      results::WriteResults(results, argv[1], results::ResultEncoding::kBinary);
  if (!status.ok()) std::cerr << status.message() << '\n';
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace distbench::blame

int main(int argc, char** argv) { return distbench::blame::Main(argc, argv); }
