// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_factory.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

// A factory whose engines cannot be made.
class BrokenFactory final : public EngineFactory {
 public:
  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(EngineRequest) override {
    return absl::UnavailableError("not here");
  }
};

TEST(WarmUpTest, SendsAnRpc) {
  EXPECT_EQ(WarmUp(InProcessEngines()), absl::OkStatus());
}

TEST(WarmUpTest, SaysWhatFailed) {
  BrokenFactory engines;
  EXPECT_EQ(WarmUp(engines), absl::UnavailableError("not here"));
}

}  // namespace
}  // namespace distbench::hosting
