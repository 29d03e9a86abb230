// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/external_services.h"

#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
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

TEST(ExternalServices, InstancesKnowWhatNamesStandFor) {
  DistributedSystemDescription test = CallsExample();
  ExternalService& cache = *test.mutable_services(2)->mutable_external();
  cache.set_addresses(0, "dns:///cache:1");
  cache.set_load_balancing("pick_first");
  const ExternalCalls calls =
      ExternalCallsOf(test, "front",
                      {{PinnedKey("dns:///cache:1", "10.0.0.1:1"), 50},
                       {PinnedKey("dns:///cache:1", "10.0.0.2:1"), 0},
                       {PinnedKey("dns:///cache:11", "10.0.0.3:1"), 0}});
  EXPECT_THAT(calls.calls.at(1).servers,
              ElementsAre("dns:///cache:1", "[::1]:2"));
  const ExternalServer& server = calls.servers.at("dns:///cache:1");
  EXPECT_THAT(server.pinned,
              ElementsAre(Pair("10.0.0.1:1", 50), Pair("10.0.0.2:1", 0)));
  EXPECT_EQ(server.policy, "pick_first");
  EXPECT_THAT(calls.servers.at("[::1]:2").pinned, IsEmpty());
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

TEST(ExternalServices, TargetsAreAddressesOrNamesForThem) {
  for (const char* good : {"a:1", "dns:///a.example.com:1", "dns:///[::1]:1"}) {
    EXPECT_TRUE(CheckTarget(good).ok()) << good;
  }
  for (const char* bad : {"dns:///a", "dns://8.8.8.8/a:1", "dns:a:1", "a"}) {
    EXPECT_FALSE(CheckTarget(bad).ok()) << bad;
  }
  EXPECT_THAT(base::Message(CheckTarget("xds:///a")),
              HasSubstr("lets a control plane send gRPC to further addresses"));
  EXPECT_THAT(base::Message(CheckTarget("unix:///a:1")),
              HasSubstr("has a scheme other than dns:///"));
  EXPECT_THAT(base::Message(CheckTarget("dns:///")),
              HasSubstr("is not HOST:PORT"));
}

TEST(CsvRows, ReadsCellsAsRfc4180HasThem) {
  const auto rows = ParseCsvRows(
      "\xef\xbb\xbfuser,text\r\n"
      "ann,\"a, \"\"b\"\"\nc\"\r\n"
      "\n"
      ",plain");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre(ElementsAre("user", "text"),
                                 ElementsAre("ann", "a, \"b\"\nc"),
                                 ElementsAre("", "plain")));
}

TEST(CsvRows, AnEmptyCellMayEndAFile) {
  const auto rows = ParseCsvRows("a,b\n1,");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(rows->at(1), ElementsAre("1", ""));
}

TEST(CsvRows, SaysInWhichLineAProblemIs) {
  const auto error = [](const char* text) {
    return std::string(ParseCsvRows(text).status().message());
  };
  EXPECT_THAT(error("a,b\n\"x\ny\",2\nsecret\n"),
              HasSubstr("line 4 has 1 cells, but the first row names 2"));
  EXPECT_THAT(error("a\n\"x"), HasSubstr("line 2 has a quote that is not"));
  EXPECT_THAT(error("a\nx\"y\n"), HasSubstr("line 2 has a quote inside"));
  EXPECT_THAT(error("a\n\"x\"y\n"), HasSubstr("line 2 has text after"));
  EXPECT_THAT(error("a,a\n1,2\n"), HasSubstr("two columns are called \"a\""));
  EXPECT_THAT(error("a,\n1,2\n"), HasSubstr("a column without a name"));
  EXPECT_THAT(error("a\n"), HasSubstr("at least one row"));
  EXPECT_THAT(error(""), HasSubstr("at least one row"));
}

std::vector<Finding> FindingsOf(const std::string& test,
                                const std::string& logs = "") {
  TestResult result;
  *result.mutable_traffic_config() =
      base::FromText<DistributedSystemDescription>(test);
  *result.mutable_service_logs() = base::FromText<ServiceLogs>(logs);
  report::FindingList findings;
  JudgeExternalCalls(result, findings);
  return findings.Take();
}

TEST(ExternalFindingsTest, TimePartsOfExternalServersCannotBeKnown) {
  const std::string call =
      "rpc_descriptions { name: 'get' external_call { method: '/p.C/Get' } } ";
  EXPECT_THAT(FindingsOf(call), IsEmpty());
  EXPECT_THAT(FindingsOf("measure_time_parts: true"), IsEmpty());
  const std::vector<Finding> findings =
      FindingsOf(call + "measure_time_parts: true");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity(), Finding::NOTE);
  EXPECT_EQ(findings[0].code(), "time_parts_external");
  EXPECT_THAT(findings[0].message(), HasSubstr("get: an external service"));
  EXPECT_NE(findings[0].advice(), "");
}

TEST(ExternalFindingsTest, SaysThatNobodyKnowsWhoAnswered) {
  const std::vector<Finding> findings = FindingsOf(
      "services { name: 'cache' external { tls { insecure_skip_verify: true } "
      "} }");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].code(), "external_unverified");
  EXPECT_THAT(findings[0].message(), HasSubstr("cache: insecure_skip_verify"));
}

TEST(ExternalFindingsTest, SaysThatResponsesWereTooLong) {
  const std::vector<Finding> findings = FindingsOf("", R"pb(
    instance_logs {
      key: "client/0"
      value { driver_counters { key: "responses_above_max_response" value: 3 } }
    }
    instance_logs {
      key: "client/1"
      value { driver_counters { key: "responses_above_max_response" value: 4 } }
    }
  )pb");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity(), Finding::WARN);
  EXPECT_EQ(findings[0].code(), "external_response_limit");
  EXPECT_THAT(findings[0].message(), HasSubstr("warm-up included: 7"));
}

TEST(ExternalServices, WhatClientsShowIsSecret) {
  auto test = base::FromText<DistributedSystemDescription>(R"pb(
    services {
      name: "cache"
      external {
        tls {
          ca_certificates: "PEM"
          client_certificate_file: "me.crt"
          client_certificates: "s3cret certificate"
          client_key: "s3cret key"
        }
      }
    }
  )pb");
  RedactSecrets(test);
  const std::string bytes = test.SerializeAsString();
  EXPECT_THAT(bytes, Not(HasSubstr("s3cret")));
  EXPECT_THAT(bytes, HasSubstr("me.crt"));
  EXPECT_THAT(bytes, HasSubstr("PEM"));
}

}  // namespace
}  // namespace distbench::external
