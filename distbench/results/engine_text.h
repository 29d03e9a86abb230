// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_RESULTS_ENGINE_TEXT_H_
#define DISTBENCH_RESULTS_ENGINE_TEXT_H_

#include <string>

#include "proto/results.pb.h"

namespace distbench::results {

// What a program that hosts instances is, for people: its name, and the
// versions of distbench and gRPC that it said: "new (distbench 1.0.0, revision
// 0a1b2c3, gRPC 1.56.2)". What it did not say is left out.
std::string EngineText(const EngineProgram& engine);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_ENGINE_TEXT_H_
