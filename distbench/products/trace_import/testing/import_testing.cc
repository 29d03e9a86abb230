// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/testing/import_testing.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/trace_import/spans/spans.h"
#include "gtest/gtest.h"

namespace distbench::trace_import {

DistributedSystemDescription TestOf(const std::string& config) {
  auto sequence = config::ParseTestSequence(config, "config");
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  sequence = config::CheckTestSequence(*sequence);
  EXPECT_TRUE(sequence.ok()) << sequence.status() << config;
  return sequence->tests(0);
}

Import ImportOf(const std::string& format, const std::string& text,
                const ImportOptions& options) {
  constexpr int64_t kManySpans = 10'000'000;
  SpanSet spans;
  const absl::Status status =
      ReadSpans(format, "file", text, kManySpans, spans);
  EXPECT_TRUE(status.ok()) << status;
  absl::StatusOr<Import> import = ImportTraces(std::move(spans), options);
  EXPECT_TRUE(import.ok()) << import.status();
  return *std::move(import);
}

const RpcSpec& RpcNamed(const DistributedSystemDescription& test,
                        const std::string& name) {
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.name() == name) return rpc;
  }
  ADD_FAILURE() << name;
  return RpcSpec::default_instance();
}

const Action& ActionNamed(const DistributedSystemDescription& test,
                          const std::string& name) {
  for (const Action& action : test.actions()) {
    if (action.name() == name) return action;
  }
  ADD_FAILURE() << name;
  return Action::default_instance();
}

}  // namespace distbench::trace_import
