// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/prometheus_answer.h"

#include <cstddef>
#include <string>
#include <utility>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/products/server_metrics/prometheus_url.h"
#include "distbench/products/server_metrics/server_metrics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::server_metrics {
namespace {

using ::testing::HasSubstr;

std::string ProblemOf(const std::string& body, int status = 200) {
  return std::string(ParsePrometheusAnswer(status, body).status().message());
}

std::string Data(const std::string& type, const std::string& result) {
  return R"({"status":"success","data":{"resultType":")" + type +
         R"(","result":)" + result + "}}";
}

TEST(PrometheusAnswerTest, ReadsOneNumber) {
  for (const std::string& body :
       {Data("vector", R"([{"metric":{"a":"b"},"value":[5.25,"-1.5e-3"]}])"),
        Data("scalar", R"([5.25,"-0.0015"])")}) {
    const auto answer = ParsePrometheusAnswer(200, body);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->value, -0.0015);
    EXPECT_EQ(answer->timestamp_s, 5.25);
  }
}

TEST(PrometheusAnswerTest, SaysWhyThereIsNone) {
  EXPECT_EQ(ProblemOf(Data("vector", R"([{"value":[1,"1"]},{}])")),
            "the query has 2 series; aggregate it, for example with sum()");
  EXPECT_THAT(ProblemOf(Data("vector", "[]")),
              HasSubstr("the query has no series"));
  EXPECT_EQ(ProblemOf(Data("scalar", R"([1,"NaN"])")), "the value is NaN");
  EXPECT_EQ(ProblemOf(Data("scalar", R"([1,"+Inf"])")), "the value is +Inf");
  EXPECT_THAT(ProblemOf(Data("matrix", "[]")),
              HasSubstr("the query gives a matrix; one that gives a number"));
  EXPECT_EQ(ProblemOf(R"({"status":"error","error":"parse error"})", 400),
            "Prometheus says: parse error");
  EXPECT_EQ(ProblemOf("<html>", 502), "the answer has the HTTP status 502");
}

TEST(PrometheusAnswerTest, TakesNothingElseForAnAnswer) {
  for (const std::string& body :
       {std::string(), std::string("1"), std::string("[]"),
        std::string("{\"status\":\"success\"}"), std::string("\xff\xfe"),
        std::string(10'000, '['), Data("vector", "{}"), Data("vector", "[{}]"),
        Data("vector", "[1]"), Data("scalar", "null"), Data("scalar", "[1]"),
        Data("scalar", R"(["1","1"])"), Data("scalar", "[1,1]"),
        Data("scalar", R"([1,"one"])"), Data("other", R"([1,"1"])")}) {
    EXPECT_THAT(ProblemOf(body),
                HasSubstr("the answer is not that of a Prometheus: "))
        << body;
  }
}

// Also of what was cut off.
TEST(PrometheusAnswerTest, SurvivesTheKeptCorpus) {
  for (const std::string& kept : fuzzing::KeptCorpus("prometheus_answer")) {
    for (size_t length = 0; length <= kept.size(); ++length) {
      const std::string text = kept.substr(0, length);
      (void)ParsePrometheusAnswer(200, text).ok();
      (void)ParsePrometheusUrl(text).ok();
      EXPECT_GE(QueryRangeNs(text), 0) << text;
    }
  }
}

TEST(PrometheusUrlTest, HasAHostAPortAndAPrefix) {
  const auto url = ParsePrometheusUrl("http://[::1]:9090/a/b/");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, "9090");
  EXPECT_EQ(url->prefix, "/a/b");
  EXPECT_EQ(QueryTarget(*url, "a b+\xc3\xa9&", 250),
            "/a/b/api/v1/query?timeout=250ms&query=a%20b%2B%C3%A9%26");
  EXPECT_EQ(ParsePrometheusUrl("http://[::1]")->port, "80");
  EXPECT_EQ(ParsePrometheusUrl("http://host")->port, "80");
  EXPECT_EQ(ParsePrometheusUrl("http://host")->prefix, "");
}

TEST(PrometheusUrlTest, SaysWhatIsWrong) {
  const auto problem_of = [](const std::string& url) {
    return std::string(ParsePrometheusUrl(url).status().message());
  };
  for (const auto& [url, problem] : {
           std::pair("https://a:1", "uses https, which distbench does not"),
           std::pair("localhost:9090", "does not begin with http://"),
           std::pair("", "does not begin with http://"),
           std::pair("http://", "has no host"),
           std::pair("http://:9090", "has no host"),
           std::pair("http://a:", "has no port from 1 to 65535"),
           std::pair("http://a:0", "has no port from 1 to 65535"),
           std::pair("http://a:65536", "has no port from 1 to 65535"),
           std::pair("http://a:9090?x", "has a query"),
           std::pair("http://a/#x", "has a query"),
           std::pair("http://me:secret@a", "has a name or a password"),
           std::pair("http://a b", "has characters that no URL has"),
           std::pair("http://a\r\nHost: b", "has characters that no URL has"),
       }) {
    EXPECT_THAT(problem_of(url), HasSubstr(problem)) << url;
  }
}

}  // namespace
}  // namespace distbench::server_metrics
