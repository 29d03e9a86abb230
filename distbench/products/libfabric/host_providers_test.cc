// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/host_providers.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::libfabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kGenerous = absl::Seconds(20);

HostFacts Ask(const std::string& script, absl::Duration patience = kGenerous) {
  return FindProviders({.path = "/bin/sh", .arguments = {"sh", "-c", script}},
                       patience);
}

TEST(HostProvidersTest, AreWhatTheChildTells) {
  // An encoded HostFacts.
  const HostFacts facts = Ask(
      R"(echo noise; printf '\302\001\003shm\302\001\003tcp\012\001x' >&3)");
  EXPECT_THAT(facts.libfabric_providers(), ElementsAre("shm", "tcp"));
  EXPECT_FALSE(facts.has_libfabric_problem());
  EXPECT_FALSE(facts.has_hostname()) << "nobody has asked for that";
  EXPECT_FALSE(Ask("exit 0").has_libfabric_problem()) << "there are none";
  EXPECT_EQ(Ask(R"(printf '\312\001\004gone' >&3)").libfabric_problem(),
            "gone");
  EXPECT_THAT(Ask("echo bytes >&3").libfabric_problem(),
              HasSubstr("gave no answer"));
}

TEST(HostProvidersTest, AChildThatHangsIsKilled) {
  const HostFacts facts =
      Ask("echo shm >&3; sleep 1000 & wait", absl::Milliseconds(50));
  EXPECT_THAT(facts.libfabric_providers(), IsEmpty());
  EXPECT_THAT(facts.libfabric_problem(), HasSubstr("longer than 50ms"));
}

TEST(HostProvidersTest, AChildThatCrashesIsAProblem) {
  EXPECT_THAT(Ask("echo shm >&3; kill -SEGV $$").libfabric_problem(),
              HasSubstr("killed by signal 11"));
  EXPECT_THAT(FindProviders({.path = "/no/such", .arguments = {"x"}}, kGenerous)
                  .libfabric_problem(),
              HasSubstr("status 127"));
}

TEST(HostProvidersTest, NobodyWaitsForAProcessThatIsNoChild) {
  EXPECT_FALSE(TellProviders({}));
}

}  // namespace
}  // namespace distbench::libfabric
