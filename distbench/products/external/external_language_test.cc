// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/reading/referenced_files.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Frontends call a cache that is not the test's.
constexpr char kConfig[] = R"(tests {
  services { name: 'client' count: 1 }
  services { name: 'front' count: 2 }
  services {
    name: 'cache'
    external { addresses: 'cache:1' addresses: '[::1]:2' }
  }
  rpc_descriptions { name: 'ask' client: 'client' server: 'front' }
  rpc_descriptions {
    name: 'get' client: 'front' server: 'cache'
    external_call {
      method: '/p.Cache/Get' request_json: '{"key": "{{counter}}"}'
      metadata { key: 'token' value: 'secret' }
    }
  }
  payload_descriptions { name: 'small' size: 10 }
  action_lists { name: 'client' action_names: 'asking' }
  action_lists { name: 'ask' action_names: 'getting' }
  actions { name: 'asking' rpc_name: 'ask' }
  actions { name: 'getting' rpc_name: 'get' }
})";

absl::StatusOr<TestSequence> Check(const std::string& text) {
  absl::StatusOr<TestSequence> sequence =
      config::ParseTestSequence(text, "case");
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  return config::CheckTestSequence(*std::move(sequence));
}

// The problems of the config after an edit.
std::string ProblemTextsAfter(const std::string& old_text,
                              const std::string& new_text) {
  EXPECT_TRUE(absl::StrContains(kConfig, old_text)) << old_text;
  const auto checked =
      Check(absl::StrReplaceAll(kConfig, {{old_text, new_text}}));
  return std::string(checked.status().message());
}

std::string ProblemsWith(const std::string& more) {
  return ProblemTextsAfter("payload_descriptions {",
                           absl::StrCat(more, " payload_descriptions {"));
}

TEST(ExternalServices, AreServicesOfOneInstanceThatNoListHandles) {
  const auto checked = Check(kConfig);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->tests(0).services(2).count(), 1);
  const config::Plan plan = config::Compile(checked->tests(0));
  EXPECT_THAT(plan.services[2].outside_addresses,
              ElementsAre("cache:1", "[::1]:2"));
  EXPECT_EQ(plan.services[2].outside_policy, "round_robin");
  EXPECT_EQ(plan.services[2].main_list, config::kNone);
  EXPECT_EQ(plan.rpcs[1].handler_list, config::kNone);
  EXPECT_TRUE(plan.services[1].outside_addresses.empty());
}

TEST(ExternalServices, HaveAddressesAndKnownWaysToChooseAmongThem) {
  const std::string addresses = "addresses: 'cache:1' addresses: '[::1]:2'";
  EXPECT_THAT(ProblemTextsAfter(addresses, ""),
              HasSubstr("services[\"cache\"].external.addresses: is missing"));
  EXPECT_THAT(ProblemTextsAfter("'cache:1'", "'cache'"),
              HasSubstr("addresses[0]: \"cache\" is not HOST:PORT"));
  EXPECT_THAT(ProblemTextsAfter("'cache:1'", "'xds:///cache'"),
              HasSubstr("addresses[0]: \"xds:///cache\" lets a control "));
  EXPECT_EQ(ProblemTextsAfter("'cache:1'", "'dns:///cache:1'"), "");
  EXPECT_THAT(ProblemTextsAfter("'[::1]:2'", "'cache:1'"),
              HasSubstr("addresses[1]: \"cache:1\" is listed more than once"));
  EXPECT_THAT(
      ProblemTextsAfter(addresses, addresses + " load_balancing: 'random'"),
      HasSubstr("\"random\" is no load balancing"));
  EXPECT_THAT(ProblemTextsAfter(addresses, addresses + " tls { ca_file: 'x' }"),
              HasSubstr("external.tls.ca_file: has no content"));
  EXPECT_THAT(
      ProblemTextsAfter(addresses, addresses + " tls { ca_certificates: 'x' }"),
      HasSubstr("external.tls.ca_file: has no certificate in PEM"));
}

