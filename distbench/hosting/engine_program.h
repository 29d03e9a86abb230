// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Programs that host instances: this one, and others that a node manager was
// given by name (--engine=NAME=PATH), such as the same distbench over another
// version of gRPC.

#ifndef DISTBENCH_HOSTING_ENGINE_PROGRAM_H_
#define DISTBENCH_HOSTING_ENGINE_PROGRAM_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/map.h"
#include "proto/results.pb.h"

namespace distbench::hosting {

// Adds distbench and the libraries that this program runs on, by the names of
// HostFacts.versions.
void AddVersions(google::protobuf::Map<std::string, std::string>& versions);

// What this program says of itself as an engine; without a name.
EngineProgram DescribeThisProgram();

// An engine program and where its file is.
struct NamedEngine {
  std::string path;
  EngineProgram description;
};

// By name; without this program, which has none.
using EnginePrograms = std::map<std::string, NamedEngine>;

// Finds out what the engines are whose flags are given, each "NAME=PATH", by
// running each program for a moment. The error names the flag and says what is
// wrong: its form, a name that is there twice, a program that cannot be run or
// is no engine of distbench, or one that speaks another version of the
// protocol.
absl::StatusOr<EnginePrograms> FindEngines(
    const std::vector<std::string>& flags);

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_ENGINE_PROGRAM_H_
