// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/authorization.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::security {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kRunTests[] = "/distbench.DistBenchTestSequencer/RunTests";
constexpr char kRunTestSequence[] =
    "/distbench.DistBenchTestSequencer/RunTestSequence";
constexpr char kCancelRun[] = "/distbench.DistBenchTestSequencer/CancelRun";
constexpr char kNodeSession[] = "/distbench.DistBenchTestSequencer/NodeSession";
constexpr char kGetStatus[] = "/distbench.DistBenchTestSequencer/GetStatus";

TEST(AuthorizationTest, WithoutRulesEveryCertificateWillDo) {
  EXPECT_TRUE(CheckAccess({}, kRunTests, {"anybody"}).ok());
  EXPECT_TRUE(CheckAccess({}, kNodeSession, {}).ok());
}

TEST(AuthorizationTest, OnlyNamedClientsSubmit) {
  const AccessRules rules = {.submit = {"alice", "bob"}};
  EXPECT_TRUE(CheckAccess(rules, kRunTests, {"x", "bob"}).ok());
  EXPECT_TRUE(CheckAccess(rules, kCancelRun, {"alice"}).ok());
  for (const auto& names : std::vector<std::vector<std::string>>{
           {}, {"ALICE"}, {"alice.example.com"}, {""}, {"carol", "dave"}}) {
    const absl::Status status = CheckAccess(rules, kRunTests, names);
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(status.message()), HasSubstr("--allow_submit"));
  }
  // These rules do not restrict nodes.
  EXPECT_TRUE(CheckAccess(rules, kNodeSession, {"carol"}).ok());
}

// Without tests, the call can shut the cluster down.
TEST(AuthorizationTest, ExistingClientsNeedTheSameRight) {
  const AccessRules rules = {.submit = {"alice"}};
  EXPECT_TRUE(CheckAccess(rules, kRunTestSequence, {"alice"}).ok());
  EXPECT_FALSE(CheckAccess(rules, kRunTestSequence, {"carol"}).ok());
}

// It is only told that it cannot take part.
TEST(AuthorizationTest, NodeManagersOfOtherProgramsAreAnswered) {
  const AccessRules rules = {.submit = {"alice"}, .node = {"node"}};
  EXPECT_TRUE(
      CheckAccess(rules, "/distbench.DistBenchTestSequencer/RegisterNode", {})
          .ok());
}

TEST(AuthorizationTest, OnlyNamedNodesRegister) {
  const AccessRules rules = {.node = {"node"}};
  EXPECT_TRUE(CheckAccess(rules, kNodeSession, {"node"}).ok());
  EXPECT_THAT(
      std::string(CheckAccess(rules, kNodeSession, {"carol"}).message()),
      AllOf(HasSubstr("--allow_node"), HasSubstr("carol")));
  EXPECT_TRUE(CheckAccess(rules, kRunTests, {"carol"}).ok());
}

TEST(AuthorizationTest, WhatIsNotKnownToBeHarmlessIsNotOpen) {
  const AccessRules rules = {.submit = {"alice"}};
  EXPECT_TRUE(CheckAccess(rules, kGetStatus, {"carol"}).ok());
  EXPECT_TRUE(
      CheckAccess(rules, "/grpc.health.v1.Health/Check", {"carol"}).ok());
  EXPECT_FALSE(
      CheckAccess(rules, "/distbench.DistBenchTestSequencer/New", {"carol"})
          .ok());
  EXPECT_FALSE(
      CheckAccess(rules, "/distbench.DistBenchTestSequencer/", {"carol"}).ok());
}

}  // namespace
}  // namespace distbench::security