TEST(ExternalServices, RunNothingHere) {
  EXPECT_THAT(ProblemTextsAfter("name: 'cache'", "name: 'cache' count: 2"),
              HasSubstr("services[\"cache\"].count: an external service "
                        "counts as one"));
  EXPECT_THAT(ProblemTextsAfter("name: 'cache'",
                                "name: 'cache' numa_binding { nodes: '0' }"),
              HasSubstr("services[\"cache\"].numa_binding: an external"));
  EXPECT_THAT(ProblemTextsAfter("name: 'cache'",
                                "name: 'cache' admission { max_running: 1 }"),
              HasSubstr("services[\"cache\"].admission: an external"));
  EXPECT_THAT(
      ProblemsWith("server_faults { name: 'fault' service: 'cache' "
                   "error_code: 'ABORTED' }"),
      HasSubstr("server_faults[\"fault\"].service: is the external service "
                "\"cache\", which distbench does not run"));
  EXPECT_THAT(ProblemsWith("action_lists { name: 'cache' }"),
              HasSubstr("action_lists[\"cache\"]: an external service runs"));
  EXPECT_THAT(ProblemsWith("action_lists { name: 'get' }"),
              HasSubstr("action_lists[\"get\"]: an external service runs"));
  EXPECT_THAT(ProblemsWith("node_service_bundles { key: 'node0' "
                           "value { services: 'cache/0' } }"),
              HasSubstr("node_service_bundles[\"node0\"].services[0]: an"));
  EXPECT_THAT(ProblemsWith("service_constraints { key: 'cache/0' value {} }"),
              HasSubstr("service_constraints[\"cache/0\"]: an external"));
  EXPECT_THAT(ProblemTextsAfter("server: 'front'",
                                "server: 'front' "
                                "client: 'cache'"),
              HasSubstr("client[1]: service \"cache\" is external"));
  EXPECT_THAT(ProblemsWith("rpc_replay_traces { name: 't' client: 'client' "
                           "server: 'cache' records {} }"),
              HasSubstr("rpc_replay_traces[\"t\"].server: service \"cache\""));
}

TEST(ExternalServices, AreCalledByExternalCallsAndOnlyThey) {
  EXPECT_THAT(
      ProblemTextsAfter("server: 'front' }",
                        "server: 'front' external_call { method: '/a/B' }}"),
      HasSubstr("rpc_descriptions[\"ask\"].external_call: service "
                "\"front\" is not external"));
  EXPECT_THAT(ProblemsWith("rpc_descriptions { name: 'put' client: 'front' "
                           "server: 'cache' }"),
              HasSubstr("rpc_descriptions[\"put\"].external_call: is missing"));
  EXPECT_THAT(ProblemTextsAfter("server: 'cache'",
                                "server: 'cache' "
                                "request_payload_name: 'small'"),
              HasSubstr("request_payload_name: has no effect on a request of "
                        "an external service without {{filler}}"));
  EXPECT_THAT(
      ProblemTextsAfter("rpc_name: 'get'",
                        "rpc_name: 'get' request_payload_override: 'small'"),
      HasSubstr("actions[\"getting\"].request_payload_override: has no"));
}

std::string ProblemsOfStream(const std::string& stream) {
  return ProblemTextsAfter(
      "server: 'cache'",
      absl::StrCat("server: 'cache' stream { ", stream, "}"));
}

TEST(ExternalCalls, MayStreamWhatTheClientSends) {
  EXPECT_EQ(ProblemsOfStream("client_messages: 3 client_interval: '1ms'"), "");
  EXPECT_EQ(ProblemsOfStream("response_starts: 'echo'"), "");
  EXPECT_EQ(ProblemsOfStream("response_starts: 'on_first_request'"), "");
  for (const char* of_server : {"server_messages: 2", "server_interval: '1ms'",
                                "server_interval_ns: 1000"}) {
    EXPECT_THAT(ProblemsOfStream(of_server),
                HasSubstr("is for servers of distbench; an external service "
                          "sends what it likes"));
  }
  EXPECT_THAT(ProblemsOfStream("response_starts: 'on_last_request'"),
              HasSubstr("rpc_descriptions[\"get\"].stream.response_starts: is "
                        "for servers of distbench"));
  EXPECT_THAT(ProblemsOfStream("client_messages: 1000001"),
              HasSubstr("stream.client_messages: 1000001"));
}

