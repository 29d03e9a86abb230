// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/allowed_targets.h"

#include <limits>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Three instances call cache:1, two of them storage:2 as well.
DistributedSystemDescription Example() {
  return base::FromText<DistributedSystemDescription>(R"(
    services { name: "client" count: 1 }
    services { name: "front" count: 2 }
    services { name: "cache" count: 1 external { addresses: "cache:1" } }
    services { name: "storage" count: 1 external { addresses: "storage:2" } }
    rpc_descriptions { name: "ask" client: "client" server: "front" }
    rpc_descriptions {
      name: "get" client: "front" client: "client" server: "cache"
    }
    rpc_descriptions { name: "put" client: "front" server: "storage" })");
}

AllowedTargets Allow(const std::vector<std::string>& targets) {
  const auto allowed = AllowedTargets::Parse(targets);
  EXPECT_TRUE(allowed.ok()) << allowed.status();
  return *allowed;
}

std::string ParseError(const std::vector<std::string>& targets) {
  return base::Message(AllowedTargets::Parse(targets).status());
}

TEST(AllowedTargets, NothingIsAllowedUnlessSaid) {
  const absl::Status status = AllowedTargets().Check(Example(), "sequencer");
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(base::Message(status),
              AllOf(HasSubstr("service \"cache\" is external at cache:1"),
                    HasSubstr("this sequencer does not allow"),
                    HasSubstr("--allow_target=cache:1")));
}

TEST(AllowedTargets, EveryAddressOfATestMustBeAllowed) {
  EXPECT_TRUE(Allow({"cache:1", "storage:2@5"}).Check(Example(), "x").ok());
  EXPECT_THAT(base::Message(Allow({"cache:1"}).Check(Example(), "x")),
              HasSubstr("storage:2"));
  EXPECT_FALSE(Allow({"cache:1", "storage:3"}).Check(Example(), "x").ok());
  EXPECT_FALSE(Allow({"cache:1", "STORAGE:2"}).Check(Example(), "x").ok())
      << "names are compared as they are written";
  EXPECT_TRUE(AllowedTargets().Check(DistributedSystemDescription(), "x").ok());
}

TEST(AllowedTargets, RatesAreDividedAmongTheInstancesThatCall) {
  EXPECT_THAT(Allow({"cache:1@300", "storage:2@1.5"}).LimitsOf(Example()),
              ElementsAre(Pair("cache:1", 100), Pair("storage:2", 0.75)));
  EXPECT_THAT(Allow({"cache:1", "storage:2", "other:3@7"}).LimitsOf(Example()),
              IsEmpty());
}

TEST(AllowedTargets, ANodeHoldsItsOwnRate) {
  const AllowedTargets node = Allow({"cache:1@200", "storage:2"});
  const auto check = [&](const std::vector<std::string>& instances,
                         const security::InstanceLimits& shares) {
    return base::Message(node.CheckLimits(Example(), instances, shares));
  };
  EXPECT_EQ(check({"front/0", "front/1"}, {{"cache:1", 100}}), "");
  EXPECT_THAT(check({"client/0", "front/0", "front/1"}, {{"cache:1", 100}}),
              AllOf(HasSubstr("allows 200 RPCs per second to cache:1"),
                    HasSubstr("gives its instances 300")));
  EXPECT_THAT(check({"front/0"}, {}), HasSubstr("no limit"));
  EXPECT_THAT(check({"front/0"}, {{"cache:1", 0}}), HasSubstr("no limit"));
  EXPECT_THAT(check({"front/0"}, {{"cache:1", -1}}), HasSubstr("no limit"));
  EXPECT_THAT(check({"front/0"},
                    {{"cache:1", std::numeric_limits<double>::quiet_NaN()}}),
              HasSubstr("no limit"));
  EXPECT_EQ(check({"other/0"}, {}), "") << "it calls nothing";
}

TEST(AllowedTargets, SharesThatAddUpToTheRateAreNotRefusedForRounding) {
  for (const char* rate : {"1", "0.1", "1000", "33.3"}) {
    const AllowedTargets same = Allow({std::string("cache:1@") + rate});
    EXPECT_EQ(base::Message(same.CheckLimits(Example(),
                                             {"client/0", "front/0", "front/1"},
                                             same.LimitsOf(Example()))),
              "");
  }
}

TEST(AllowedTargets, SaysWhatIsWrongWithATarget) {
  EXPECT_THAT(ParseError({"a:1", "b"}),
              AllOf(HasSubstr("\"b\""), HasSubstr("is not HOST:PORT")));
  EXPECT_THAT(ParseError({"*:1"}), HasSubstr("is not HOST:PORT"));
  for (const char* bad : {"a:1@", "a:1@0", "a:1@-3", "a:1@x", "a:1@inf"}) {
    EXPECT_THAT(ParseError({bad}), HasSubstr("has no rate behind its @"))
        << bad;
  }
  EXPECT_THAT(ParseError({"a:1", "a:1@5"}), HasSubstr("is given twice"));
}

}  // namespace
}  // namespace distbench::external
