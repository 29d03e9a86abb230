// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/server_metrics.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::server_metrics {
namespace {

using ::distbench::base::FromText;
using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

TEST(QueryRangeTest, IsWhatTheValueLooksBack) {
  for (const auto& [query, seconds] : {
           std::pair("up", 0),
           std::pair("rate(x[10s])", 10),
           std::pair("rate(x[1m30s]) / rate(y[5s])", 90),
           std::pair("rate(x{a=\"b[9h]\"}[2s])", 2),
           std::pair("rate(x{a=\"\\\"[9h]\"}[2s])", 2),
           std::pair("rate(x{a='[9h]',b=`[8h]\\`}[2s])", 2),
           std::pair("max_over_time(rate(x[10s])[1m:5s])", 70),
           std::pair("rate(x[10s] offset 20s)", 30),
           std::pair("x # [9h]\n + y[3s]", 3),
           std::pair("x[", 0),
           std::pair("x[5", 0),
           std::pair("x['", 0),
           std::pair("\"", 0),
           std::pair("\"\\", 0),
       }) {
    EXPECT_EQ(QueryRangeNs(query), seconds * kSecond) << query;
  }
  EXPECT_EQ(QueryRangeNs("x[250ms]"), kSecond / 4);
  EXPECT_GT(QueryRangeNs("x[999999999999999999y]"), 0);
}

TEST(QueryRangeTest, IsReplacedByWhatTheEntrySays) {
  auto entry = FromText<ServerMetric>(R"pb(prometheus { query: "x[10s]" })pb");
  EXPECT_EQ(LookBackNs(entry), 10 * kSecond);
  entry.set_look_back_ns(0);
  EXPECT_EQ(LookBackNs(entry), 0);
}

TEST(ReaderTest, IsTheFirstInstanceOfTheService) {
  const auto test = FromText<DistributedSystemDescription>(R"pb(
    services {
      name: "cache"
      external { addresses: "a:1" }
    }
    services { name: "client" count: 2 }
    services { name: "grid" x_size: 2 y_size: 2 count: 4 }
  )pb");
  ServerMetric entry;
  EXPECT_EQ(ReaderOf(test, entry), "client/0");
  entry.set_service("grid");
  EXPECT_EQ(ReaderOf(test, entry), "grid/0/0");
}

TEST(DefinitionTest, IsWhatIsReadAndItsUnit) {
  const auto test = FromText<DistributedSystemDescription>(R"pb(
    services { name: "client" count: 2 }
    services { name: "server" count: 2 }
  )pb");
  const auto definition_of = [&](const std::string& entry) {
    return DefinitionOf(test, FromText<ServerMetric>(entry));
  };
  EXPECT_EQ(definition_of(R"pb(
              unit: "percent"
              prometheus { url: "http://a:1" query: "sum(up)" })pb"),
            "the query \"sum(up)\" (percent)");
  // Wherever it is asked, and how often.
  EXPECT_EQ(definition_of(R"pb(
              unit: "percent"
              interval_ns: 5
              prometheus { url: "http://b:2" query: "sum(up)" })pb"),
            "the query \"sum(up)\" (percent)");
  EXPECT_EQ(definition_of(R"pb(command: "used" service: "server")pb"),
            "the command \"used\" at server/0 (number)");
  EXPECT_EQ(definition_of("command: 'a\\nb'"),
            "the command \"a b\" at client/0 (number)");
}

// ---- The language -----------------------------------------------------------

// The problems of a test with these server_metrics and objectives.
std::string ProblemsOf(const std::string& more) {
  absl::StatusOr<TestSequence> sequence =
      config::ParseTestSequence(absl::StrCat(R"(tests {
        services { name: 'client' count: 1 }
        services { name: 'server' count: 1 }
        rpc_descriptions { name: 'ask' client: 'client' server: 'server' }
        action_lists { name: 'client' action_names: 'asking' }
        action_lists { name: 'ask' }
        actions { name: 'asking' rpc_name: 'ask' })",
                                             more, "}"),
                                "case");
  if (!sequence.ok()) return std::string(sequence.status().message());
  return std::string(
      config::CheckTestSequence(*std::move(sequence)).status().message());
}

std::string ProblemsOfEntry(const std::string& fields) {
  return ProblemsOf(absl::StrCat("server_metrics { name: 'cpu' ", fields, "}"));
}

constexpr char kEntries[] = R"(
  server_metrics { name: 'cpu' command: 'cpu' unit: 'percent' }
  server_metrics { name: 'rss' command: 'rss' unit: 'bytes' }
  server_metrics { name: 'lag' command: 'lag' unit: 'seconds' }
  server_metrics { name: 'qps' command: 'qps' unit: 'per_second' }
  server_metrics { name: 'any' command: 'any' })";

