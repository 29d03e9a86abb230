// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/suggestions.h"

#include "gtest/gtest.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

TEST(FieldSuggestion, IsAFieldOfTheTypeIfOneIsClose) {
  EXPECT_EQ(FieldSuggestion(*ServiceSpec::descriptor(), "cuont"),
            " Did you mean \"count\"?");
  EXPECT_EQ(FieldSuggestion(*ServiceSpec::descriptor(), "zzz"), "");
}

// A test without "tests { }" around it is the commonest.
TEST(FieldSuggestion, SaysWhatWithinTheTypeHasTheField) {
  EXPECT_EQ(FieldSuggestion(*TestSequence::descriptor(), "services"),
            " It is a field of tests.");
  EXPECT_EQ(FieldSuggestion(*TestSequence::descriptor(), "rpcDescriptions"),
            " It is a field of tests.");
  EXPECT_EQ(FieldSuggestion(*Action::descriptor(), "rate"),
            " It is a field of iterations.");
  EXPECT_EQ(FieldSuggestion(*RpcSpec::descriptor(), "max_attempts"),
            " It is a field of policy.retry or policy.hedging.");
}

TEST(FieldSuggestion, SaysWhatElseInATestHasTheField) {
  EXPECT_EQ(FieldSuggestion(*Iterations::descriptor(), "dependencies"),
            " It is a field of tests.actions.");
  EXPECT_EQ(FieldSuggestion(*ServiceSpec::descriptor(), "action_names"),
            " It is a field of tests.action_lists.");
  EXPECT_EQ(FieldSuggestion(*Action::descriptor(), "deadline"),
            " It is a field of tests.rpc_descriptions.");
}

TEST(FieldSuggestion, SaysNothingOfTestsInOtherFiles) {
  EXPECT_EQ(FieldSuggestion(*SimulatedFabric::descriptor(), "dependencies"),
            "");
}

TEST(WordSuggestion, IsAboutAllEnumsThatMayBeMeant) {
  EXPECT_EQ(
      WordSuggestion(*TestSequence::descriptor(), "memory_policy", "BNID"),
      "did you mean \"BIND\"?");
  EXPECT_EQ(WordSuggestion(*TestSequence::descriptor(), "name", "BNID"), "");
  EXPECT_EQ(WordSuggestion(*TestSequence::descriptor(), "nowhere", "BNID"), "");
}

}  // namespace
}  // namespace distbench::config
