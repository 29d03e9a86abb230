// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Writes the synthetic results of an experiment, to test reports:
//
//   make_example_experiment FILE

#include <iostream>

#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/results/result_file.h"

namespace distbench::protection {
namespace {

int Main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "Usage: make_example_experiment FILE\n";
    return 1;
  }
  const absl::Status status = results::WriteResults(
      MakeExampleExperiment(), argv[1], results::ResultEncoding::kBinary);
  if (!status.ok()) std::cerr << status.message() << '\n';
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace distbench::protection

int main(int argc, char** argv) {
  return distbench::protection::Main(argc, argv);
}
