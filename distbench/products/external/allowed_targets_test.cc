// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/allowed_targets.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/external/external_services.h"
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

security::InstanceLimits LimitsOf(const AllowedTargets& allowed,
                                  const DistributedSystemDescription& test) {
  const auto limits = allowed.LimitsOf(test);
  EXPECT_TRUE(limits.ok()) << limits.status();
  return limits.ok() ? limits->limits : security::InstanceLimits();
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
  EXPECT_THAT(LimitsOf(Allow({"cache:1@300", "storage:2@1.5"}), Example()),
              ElementsAre(Pair("cache:1", 100), Pair("storage:2", 0.75)));
  EXPECT_THAT(LimitsOf(Allow({"cache:1", "storage:2", "other:3@7"}), Example()),
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
                                             LimitsOf(same, Example()))),
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
  EXPECT_THAT(ParseError({"dns:///a:1"}),
              AllOf(HasSubstr("is a name for addresses"),
                    HasSubstr("such as 10.0.0.1:9000 or 10.0.0.0/24:9000")));
  EXPECT_THAT(ParseError({"10.0.0.0/33:1"}), HasSubstr("is not HOST:PORT"));
}

TEST(AllowedTargets, RangesAllowTheAddressesThatTheyHave) {
  DistributedSystemDescription test = Example();
  const auto check = [&](const char* address) {
    test.mutable_services(2)->mutable_external()->set_addresses(0, address);
    return Allow({"10.0.0.0/24:1", "[2001:db8::/32]:1", "storage:2"})
        .Check(test, "x")
        .ok();
  };
  EXPECT_TRUE(check("10.0.0.7:1"));
  EXPECT_FALSE(check("10.0.1.7:1"));
  EXPECT_FALSE(check("10.0.0.7:2"));
  EXPECT_TRUE(check("[2001:db8:1::7]:1"));
  EXPECT_FALSE(check("[2001:db9::7]:1"));
  EXPECT_FALSE(check("cache:1"));
}

TEST(AllowedTargets, TheNarrowestRangeSaysTheRate) {
  DistributedSystemDescription test = Example();
  test.mutable_services(2)->mutable_external()->set_addresses(0, "10.0.0.7:1");
  EXPECT_THAT(LimitsOf(Allow({"10.0.0.0/24:1@30", "10.0.0.0/16:1@60",
                              "0.0.0.0/0:1", "storage:2"}),
                       test),
              ElementsAre(Pair("10.0.0.7:1", 10)));
  EXPECT_THAT(
      LimitsOf(Allow({"10.0.0.0/24:1@30", "10.0.0.7:1", "storage:2"}), test),
      IsEmpty());
}

// ---- Names ------------------------------------------------------------------

constexpr char kCache[] = "dns:///cache:1";

// As Example(), with a cache that is a name.
DistributedSystemDescription NameExample() {
  DistributedSystemDescription test = Example();
  test.mutable_services(2)->mutable_external()->set_addresses(0, kCache);
  return test;
}

// Name servers that say something else each time.
class FakeResolver {
 public:
  using Answer = absl::StatusOr<std::vector<std::string>>;

  explicit FakeResolver(std::vector<Answer> answers)
      : answers_(std::move(answers)) {}

  AllowedTargets Allow(std::vector<std::string> targets) {
    targets.push_back("storage:2");
    const auto allowed =
        AllowedTargets::Parse(targets, [this](const std::string& host) {
          asked_.push_back(host);
          return answers_.at(asked_.size() - 1);
        });
    EXPECT_TRUE(allowed.ok()) << allowed.status();
    return *allowed;
  }

  const std::vector<std::string>& asked() const { return asked_; }

 private:
  std::vector<Answer> answers_;
  std::vector<std::string> asked_;
};

using Addresses = std::vector<std::string>;

std::string KeyOf(const std::string& address) {
  return PinnedKey(kCache, address);
}

TEST(AllowedNames, StandForAllOfTheirAddresses) {
  FakeResolver names(
      {Addresses{"10.0.0.2", "10.0.0.1", "2001:db8::1", "10.0.0.2"}});
  const auto limits = names.Allow({"10.0.0.0/24:1@300", "[2001:db8::1]:1"})
                          .LimitsOf(NameExample());
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_THAT(limits->limits, ElementsAre(Pair(KeyOf("10.0.0.1:1"), 100),
                                          Pair(KeyOf("10.0.0.2:1"), 100),
                                          Pair(KeyOf("[2001:db8::1]:1"), 0)));
  EXPECT_THAT(names.asked(), ElementsAre("cache"));
  ASSERT_EQ(limits->findings.size(), 1);
  EXPECT_EQ(limits->findings[0].code(), "external_addresses");
  EXPECT_THAT(limits->findings[0].message(),
              AllOf(HasSubstr("cache: dns:///cache:1 stood for 10.0.0.1:1, "
                              "10.0.0.2:1, [2001:db8::1]:1")));
}

