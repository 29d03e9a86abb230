// Prints what RPCs cost (text format of SimulatedFabric) by the results of
// calibrations (workloads/calibration.config):
//
//   bazel run //distbench/products/simulation/calibration:print_costs --
//   RESULT...

#include <cstdio>
#include <string>

#include "distbench/products/simulation/calibration/calibrate.h"
#include "google/protobuf/text_format.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: print_costs RESULT...\n", stderr);
    return 1;
  }
  distbench::SimulatedFabric fabric;
  for (int i = 1; i < argc; ++i) {
    const auto calibration = distbench::simulation::ReadCalibration(argv[i]);
    if (!calibration.ok()) {
      std::fprintf(stderr, "%s\n", calibration.status().ToString().c_str());
      return 1;
    }
    distbench::simulation::AddCalibration(*calibration, fabric);
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(fabric, &text);
  std::fputs(text.c_str(), stdout);
  return 0;
}
