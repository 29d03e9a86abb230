// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/hdr_histogram.h"

#include <zlib.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

SelectedRpc RpcWith(const stats::Outcomes& service_time) {
  SelectedRpc rpc;
  rpc.runs.emplace_back().service_time = service_time;
  return rpc;
}

TEST(HdrTest, FormatIsThatOfHdrHistogram) {
  stats::Outcomes outcomes;
  for (int i = 1; i <= 4; ++i) outcomes.latency_ns.Record(i * 25);
  EXPECT_EQ(RenderHdr(RpcWith(outcomes)),
            "       Value     Percentile TotalCount 1/(1-Percentile)\n"
            "\n"
            "    0.000025 0.250000000000          1           1.33\n"
            "    0.000050 0.500000000000          2           2.00\n"
            "    0.000075 0.750000000000          3           4.00\n"
            "    0.000100 1.000000000000          4\n"
            "#[Mean    =     0.000063, StdDeviation   =     0.000028]\n"
            "#[Max     =     0.000100, Total count    =            4]\n"
            "#[Buckets =           42, SubBuckets     =          128]\n");
}

TEST(HdrTest, TheCurveEndsWhereFailuresBegin) {
  stats::Outcomes outcomes;
  outcomes.latency_ns.Record(25);
  outcomes.failed_count = 3;
  const std::string text = RenderHdr(RpcWith(outcomes));
  EXPECT_THAT(text,
              HasSubstr("    0.000025 0.250000000000          1           "
                        "1.33\n#[Mean"));
  EXPECT_THAT(text, HasSubstr("#[Failed  =            3, above all values]\n"));
}

TEST(HdrTest, AnEmptyHistogramIsAnEmptyTable) {
  EXPECT_THAT(RenderHdr({}),
              HasSubstr("#[Max     =     0.000000, Total count    =            "
                        "0]\n"));
}

TEST(SelectRpcTest, RepetitionsAreAddedUp) {
  const auto results = Sourced({MakeExampleResult({.rpcs = 1, .seed = 1}),
                                MakeExampleResult({.rpcs = 1, .seed = 2})});
  const auto rpc = SelectRpc(ListRuns(results), {});
  ASSERT_TRUE(rpc.ok()) << rpc.status();
  EXPECT_THAT(RenderHdr(*rpc), HasSubstr("Total count    =        12000]"));
}

TEST(SelectRpcTest, ChoosesByTestRpcAndKind) {
  const auto results = Sourced(
      {MakeExampleResult({.name = "a"}), MakeExampleResult({.name = "b"})});
  const std::vector<TestRun> runs = ListRuns(results);
  const auto service = SelectRpc(
      runs, {.test = "b", .rpc = "rpc_1", .latency = LatencyKind::kService});
  const auto response = SelectRpc(runs, {.test = "b", .rpc = "rpc_1"});
  ASSERT_TRUE(service.ok() && response.ok());
  EXPECT_EQ(response->latency, LatencyKind::kResponse);
  EXPECT_EQ(service->latency, LatencyKind::kService);
  EXPECT_NE(RenderHdr(*response), RenderHdr(*service));
}

TEST(SelectRpcTest, ErrorsListTheChoices) {
  const auto results = Sourced(
      {MakeExampleResult({.name = "a"}), MakeExampleResult({.name = "b"})});
  const std::vector<TestRun> runs = ListRuns(results);
  EXPECT_THAT(std::string(SelectRpc(runs, {}).status().message()),
              HasSubstr("--test: a, b"));
  EXPECT_THAT(std::string(SelectRpc(runs, {.test = "c"}).status().message()),
              HasSubstr("no test \"c\"; it has: a, b"));
  EXPECT_THAT(std::string(SelectRpc(runs, {.test = "a"}).status().message()),
              HasSubstr("--rpc: rpc_0, rpc_1"));
  EXPECT_FALSE(SelectRpc({}, {}).ok());
}