TEST(ExternalCalls, APayloadIsTheSizeOfAFiller) {
  const auto checked = Check(absl::StrReplaceAll(
      kConfig,
      {{"{{counter}}", "{{filler}}"},
       {"server: 'cache'", "server: 'cache' request_payload_name: 'small'"}}));
  EXPECT_TRUE(checked.ok()) << checked.status();
}

TEST(ExternalCalls, AFillerNeedsASize) {
  EXPECT_THAT(ProblemTextsAfter("{{counter}}", "{{filler}}"),
              HasSubstr("rpc_descriptions[\"get\"].request_payload_name: is "
                        "missing; it says how long {{filler}} makes"));
}

TEST(ExternalServices, ConnectAsTheySay) {
  const auto problems = [](const std::string& more) {
    return ProblemTextsAfter("external {", absl::StrCat("external { ", more));
  };
  EXPECT_EQ(problems("connections: 4 connection_policy: 'least_in_flight' "
                     "user_agent: 'load test' max_response: '1MiB'"),
            "");
  EXPECT_THAT(problems("connections: 0"), HasSubstr("external.connections: 0"));
  EXPECT_THAT(problems("connection_policy: 'random'"),
              HasSubstr("\"random\" is no connection policy"));
  EXPECT_THAT(problems("max_response: '1'"),
              HasSubstr("external.max_response: "));
  EXPECT_THAT(problems("user_agent: 'a\\nb'"),
              HasSubstr("external.user_agent: "));
  EXPECT_THAT(problems("tls { client_certificate_file: 'a' "
                       "client_certificates: 'CERTIFICATE-----' }"),
              HasSubstr("client_certificate_file: needs client_key_file"));
  EXPECT_THAT(problems("tls { client_key: 'x' }"),
              HasSubstr("tls.client_key_file: has no private key in PEM"));
  EXPECT_THAT(problems("tls { client_key: '-----BEGIN ENCRYPTED PRIVATE "
                       "KEY-----' }"),
              HasSubstr("tls.client_key_file: has a key with a password"));
  EXPECT_THAT(problems("tls { client_key: '(redacted)' }"),
              HasSubstr("tls.client_key_file: was removed"));
  EXPECT_THAT(problems("tls { insecure_skip_verify: true ca_file: 'a' "
                       "ca_certificates: '-----BEGIN CERTIFICATE-----' }"),
              HasSubstr("tls.ca_file: has no effect with insecure_skip"));
}

TEST(ExternalCalls, SayHowTheyAreMade) {
  const auto problems = [](const std::string& more) {
    return ProblemTextsAfter("method:", absl::StrCat(more, " method:"));
  };
  EXPECT_EQ(problems("compression: 'gzip' wait_for_ready: true"), "");
  EXPECT_THAT(problems("compression: 'zstd'"),
              HasSubstr("\"zstd\" is no compression"));
  EXPECT_THAT(problems("request_binary: 'x'"),
              HasSubstr("request_binary: excludes request_json"));
}

TEST(ExternalCalls, AreCheckedBeforeTheyAreMade) {
  EXPECT_THAT(ProblemTextsAfter("/p.Cache/Get", "p.Cache.Get"),
              HasSubstr("rpc_descriptions[\"get\"].external_call: method: "));
  EXPECT_THAT(ProblemTextsAfter("{{counter}}", "{{contour}}"),
              HasSubstr("external_call: request: "));
  EXPECT_THAT(
      ProblemTextsAfter("key: 'token'", "key: 'Token'"),
      HasSubstr("metadata[\"Token\"]: \"Token\" is not a name of metadata"));
  EXPECT_THAT(
      ProblemTextsAfter("key: 'token'", "key: 'grpc-x'"),
      HasSubstr("metadata[\"grpc-x\"]: \"grpc-x\" is not a name of metadata"));
  EXPECT_THAT(ProblemTextsAfter("method:", "request_text: '' method:"),
              HasSubstr("request_text: excludes request_json"));
}

