// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The programs that hosted the instances of a run.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_ENGINES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_ENGINES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

struct EngineUse {
  // By which the test asks for it; empty: the nodes' own program.
  std::string name;

  // What it is on the nodes that hosted instances with it
  // (results::EngineText()): several if their programs differ.
  std::set<std::string> texts;

  // How many instances of each service it hosted.
  std::map<std::string, int> instance_counts;
};

// Returns the programs by name, the nodes' own first; none if there was no
// other than that.
std::vector<EngineUse> EnginesOf(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_ENGINES_H_
