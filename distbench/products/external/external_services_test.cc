#include "distbench/products/external/external_services.h"

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

DistributedSystemDescription CallsExample() {
  return base::FromText<DistributedSystemDescription>(R"(
    random_seed: 7
    services { name: "client" count: 2 }
    services { name: "front" count: 3 }
    services {
      name: "cache" count: 1
      external {
        addresses: ["cache:1", "[::1]:2"]
        tls { server_name: "c" ca_certificates: "PEM" }
      }
    }
    rpc_descriptions { name: "ask" client: "client" server: "front" }
    rpc_descriptions {
      name: "get" client: "front" server: "cache"
      external_call {
        method: "/p.Cache/Get" request_text: "key: '{{row:user}}'"
        metadata { key: "token" value: "s3cret" }
        rows: "user\nann\n" rows_file: "users.csv"
      }
    }
    rpc_descriptions {
      name: "put" client: "client" server: "cache"
      external_call { method: "/p.Cache/Put" }
    })");
}

TEST(ExternalServices, InstancesKnowWhatTheyCall) {
  const ExternalCalls calls =
      ExternalCallsOf(CallsExample(), "front", {{"cache:1", 50}});
  EXPECT_EQ(calls.seed, 7);
  ASSERT_THAT(calls.calls, ElementsAre(Pair(1, testing::_)));
  const ExternalCall& get = calls.calls.at(1);
  EXPECT_EQ(get.method, "/p.Cache/Get");
  EXPECT_FALSE(get.is_json);
  EXPECT_EQ(get.request, "key: '{{row:user}}'");
  EXPECT_THAT(get.rows, ElementsAre(ElementsAre("user"), ElementsAre("ann")));
  EXPECT_THAT(get.metadata, ElementsAre(Pair("token", "s3cret")));
  EXPECT_THAT(get.servers, ElementsAre("cache:1", "[::1]:2"));
  const ExternalServer& limited = calls.servers.at("cache:1");
  EXPECT_TRUE(limited.uses_tls);
  EXPECT_EQ(limited.ca_certificates, "PEM");
  EXPECT_EQ(limited.server_name, "c");
  EXPECT_EQ(limited.max_rate, 50);
  EXPECT_EQ(calls.servers.at("[::1]:2").max_rate, 0);
}

TEST(ExternalServices, ACallWithoutARequestSendsAnEmptyOne) {
  const ExternalCalls calls = ExternalCallsOf(CallsExample(), "client", {});
  EXPECT_TRUE(calls.calls.at(2).is_json);
  EXPECT_EQ(calls.calls.at(2).request, "{}");
}

TEST(ExternalServices, ATargetKnowsItsClients) {
  EXPECT_THAT(ClientsByTarget(CallsExample()),
              UnorderedElementsAre(
                  Pair("cache:1", UnorderedElementsAre("client", "front")),
                  Pair("[::1]:2", UnorderedElementsAre("client", "front"))));
}

TEST(ExternalServices, WhatMayBeSecretIsRemoved) {
  DistributedSystemDescription test = CallsExample();
  RedactSecrets(test);
  const std::string bytes = test.SerializeAsString();
  EXPECT_THAT(bytes, Not(HasSubstr("s3cret")));
  EXPECT_THAT(bytes, Not(HasSubstr("ann")));
  EXPECT_THAT(bytes, HasSubstr("token")) << "names remain";
  EXPECT_THAT(bytes, HasSubstr("users.csv"));
}

TEST(ExternalServices, AddressesHaveAHostAndAPort) {
  for (const char* good : {"a:1", "cache-1.example.com:65535", "10.0.0.1:80",
                           "[::1]:443", "[fe80::1]:5"}) {
    EXPECT_TRUE(CheckHostPort(good).ok()) << good;
  }
  for (const char* bad :
       {"", "a", ":1", "a:", "a:0", "a:65536", "a:-1", "a:+1", "::1:80",
        "[::1]", "[a]:1", "*:80", "a b:1", "dns:///a:1", "a:1,b:2", "a:1@5"}) {
    EXPECT_FALSE(CheckHostPort(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace distbench::external