TEST(ExternalCalls, NeedTheContentsOfTheirFiles) {
  EXPECT_THAT(
      ProblemTextsAfter(
          "method:", "rows_file: 'r.csv' descriptor_set_file: 'd.pb' method:"),
      AllOf(HasSubstr("external_call.rows_file: \"r.csv\" has no content"),
            HasSubstr("descriptor_set_file: \"d.pb\" has no content")));
  EXPECT_THAT(ProblemTextsAfter("method:", "rows: 'a,b\\n1\\n' method:"),
              HasSubstr("external_call.rows_file: line 2 has 1 cells"));
}

TEST(ExternalCalls, ConfigsOfResultsDoNotRunWithoutTheirSecrets) {
  EXPECT_THAT(ProblemTextsAfter("'secret'", "'(redacted)'"),
              HasSubstr("metadata[\"token\"]: was removed"));
  EXPECT_THAT(ProblemTextsAfter("method:", "rows: '(redacted)' method:"),
              HasSubstr("external_call.rows: was removed"));
}

TEST(ExternalServices, AnAddressIsReachedInOneWay) {
  const std::string other =
      "services { name: 'other' external { addresses: 'cache:1' ";
  EXPECT_EQ(ProblemsWith(other + "} }"), "");
  EXPECT_THAT(ProblemsWith(other + "tls {} } }"),
              HasSubstr("services[\"other\"].external.tls: service \"cache\" "
                        "has the address \"cache:1\" too"));
  for (const char* field :
       {"user_agent: 'a'", "connections: 2", "max_response_bytes: 1",
        "connection_policy: 'least_in_flight'"}) {
    EXPECT_THAT(ProblemsWith(absl::StrCat(other, field, " } }")),
                HasSubstr("too, with another "))
        << field;
  }
}

constexpr char kConfigWithFiles[] = R"(
  tests {
    services {
      name: "cache" external { tls { ca_file: "parts/ca.pem" } }
    }
    rpc_descriptions {
      name: "get"
      external_call {
        request_file: "parts/get.json"
        descriptor_set_file: "parts/cache.pb"
        rows_file: "parts/users.csv"
      }
    }
  })";

class FilesOfCallsTest : public testing::Test {
 protected:
  FilesOfCallsTest() {
    std::filesystem::create_directories(folder_ + "/parts");
  }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ + "/" + name) << content;
  }

  const std::string folder_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FilesOfCallsTest, AreReadFromTheFolderOfTheConfig) {
  Write("parts/ca.pem", "PEM");
  Write("parts/get.json", "{\"key\": 1}");
  Write("parts/cache.pb", "descriptors");
  Write("parts/users.csv", "user\nann\n");
  Write("test.config", kConfigWithFiles);
  const auto sequence = config::LoadTestSequence(folder_ + "/test.config");
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  const DistributedSystemDescription& test = sequence->tests(0);
  EXPECT_EQ(test.services(0).external().tls().ca_certificates(), "PEM");
  const ExternalCallSpec& call = test.rpc_descriptions(0).external_call();
  EXPECT_EQ(call.request_json(), "{\"key\": 1}");
  EXPECT_EQ(call.descriptors(), "descriptors");
  EXPECT_EQ(call.rows(), "user\nann\n");
  // Nothing is read again for a config that has everything.
  std::filesystem::remove_all(folder_ + "/parts");
  TestSequence whole = *sequence;
  EXPECT_THAT(config::ReadReferencedFiles(folder_ + "/test.config", whole),
              IsEmpty());
}

TEST_F(FilesOfCallsTest, ErrorsNameEveryFileThatCannotBeRead) {
  Write("test.config", kConfigWithFiles);
  Write("parts/get.json", "{}");
  const auto sequence = config::LoadTestSequence(folder_ + "/test.config");
  EXPECT_THAT(
      std::string(sequence.status().message()),
      AllOf(HasSubstr("tests[0].services[\"cache\"].external.tls.ca_file: "
                      "cannot read"),
            HasSubstr("tests[0].rpc_descriptions[\"get\"].external_call."
                      "rows_file: cannot read"),
            HasSubstr("cache.pb")));
}