TEST(SelectRpcTest, ClosedLoopsHaveNoResponseTime) {
  const auto results = Sourced({ResultFromText(
      "traffic_config { name: 't' rpc_descriptions { name: 'r' } }")});
  EXPECT_THAT(std::string(SelectRpc(ListRuns(results),
                                    {.latency = LatencyKind::kResponse})
                              .status()
                              .message()),
              HasSubstr("--latency=service"));
  EXPECT_TRUE(SelectRpc(ListRuns(results), {}).ok());
}

// Reads what HdrHistogram defines, from the front.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  uint64_t Number(int size) {
    uint64_t number = 0;
    for (int i = 0; i < size; ++i) number = number << 8 | Byte();
    return number;
  }

  int64_t ZigZag() {
    uint64_t number = 0;
    for (int i = 0; i < 9; ++i) {
      const uint64_t byte = Byte();
      number |= (i < 8 ? byte & 0x7f : byte) << (7 * i);
      if (i < 8 && byte < 0x80) break;
    }
    return static_cast<int64_t>(number >> 1) ^
           -static_cast<int64_t>(number & 1);
  }

  bool AtEnd() const { return at_ == bytes_.size(); }
  size_t left() const { return bytes_.size() - at_; }
  std::string Rest() const { return bytes_.substr(at_); }

 private:
  uint8_t Byte() { return static_cast<uint8_t>(bytes_.at(at_++)); }

  const std::string bytes_;
  size_t at_ = 0;
};

// The lowest value of a bucket of HdrHistogram with a lowest value of 1 and two
// digits: 256 steps of one, then 128 steps of two, of four and so on.
int64_t LowestValueOf(int64_t index) {
  if (index < 256) return index;
  const int64_t octave = index / 128 - 1;
  return (index % 128 + 128) << octave;
}

// The counts by lowest value of their buckets.
std::map<int64_t, int64_t> Decode(const std::string& framed) {
  Reader frame(framed);
  EXPECT_EQ(frame.Number(4), 0x1c849314);
  const uint64_t compressed_size = frame.Number(4);
  EXPECT_EQ(frame.left(), compressed_size);
  std::string bytes(1 << 20, '\0');
  uLongf size = bytes.size();
  const std::string compressed = frame.Rest();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                       reinterpret_cast<const Bytef*>(compressed.data()),
                       compressed.size()),
            Z_OK);
  bytes.resize(size);
  Reader reader(bytes);
  EXPECT_EQ(reader.Number(4), 0x1c849313);
  const uint64_t payload_size = reader.Number(4);
  EXPECT_EQ(reader.Number(4), 0);
  EXPECT_EQ(reader.Number(4), 2);
  EXPECT_EQ(reader.Number(8), 1);
  EXPECT_EQ(reader.Number(8), (int64_t{1} << 48) - 1);
  EXPECT_EQ(std::bit_cast<double>(reader.Number(8)), 1.0);
  EXPECT_EQ(reader.left(), payload_size);
  std::map<int64_t, int64_t> counts;
  int64_t index = 0;
  while (!reader.AtEnd()) {
    const int64_t count = reader.ZigZag();
    if (count < 0) {
      index -= count;
    } else {
      counts[LowestValueOf(index++)] = count;
    }
  }
  return counts;
}

TEST(EncodeHdrHistogramTest, BucketsAreTheSame) {
  stats::LogHistogram histogram;
  for (int64_t value = 1; value <= stats::LogHistogram::kMaxValue; value *= 3) {
    histogram.Record(value);
  }
  std::map<int64_t, int64_t> expected;
  for (const stats::LogHistogram::Bucket& bucket : histogram.Buckets()) {
    expected[bucket.lower] = static_cast<int64_t>(bucket.count);
  }
  EXPECT_EQ(Decode(EncodeHdrHistogram(histogram)), expected);
}

TEST(EncodeHdrHistogramTest, CountsMayBeLarge) {
  stats::LogHistogram histogram;
  histogram.RecordN(0, 1);
  histogram.RecordN(1, 63);
  histogram.RecordN(2, 64);
  histogram.RecordN(300, uint64_t{1} << 62);
  EXPECT_THAT(Decode(EncodeHdrHistogram(histogram)),
              ElementsAre(Pair(0, 1), Pair(1, 63), Pair(2, 64),
                          Pair(300, int64_t{1} << 62)));
}

