// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/reading/metric_source.h"

#include <signal.h>

#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/test_folder.h"
#include "distbench/products/server_metrics/reading/testing/fake_prometheus.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::server_metrics {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Nothing in these tests takes as long.
constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr absl::Duration kShort = absl::Milliseconds(50);

std::unique_ptr<MetricSource> SourceOf(const std::string& url,
                                       const std::string& query = "up") {
  return MakePrometheusSource(*ParsePrometheusUrl(url), query);
}

// What is wrong with an answer.
std::string ProblemOf(const std::string& answer) {
  // A client that reads no further closes the connection on the server.
  signal(SIGPIPE, SIG_IGN);
  const FakePrometheus prometheus([&](const std::string&) { return answer; });
  return std::string(
      SourceOf(prometheus.url())->Read(kPatience).status().message());
}

TEST(PrometheusSourceTest, ReadsTheValueOfAQuery) {
  const FakePrometheus prometheus(
      [](const std::string&) { return FakePrometheus::Value("0.25"); });
  const auto source = SourceOf(prometheus.url() + "/prefix/", "rate(x[1m])>0");
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<SourceReading> reading = source->Read(kPatience);
    ASSERT_TRUE(reading.ok()) << reading.status();
    EXPECT_EQ(reading->value, 0.25);
    EXPECT_EQ(reading->timestamp_s, 1700000000.5);
  }
  ASSERT_EQ(prometheus.requests().size(), 3);
  EXPECT_THAT(
      prometheus.requests()[0],
      AllOf(HasSubstr("GET /prefix/api/v1/query?timeout=60000ms&"
                      "query=rate%28x%5B1m%5D%29%3E0 HTTP/1.1\r\n"),
            HasSubstr(absl::StrCat("Host: 127.0.0.1:", prometheus.port()))));
}

TEST(PrometheusSourceTest, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_THAT(ProblemOf(""), HasSubstr("no answer from it: end of stream"));
  EXPECT_THAT(ProblemOf("SSH-2.0\r\n\r\n"), HasSubstr("no answer from it: "));
  EXPECT_THAT(ProblemOf("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"),
              HasSubstr("no answer from it: partial message"));
  EXPECT_THAT(ProblemOf(FakePrometheus::Answer(std::string(1 << 20, 'a'))),
              HasSubstr("the answer is longer than 256 KiB"));
  EXPECT_THAT(ProblemOf(absl::StrCat("HTTP/1.1 200 OK\r\nX: ",
                                     std::string(1 << 20, 'a'), "\r\n\r\n")),
              HasSubstr("no answer from it: "));
  // Also without a length, and in chunks.
  EXPECT_THAT(ProblemOf(absl::StrCat("HTTP/1.1 200 OK\r\n\r\n",
                                     std::string(1 << 20, 'a'))),
              HasSubstr("the answer is longer than 256 KiB"));
  EXPECT_THAT(
      ProblemOf(absl::StrCat("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked",
                             "\r\n\r\n100000\r\n", std::string(1 << 20, 'a'),
                             "\r\n0\r\n\r\n")),
      HasSubstr("the answer is longer than 256 KiB"));
  // Nobody makes room for what will not come.
  EXPECT_THAT(ProblemOf("HTTP/1.1 200 OK\r\n"
                        "Content-Length: 9000000000000000000\r\n\r\n{}"),
              HasSubstr("the answer is longer than 256 KiB"));
  EXPECT_THAT(ProblemOf(FakePrometheus::Answer("gone", "503 Busy")),
              HasSubstr("the answer has the HTTP status 503"));
  EXPECT_THAT(ProblemOf(FakePrometheus::Value("NaN")),
              HasSubstr("the value is NaN"));
}

TEST(PrometheusSourceTest, GivesUpInTime) {
  const FakePrometheus prometheus(
      [](const std::string&) { return FakePrometheus::kNever; });
  const absl::Time begin = absl::Now();
  EXPECT_EQ(SourceOf(prometheus.url())->Read(kShort).status().message(),
            "no answer from it within the timeout");
  EXPECT_LT(absl::Now() - begin, kPatience / 2);
}

TEST(PrometheusSourceTest, SaysThatNobodyListensThere) {
  std::string url;
  {
    const FakePrometheus prometheus([](const std::string&) { return ""; });
    url = prometheus.url();
  }
  EXPECT_EQ(SourceOf(url)->Read(kPatience).status().message(),
            "cannot connect to it: Connection refused");
  EXPECT_THAT(std::string(SourceOf("http://no.such.host.invalid:1")
                              ->Read(kPatience)
                              .status()
                              .message()),
              HasSubstr("no.such.host.invalid has no address: "));
}

TEST(PrometheusSourceTest, EndsWhenItIsCancelled) {
  const FakePrometheus prometheus(
      [](const std::string&) { return FakePrometheus::kNever; });
  const auto source = SourceOf(prometheus.url());
  std::thread canceller([&] {
    while (prometheus.requests().empty()) absl::SleepFor(kShort / 10);
    source->Cancel();
  });
  EXPECT_TRUE(absl::IsCancelled(source->Read(kPatience).status()));
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled(source->Read(kPatience).status()));
}

TEST(CommandSourceTest, ReadsTheNumberThatIsPrinted) {
  const auto source = MakeCommandSource("echo '  1.5e3 '");
  const absl::StatusOr<SourceReading> reading = source->Read(kPatience);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->value, 1500);
  EXPECT_FALSE(reading->timestamp_s.has_value());
}

TEST(CommandSourceTest, SaysWhatIsWrongWithACommand) {
  const auto problem_of = [](const std::string& command) {
    return std::string(
        MakeCommandSource(command)->Read(kPatience).status().message());
  };
  EXPECT_EQ(problem_of("true"),
            "the command printed nothing; it must print one number");
  EXPECT_EQ(problem_of("echo 1 2"),
            "the command printed \"1 2\"; it must print one number");
  EXPECT_EQ(problem_of("echo nan"),
            "the command printed \"nan\"; it must print one number");
  EXPECT_EQ(problem_of("echo oops >&2; exit 3"),
            "the command exited with status 3: oops");
  EXPECT_THAT(problem_of("/no/such/command"),
              HasSubstr("the command exited with status 127: "));
  EXPECT_EQ(problem_of("yes"),
            "the command printed more than 4096 bytes; it must print one "
            "number");
}

// Not even what the command has started outlives a reading.
TEST(CommandSourceTest, EndsCommandsThatTakeTooLong) {
  const base::TestFolder folder;
  const std::string file = folder.PathOf("pid");
  const auto source = MakeCommandSource(
      absl::StrCat("sleep 1000 & echo $! > ", file, "; exec sleep 1000"));
  EXPECT_EQ(source->Read(absl::Seconds(1)).status().message(),
            "the command did not end within the timeout");
  pid_t child = 0;
  ASSERT_TRUE(absl::SimpleAtoi(base::FirstLine(file), &child));
  const absl::Time end = absl::Now() + kPatience;
  // A zombie has no command line.
  const std::string command_line = absl::StrCat("/proc/", child, "/cmdline");
  while (!base::FirstLine(command_line).empty()) {
    ASSERT_LT(absl::Now(), end);
    absl::SleepFor(kShort / 10);
  }
}

TEST(CommandSourceTest, EndsWhenItIsCancelled) {
  const auto source = MakeCommandSource("sleep 1000");
  std::thread canceller([&] {
    absl::SleepFor(kShort);
    source->Cancel();
  });
  EXPECT_TRUE(absl::IsCancelled(source->Read(kPatience).status()));
  canceller.join();
}

}  // namespace
}  // namespace distbench::server_metrics
