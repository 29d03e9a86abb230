// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The common parts of the tests of AppliedControls.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_TESTING_APPLIED_CONTROLS_FIXTURE_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_TESTING_APPLIED_CONTROLS_FIXTURE_H_

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/applied_controls.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {

inline const std::vector<ControlledInstance> kControlledInstances = {
    {"server/0", "server"}, {"server/1", "server"}, {"hog/0", "hog"}};

class NoGuardian final : public Guardian {
 public:
  void Dismiss() override {}
};

class AppliedControlsTest : public testing::Test {
 protected:
  explicit AppliedControlsTest(const std::string& path = "/service")
      : fake_(path), files_(std::make_shared<FakeGroupFiles>(fake_.mount())) {
    host_.root = fake_.root();
    host_.state_folder = fake_.state_folder();
    host_.files = files_;
    host_.start_guardian = [](const std::string&) {
      return absl::StatusOr<std::unique_ptr<Guardian>>(
          std::make_unique<NoGuardian>());
    };
    if (path != "/") {
      fake_.AddProcess(getpid(), 1, "distbench", path);
    }
  }

  absl::StatusOr<std::unique_ptr<AppliedControls>> TryApply(
      const std::string& set) {
    return AppliedControls::Apply(base::FromText<ControlSet>(set),
                                  kControlledInstances, host_);
  }

  std::unique_ptr<AppliedControls> Apply(const std::string& set) {
    auto applied = TryApply(set);
    EXPECT_TRUE(applied.ok()) << applied.status();
    return *std::move(applied);
  }

  // The error of a strict set, after which everything is as before.
  std::string Refusal(const std::string& set) {
    const std::string before = fake_.Snapshot();
    const auto applied = TryApply(set);
    EXPECT_EQ(applied.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(fake_.Snapshot(), before);
    EXPECT_THAT(ListJournals(fake_.state_folder()), testing::IsEmpty());
    return base::Message(applied.status());
  }

  FakeHierarchy fake_;
  const std::shared_ptr<FakeGroupFiles> files_;
  ControlHost host_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_TESTING_APPLIED_CONTROLS_FIXTURE_H_
