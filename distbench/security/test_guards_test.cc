// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/test_guards.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::security {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Allows tests of that name, with as many instances as the name is long.
class NameGuard final : public TestGuard {
 public:
  explicit NameGuard(std::string name) : name_(std::move(name)) {}

  absl::Status Check(const DistributedSystemDescription& test,
                     absl::string_view program) const override {
    if (test.name() == name_) return absl::OkStatus();
    return absl::PermissionDeniedError(
        absl::StrCat(program, " allows \"", name_, "\" only"));
  }

  absl::StatusOr<TestLimits> LimitsOf(
      const DistributedSystemDescription& test) const override {
    if (test.random_seed() == 13) {
      return absl::PermissionDeniedError("unlucky");
    }
    TestLimits own{.limits = {{name_, 1}}};
    own.findings.emplace_back().set_code("named");
    return own;
  }

  absl::Status CheckLimits(const DistributedSystemDescription&,
                           const std::vector<std::string>& instances,
                           const InstanceLimits& limits) const override {
    if (limits.contains(name_) && instances.size() <= name_.size()) {
      return absl::OkStatus();
    }
    return absl::PermissionDeniedError("too many");
  }

 private:
  const std::string name_;
};

class NameFlag final : public GuardFlag {
 public:
  std::string flag() const override { return "--allow_name"; }
  std::string type() const override { return "NAME"; }
  std::string description() const override { return "Tests that may run"; }
  absl::StatusOr<std::shared_ptr<const TestGuard>> MakeGuard(
      const std::vector<std::string>& values) const override {
    if (values.size() > 1) return absl::InvalidArgumentError("one name");
    return std::make_shared<const NameGuard>(values.empty() ? "" : values[0]);
  }
};

const base::Plugin<GuardFlag> kNameFlag("name", new NameFlag);

DistributedSystemDescription TestCalled(const std::string& name) {
  DistributedSystemDescription test;
  test.set_name(name);
  return test;
}

TEST(TestGuards, RefuseWhatNobodyAllowed) {
  EXPECT_EQ(TestGuards().Check(TestCalled("ab"), "node").code(),
            absl::StatusCode::kPermissionDenied);
}

TEST(TestGuards, DecideByTheValuesOfFlags) {
  const auto guards = TestGuards::Make({{"--allow_name", {"ab"}}});
  ASSERT_TRUE(guards.ok()) << guards.status();
  EXPECT_TRUE(guards->Check(TestCalled("ab"), "node").ok());
  EXPECT_THAT(base::Message(guards->Check(TestCalled("b"), "node")),
              HasSubstr("node allows \"ab\" only"));
  const absl::StatusOr<TestLimits> own = guards->LimitsOf(TestCalled("ab"));
  ASSERT_TRUE(own.ok()) << own.status();
  ASSERT_EQ(own->findings.size(), 1);
  EXPECT_EQ(own->findings[0].code(), "named");
  const InstanceLimits& limits = own->limits;
  EXPECT_THAT(limits, ElementsAre(testing::Pair("ab", 1)));
  EXPECT_TRUE(
      guards->CheckLimits(TestCalled("ab"), {"a/0", "a/1"}, limits).ok());
  EXPECT_FALSE(
      guards->CheckLimits(TestCalled("ab"), {"a/0", "a/1", "a/2"}, limits)
          .ok());
  EXPECT_FALSE(guards->CheckLimits(TestCalled("ab"), {"a/0"}, {}).ok());
}

TEST(TestGuards, MayRefuseATestWhenItBegins) {
  const auto guards = TestGuards::Make({{"--allow_name", {"ab"}}});
  ASSERT_TRUE(guards.ok()) << guards.status();
  DistributedSystemDescription test = TestCalled("ab");
  test.set_random_seed(13);
  EXPECT_EQ(base::Message(guards->LimitsOf(test).status()), "unlucky");
}

TEST(TestGuards, SayWhichValueIsWrong) {
  EXPECT_EQ(
      base::Message(TestGuards::Make({{"--allow_name", {"a", "b"}}}).status()),
      "one name");
}

}  // namespace
}  // namespace distbench::security