TEST(ServerMetricsLanguageTest, AcceptsWhatIsRight) {
  EXPECT_EQ(ProblemsOf(absl::StrCat(kEntries, R"(
    server_metrics {
      name: 'up' service: 'server' interval: '200ms' timeout: '1s'
      prometheus { url: 'http://localhost:9090' query: 'sum(up)' }
    }
    objectives: 'metric:cpu<=70%'
    objectives: 'metric:rss<=1.5GiB'
    objectives: 'metric:lag<=20ms'
    objectives: 'metric:qps>=1000'
    objectives: 'metric:any>=0.5'
  )")),
            "");
}

TEST(ServerMetricsLanguageTest, SaysWhatIsWrongWithAnEntry) {
  EXPECT_THAT(ProblemsOfEntry(""),
              HasSubstr("does not say where it is read; give prometheus or "
                        "command"));
  EXPECT_THAT(ProblemsOfEntry("prometheus { query: 'up' }"),
              HasSubstr("give the Prometheus, as in"));
  EXPECT_THAT(ProblemsOfEntry("prometheus { url: 'http://a:1' }"),
              HasSubstr("give the query, as in"));
  EXPECT_THAT(
      ProblemsOfEntry("prometheus { url: 'https://a:1' query: 'up' }"),
      HasSubstr("tests[0].server_metrics[\"cpu\"].prometheus.url: "
                "\"https://a:1\" uses https, which distbench does not speak"));
  EXPECT_THAT(ProblemsOfEntry("command: 'a;b'"),
              HasSubstr("has characters that no command's name may have"));
  EXPECT_THAT(ProblemsOfEntry("command: 'a' unit: 'percents'"),
              HasSubstr("is no unit of a metric"));
  EXPECT_THAT(ProblemsOfEntry("command: 'a' interval: '1ms'"),
              HasSubstr("interval"));
  EXPECT_THAT(ProblemsOfEntry("command: 'a' service: 'sever'"),
              HasSubstr("did you mean \"server\"?"));
  EXPECT_THAT(
      ProblemsOf("services { name: 'cache' external { addresses: 'a:1' } }"
                 "server_metrics { name: 'a' command: 'a' service: 'cache' }"),
      HasSubstr("is the external service \"cache\", which no node hosts"));
  EXPECT_THAT(ProblemsOf("server_metrics { name: 'a b' command: 'a' }"),
              HasSubstr("has characters that no metric's name may have"));
  EXPECT_THAT(ProblemsOf("server_metrics { command: 'a' }"),
              HasSubstr("server_metrics"));
  EXPECT_THAT(ProblemsOf("server_metrics { name: 'a' command: 'a' }"
                         "server_metrics { name: 'a' command: 'a' }"),
              HasSubstr("\"a\""));
}

TEST(ServerMetricsLanguageTest, SaysWhatIsWrongWithAnObjective) {
  const auto problem_of = [](const std::string& objective) {
    return ProblemsOf(absl::StrCat(kEntries, "objectives: '", objective, "'"));
  };
  EXPECT_THAT(problem_of("metric:cpus<=70%"),
              HasSubstr("is about a metric that the test does not read; did "
                        "you mean \"cpu\"?"));
  EXPECT_THAT(ProblemsOf("objectives: 'metric:cpu<=70%'"),
              HasSubstr("that the test does not read; add it to "
                        "server_metrics"));
  EXPECT_THAT(problem_of("metric:cpu<=0.7"),
              HasSubstr("limits a metric whose unit is \"percent\"; write it "
                        "like \"metric:NAME<=70%\", or correct the unit"));
  EXPECT_THAT(problem_of("metric:any<=70%"), HasSubstr("is \"number\""));
  EXPECT_THAT(problem_of("metric:rss<=5"), HasSubstr("is \"bytes\""));
  EXPECT_THAT(problem_of("metric:lag<=5kB"), HasSubstr("is \"seconds\""));
  EXPECT_THAT(problem_of("ask metric:cpu<=70%"),
              HasSubstr("names an RPC, of which metric:cpu is not measured"));
  EXPECT_THAT(problem_of("metric:<=70%"),
              HasSubstr("is followed by the name of a server_metrics entry"));
  EXPECT_THAT(problem_of("metric:cpu<=fast"),
              HasSubstr("needs a number, a percentage, a duration or a size"));
  EXPECT_THAT(problem_of("metric:cpu<=0%"), HasSubstr("above 0"));
}

}  // namespace
}  // namespace distbench::server_metrics