TEST(AllowedNames, OneAddressThatIsNotAllowedIsOneTooMany) {
  FakeResolver names({Addresses{"10.0.0.1", "10.0.9.1"}});
  const absl::Status status =
      names.Allow({"10.0.0.0/24:1"}).LimitsOf(NameExample()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(base::Message(status),
              AllOf(HasSubstr("stands for 10.0.0.1:1, 10.0.9.1:1 now"),
                    HasSubstr("does not allow tests to call 10.0.9.1:1"),
                    HasSubstr("--allow_target=10.0.9.1:1")));
}

TEST(AllowedNames, TheNameOfAHostThatIsAllowedDoesNotAllowItsAddresses) {
  FakeResolver names({Addresses{"10.0.0.1"}});
  EXPECT_EQ(names.Allow({"cache:1"}).LimitsOf(NameExample()).status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST(AllowedNames, ThatStandForNothingEndTheTest) {
  FakeResolver names({absl::NotFoundError("no such host"), Addresses{}});
  const AllowedTargets allowed = names.Allow({"10.0.0.0/24:1"});
  EXPECT_THAT(base::Message(allowed.LimitsOf(NameExample()).status()),
              AllOf(HasSubstr("dns:///cache:1"), HasSubstr("service \"cache\""),
                    HasSubstr("no such host")));
  EXPECT_THAT(base::Message(allowed.LimitsOf(NameExample()).status()),
              HasSubstr("it has none"));
}

TEST(AllowedNames, AreLookedUpOncePerTest) {
  DistributedSystemDescription test = NameExample();
  test.mutable_services(3)->mutable_external()->set_addresses(0, kCache);
  FakeResolver names({Addresses{"10.0.0.1"}, Addresses{"10.0.9.9"}});
  const AllowedTargets allowed = names.Allow({"10.0.0.0/24:1"});
  EXPECT_TRUE(allowed.Check(test, "x").ok());
  EXPECT_THAT(names.asked(), IsEmpty()) << "a test that waits is not looked up";
  const security::InstanceLimits limits = LimitsOf(allowed, test);
  EXPECT_THAT(limits, ElementsAre(Pair(KeyOf("10.0.0.1:1"), 0)));
  // What the name stands for by now does not matter to those who run the test.
  EXPECT_TRUE(allowed.CheckLimits(test, {"front/0"}, limits).ok());
  EXPECT_THAT(names.asked(), ElementsAre("cache"));
  EXPECT_FALSE(allowed.LimitsOf(test).ok()) << "the next test sees the change";
}

TEST(AllowedNames, AreRefusedAtOnceIfNothingIsAllowed) {
  DistributedSystemDescription test = NameExample();
  test.mutable_services(3)->clear_external();
  EXPECT_THAT(base::Message(AllowedTargets().Check(test, "sequencer")),
              AllOf(HasSubstr("dns:///cache:1"),
                    HasSubstr("--allow_target=ADDRESS:PORT")));
}

TEST(AllowedNames, WhoeverCallsAnAddressSharesItsRate) {
  DistributedSystemDescription test = NameExample();
  // Both call 10.0.0.1:1, by two names: three instances by one, two by another.
  test.mutable_services(3)->mutable_external()->set_addresses(0, "10.0.0.1:1");
  test.mutable_rpc_descriptions(1)->mutable_client()->DeleteSubrange(0, 1);
  FakeResolver names({Addresses{"10.0.0.1"}});
  EXPECT_THAT(
      LimitsOf(names.Allow({"10.0.0.1:1@30"}), test),
      ElementsAre(Pair("10.0.0.1:1", 10), Pair(KeyOf("10.0.0.1:1"), 10)))
      << "client/0 by the name, front/0 and front/1 by the address";
}

TEST(AllowedNames, ANodeChecksWhatTheSequencerSays) {
  FakeResolver nobody({});
  const AllowedTargets node = nobody.Allow({"10.0.0.0/24:1@100"});
  const auto check = [&](const security::InstanceLimits& shares) {
    return base::Message(
        node.CheckLimits(NameExample(), {"client/0", "front/0"}, shares));
  };
  EXPECT_EQ(check({{KeyOf("10.0.0.1:1"), 50}, {KeyOf("10.0.0.2:1"), 50}}), "");
  EXPECT_THAT(check({{KeyOf("10.0.0.1:1"), 50}, {KeyOf("10.0.9.1:1"), 50}}),
              AllOf(HasSubstr("this node manager does not allow"),
                    HasSubstr("call 10.0.9.1:1")));
  EXPECT_THAT(check({{KeyOf("10.0.0.1:1"), 51}}),
              HasSubstr("allows 100 RPCs per second to 10.0.0.1:1"));
  EXPECT_THAT(check({{KeyOf("10.0.0.1:1"), 0}}), HasSubstr("no limit"));
  EXPECT_THAT(check({}), HasSubstr("the sequencer says of no address"));
  EXPECT_THAT(check({{"10.0.0.1:1", 50}}),
              HasSubstr("the sequencer says of no address"));
  EXPECT_THAT(check({{KeyOf("other:1"), 50}}), HasSubstr("call other:1"));
  EXPECT_EQ(base::Message(node.CheckLimits(NameExample(), {"other/0"}, {})), "")
      << "it calls nothing";
}

}  // namespace
}  // namespace distbench::external