// Names are not checked yet when files are read.
TEST_F(FilesOfCallsTest, ErrorsAreAtTheElementThatNamesTheFile) {
  Write("test.config", R"(tests {
  services { name: "cache" }
  services { name: "cache" external { tls { ca_file: "none.pem" } } }
  rpc_descriptions { name: "get" }
  rpc_descriptions { name: "get" external_call { rows_file: "none.csv" } }
  rpc_descriptions { external_call { rows_file: "none.csv" } }
})");
  const auto sequence = config::LoadTestSequence(folder_ + "/test.config");
  const std::vector<std::string> lines =
      absl::StrSplit(sequence.status().message(), '\n');
  EXPECT_THAT(
      lines,
      ElementsAre(
          HasSubstr(":3:45: tests[0].services[1].external.tls.ca_file: "),
          HasSubstr(":5:50: tests[0].rpc_descriptions[1].external_call.rows_"),
          HasSubstr(":6:38: tests[0].rpc_descriptions[2].external_call.row")));
}

TEST_F(FilesOfCallsTest, TheEndingSaysHowARequestIsWritten) {
  Write("a.txtpb", "key: 1");
  Write("a.binpb", "bytes");
  auto sequence = base::FromText<TestSequence>(R"(
    tests { rpc_descriptions { external_call { request_file: "a.txtpb" } } }
    tests { rpc_descriptions { external_call { request_file: "a.xml" } } }
    tests { rpc_descriptions { external_call { request_file: "a.binpb" } } })");
  const absl::Status status = config::ToStatus(
      config::ReadReferencedFiles(folder_ + "/test.config", sequence));
  EXPECT_EQ(
      sequence.tests(0).rpc_descriptions(0).external_call().request_text(),
      "key: 1");
  EXPECT_EQ(
      sequence.tests(2).rpc_descriptions(0).external_call().request_binary(),
      "bytes");
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("tests[1]"),
                    HasSubstr("\"a.xml\" has no ending that says how")));
}

TEST_F(FilesOfCallsTest, ClientsShowWhatIsInFiles) {
  Write("me.crt", "certificate");
  Write("me.key", "key");
  auto sequence = base::FromText<TestSequence>(
      "tests { services { name: 'cache' external { tls { "
      "client_certificate_file: 'me.crt' client_key_file: 'me.key' } } } }");
  EXPECT_THAT(config::ReadReferencedFiles(folder_ + "/test.config", sequence),
              IsEmpty());
  const ExternalTls& tls = sequence.tests(0).services(0).external().tls();
  EXPECT_EQ(tls.client_certificates(), "certificate");
  EXPECT_EQ(tls.client_key(), "key");
}

TEST_F(FilesOfCallsTest, PrivateKeysAreNotSent) {
  Write("both.pem", "-----BEGIN PRIVATE KEY-----\nAA==\n");
  auto sequence = base::FromText<TestSequence>(
      "tests { services { name: 'cache' external { tls { ca_file: 'both.pem' "
      "} } } }");
  EXPECT_THAT(
      std::string(config::ToStatus(config::ReadReferencedFiles(
                                       folder_ + "/test.config", sequence))
                      .message()),
      HasSubstr("external.tls.ca_file: \"both.pem\" has a private key"));
}

TEST(ConfigHash, GivesNoHintOfSecrets) {
  const auto hash = [](const std::string& token) {
    auto test = base::FromText<DistributedSystemDescription>(R"(
      rpc_descriptions {
        external_call { metadata { key: "token" value: "a" } }
      })");
    (*test.mutable_rpc_descriptions(0)
          ->mutable_external_call()
          ->mutable_metadata())["token"] = token;
    return config::ConfigHash(test);
  };
  EXPECT_EQ(hash("a"), hash("b"));
}

}  // namespace
}  // namespace distbench::external
