// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/engine_text.h"

#include "gtest/gtest.h"

namespace distbench::results {
namespace {

TEST(EngineText, SaysNameAndVersions) {
  EngineProgram engine;
  engine.set_name("new");
  EXPECT_EQ(EngineText(engine), "new");
  (*engine.mutable_versions())["grpc"] = "1.71.0";
  (*engine.mutable_versions())["libc"] = "2.36";
  (*engine.mutable_versions())["distbench"] = "1.0.0";
  EXPECT_EQ(EngineText(engine), "new (distbench 1.0.0, gRPC 1.71.0)");
}

}  // namespace
}  // namespace distbench::results
