// Writes the synthetic results of an experiment, to test reports:
//
//   make_example_experiment FILE

#include <iostream>

#include "distbench/report/testing/example_experiment.h"
#include "distbench/results/result_file.h"

int main(int argc, char** argv) {
  using namespace distbench;
  if (argc != 2) {
    std::cerr << "Usage: make_example_experiment FILE\n";
    return 1;
  }
  const absl::Status status =
      WriteResults(MakeExampleExperiment(), argv[1], ResultEncoding::kBinary);
  if (!status.ok()) std::cerr << status.message() << '\n';
  return status.ok() ? 0 : 1;
}