TEST(EncodeHdrHistogramTest, OverflowIsInTheLastBucket) {
  stats::LogHistogram histogram;
  histogram.Record(stats::LogHistogram::kMaxValue + 1);
  EXPECT_THAT(Decode(EncodeHdrHistogram(histogram)),
              ElementsAre(Pair(stats::LogHistogram::BucketLower(
                                   stats::LogHistogram::kBucketCount - 1),
                               1)));
}

TEST(EncodeHdrHistogramTest, AnEmptyHistogramHasNoCounts) {
  EXPECT_THAT(Decode(EncodeHdrHistogram(stats::LogHistogram())), IsEmpty());
}

// The lines without comments and header.
std::vector<std::vector<std::string>> LinesOf(const std::string& log) {
  std::vector<std::vector<std::string>> lines;
  for (absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
    if (line[0] != '#' && line[0] != '"') {
      lines.push_back(absl::StrSplit(line, ','));
    }
  }
  return lines;
}

std::string LogOf(const std::vector<TestResult>& results,
                  const RpcSelection& selection = {}) {
  const auto sourced = Sourced(results);
  const auto rpc = SelectRpc(ListRuns(sourced), selection);
  EXPECT_TRUE(rpc.ok()) << rpc.status();
  return rpc.ok() ? RenderHlog(*rpc) : "";
}

TEST(HlogTest, AllRpcsAreInTheIntervalsOfTheirSeconds) {
  const TestResult result = MakeExampleResult({.rpcs = 1, .seconds = 20});
  const std::string log = LogOf({result}, {.latency = LatencyKind::kService});
  EXPECT_THAT(log, HasSubstr("#[distbench: service times of rpc_0 in example, "
                             "in nanoseconds]\n"));
  EXPECT_THAT(log, HasSubstr("#[Histogram log format version 1.3]\n"));
  const auto lines = LinesOf(log);
  ASSERT_THAT(lines, SizeIs(20));
  int64_t count = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    ASSERT_THAT(lines[i], SizeIs(4));
    double start_s;
    ASSERT_TRUE(absl::SimpleAtod(lines[i][0], &start_s));
    EXPECT_EQ(start_s, i);
    EXPECT_EQ(lines[i][1], "1.000");
    std::string framed;
    ASSERT_TRUE(absl::Base64Unescape(lines[i][3], &framed));
    const auto counts = Decode(framed);
    double max_ms;
    ASSERT_TRUE(absl::SimpleAtod(lines[i][2], &max_ms));
    EXPECT_NEAR(max_ms * 1e6, counts.rbegin()->first, max_ms * 1e6 / 128 + 1);
    for (const auto& [value, own] : counts) count += own;
  }
  EXPECT_EQ(count, 20 * 2 * 3 * 50);
}

TEST(HlogTest, WarmupAndFailuresAreInComments) {
  const std::string log = LogOf({ResultFromText(R"(
    traffic_config { name: "t" rpc_descriptions { name: "a\nb" } }
    service_logs {
      instance_logs {
        key: "c/0"
        value {
          peer_logs {
            key: "s/0"
            value {
              rpc_logs {
                key: 0
                value { statistics { failed_count: 7 } }
              }
            }
          }
          rpc_time_series {
            key: 0
            value {
              interval_ns: 1000000000
              intervals {
                index: 1700000000 succeeded_count: 1 warmup_count: 1
                service_time_ns {
                  sub_bucket_bits: 7 bucket_index_deltas: 5 bucket_counts: 1
                  min: 5 max: 5 sum: 5 sum_of_squares: 25
                }
              }
            }
          }
        }
      }
    })")});
  EXPECT_THAT(log, HasSubstr("times of a b in t"));
  EXPECT_THAT(log, HasSubstr("#[Failed: 7 RPCs, which are in no histogram]"));
  EXPECT_THAT(log, HasSubstr("#[Left out: 1 intervals with warm-up]"));
  EXPECT_THAT(LinesOf(log), IsEmpty());
}

}  // namespace
}  // namespace distbench::report
