// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/csv/csv.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CsvTest, SimulatedRunsAreMarkedInEveryTable) {
  TestResult simulated = MakeExampleResult({.seconds = 1});
  simulated.mutable_simulation();
  for (const ReportTable& table : AllTables()) {
    const std::vector<std::string> lines = absl::StrSplit(
        Csv(Sourced({simulated}), table.name()), '\n', absl::SkipEmpty());
    EXPECT_THAT(lines[0], EndsWith(",simulated")) << table.name();
    for (size_t i = 1; i < lines.size(); ++i) {
      EXPECT_THAT(lines[i], EndsWith(",1")) << table.name();
    }
  }
}

TEST(CsvTest, SpreadsheetsFindNoFormulas) {
  EXPECT_EQ(CsvText("=HYPERLINK(1)"), "'=HYPERLINK(1)");
  EXPECT_EQ(CsvText("@SUM(1,2)"), "\"'@SUM(1,2)\"");
  EXPECT_EQ(CsvText("+1+1"), "'+1+1");
  EXPECT_EQ(CsvText("-2+3"), "'-2+3");
  EXPECT_EQ(CsvText("\t=1"), "'\t=1");
  for (const char* text : {"", "-", "-5.2", "a=b", "not sent"}) {
    EXPECT_EQ(CsvText(text), text);
  }
}

// Three RPCs of 1, 2 and 3 us within a second, one of which failed.
constexpr char kSmallResult[] = R"(
  traffic_config {
    name: "t"
    rpc_descriptions { name: "query" }
  }
  run_info { repetition: 1 }
  service_logs {
    instance_logs {
      key: "c/0"
      value {
        error_dictionary { error_message: "" error_message: "it, \"broke\"" }
        peer_logs {
          key: "s/0"
          value {
            rpc_logs {
              key: 0
              value {
                successful_rpc_samples {
                  start_timestamp_ns: 1000 latency_ns: 2000 lateness_ns: 5
                  request_size: 16 response_size: 32
                }
                failed_rpc_samples {
                  start_timestamp_ns: 1500 latency_ns: 7 error_index: 1
                }
                statistics {
                  succeeded_count: 2 failed_count: 1 request_bytes: 32
                  response_bytes: 64
                  first_start_timestamp_ns: 1000
                  last_end_timestamp_ns: 500001000
                  service_time_ns {
                    sub_bucket_bits: 7 bucket_index_deltas: 100
                    bucket_counts: 2 min: 100 max: 100 sum: 200
                    sum_of_squares: 20000
                  }
                }
              }
            }
          }
        }
      }
    }
  })";

TEST(CsvTest, RpcsHaveARowEach) {
  const std::vector<std::string> lines =
      CsvLines(Csv(Sourced({ResultFromText(kSmallResult)}), "rpcs"));
  ASSERT_EQ(lines.size(), 2);
  EXPECT_THAT(
      lines[0],
      StartsWith("source,test,repetition,rpc,succeeded,failed,warmup,"
                 "request_bytes,response_bytes,duration_s,per_second,offered,"
                 "unsent,held_back,dropped_samples,service_min_ns,"
                 "service_mean_ns,service_p50_ns,service_p75_ns"));
  // Cells are empty if a count of 2 does not support them, or if there is no
  // value.
  EXPECT_EQ(lines[1],
            "file.pb,t,1,query,2,1,0,32,64,0.5,4,,,,0,100,100,100,,,,,,,,100,"
            ",,,,,,,,,,,,,,,,,,,,,,66.6666667,,,,,,,,,,,,,,");
  const std::vector<std::string> header = absl::StrSplit(lines[0], ',');
  const std::vector<std::string> row = absl::StrSplit(lines[1], ',');
  EXPECT_EQ(header.size(), row.size());
}

TEST(CsvTest, ActivitiesHaveARowForEachInstance) {
  const std::vector<std::string> lines =
      CsvLines(Csv(Sourced({ResultFromText(R"(
        traffic_config { name: "t" }
        service_logs {
          instance_logs {
            key: "leaf/1"
            value {
              activity_logs {
                key: "rank"
                value {
                  activity_metrics { name: "iteration_count" value_int: 2 }
                  activity_metrics { name: "checksum" value_int: -1 }
                  activity_metrics { name: "operations" value_int: 7 }
                }
              }
            }
          }
          instance_logs {
            key: "leaf/0"
            value { activity_logs { key: "rank" value {} } }
          }
        })")}),
                   "activities"));
  EXPECT_THAT(
      lines,
      ElementsAre("source,test,repetition,instance,activity,iterations,"
                  "checksum,input_bytes,output_bytes,duration_mean_ns,"
                  "duration_p50_ns,duration_p95_ns,duration_p99_ns,"
                  "duration_max_ns,queueing_mean_ns,queueing_p50_ns,"
                  "queueing_p95_ns,queueing_p99_ns,queueing_max_ns,"
                  "operations,failed_operations",
                  "file.pb,t,0,leaf/0,rank,,,,,,,,,,,,,,,,",
                  "file.pb,t,0,leaf/1,rank,2,18446744073709551615,,,,,,,,,,"
                  ",,,7,"));
}

TEST(CsvTest, SeriesOfActivitiesHaveARowForEachInterval) {
  TestResult result = ResultFromText(R"(
        traffic_config { name: "t" }
        service_logs {
          instance_logs {
            key: "hog/0"
            value {
              activity_logs {
                key: "grow"
                value {
                  series {
                    interval_ns: 2000000000
                    intervals { index: 3 offered_count: 4 completed_count: 2 }
                    intervals {
                      index: 5
                      completed_count: 1
                      input_bytes: 10
                      output_bytes: 20
                    }
                  }
                }
              }
              activity_logs {
                key: "impossible"
                value {
                  series {
                    interval_ns: 2000000000
                    intervals { index: 9000000000000 completed_count: 1 }
                  }
                }
              }
            }
          }
        })");
  stats::LogHistogram times;
  times.RecordN(1000, 2);
  results::EncodeHistogram(
      times,
      *(*(*result.mutable_service_logs()->mutable_instance_logs())["hog/0"]
             .mutable_activity_logs())["grow"]
           .mutable_series()
           ->mutable_intervals(1)
           ->mutable_read_ns());
  EXPECT_THAT(
      CsvLines(Csv(Sourced({result}), "activity_series")),
      ElementsAre("source,test,repetition,instance,activity,"
                  "start_timestamp_ns,duration_s,offered,completed,"
                  "input_bytes,output_bytes,read_p50_ns,read_p99_ns,"
                  "read_max_ns,write_p50_ns,write_p99_ns,write_max_ns",
                  "file.pb,t,0,hog/0,grow,6000000000,2,4,2,0,0,,,,,,",
                  "file.pb,t,0,hog/0,grow,10000000000,2,,1,10,20,1000,,1000,"
                  ",,"));
}

TEST(CsvTest, SamplesAreQuotedWhereTheyMustBe) {
  EXPECT_THAT(
      CsvLines(Csv(Sourced({ResultFromText(kSmallResult)}), "samples")),
      ElementsAre(
          "source,test,repetition,client,server,rpc,start_timestamp_ns,"
          "service_time_ns,lateness_ns,request_bytes,response_bytes,warmup,"
          "server_instance,error,server_queue_ns,server_handler_ns,"
          "wire_time_ns,wire_shared",
          "file.pb,t,1,c/0,s/0,query,1000,2000,5,16,32,0,,,,,,",
          "file.pb,t,1,c/0,s/0,query,1500,7,,0,0,0,,"
          "\"it, \"\"broke\"\"\",,,,"));
}

// Two RPCs of 100 ns: 20 ns in the server's queue, 50 ns in its handler.
TestResult TimedResult() {
  TestResult result = ResultFromText(kSmallResult);
  RpcPerformanceLog& log =
      (*(*(*result.mutable_service_logs()->mutable_instance_logs())["c/0"]
              .mutable_peer_logs())["s/0"]
            .mutable_rpc_logs())[0];
  RpcSample& sample = *log.mutable_successful_rpc_samples(0);
  sample.set_server_queue_ns(20);
  sample.set_server_handler_ns(50);
  const auto twice = [](int64_t value, Histogram& proto) {
    stats::LogHistogram histogram;
    histogram.RecordN(value, 2);
    results::EncodeHistogram(histogram, proto);
  };
  RpcStatistics& statistics = *log.mutable_statistics();
  twice(3, *statistics.mutable_lateness_ns());
  twice(20, *statistics.mutable_server_queue_ns());
  twice(50, *statistics.mutable_server_handler_ns());
  twice(30, *statistics.mutable_network_ns());
  return result;
}

TEST(CsvTest, TimePartsHaveARowEachInTheOrderOfAnRpc) {
  const auto results = Sourced({TimedResult()});
  EXPECT_THAT(CsvLines(Csv(results, "time_parts")),
              ElementsAre("source,test,repetition,rpc,part,count,mean_ns,"
                          "p50_ns,p90_ns,p99_ns,max_ns",
                          "file.pb,t,1,query,lateness,2,3,3,,,3",
                          "file.pb,t,1,query,network,2,30,30,,,30",
                          "file.pb,t,1,query,server_queue,2,20,20,,,20",
                          "file.pb,t,1,query,server_handler,2,50,50,,,50"));
  EXPECT_THAT(CsvLines(Csv(results, "samples"))[1], EndsWith(",0,,,20,50,,"));
  EXPECT_THAT(
      CsvLines(Csv(results, "peers")),
      ElementsAre(EndsWith(",network_mean_ns,network_p50_ns,"
                           "network_p99_ns,network_max_ns,"
                           "server_queue_mean_ns,server_queue_p50_ns,"
                           "server_queue_p99_ns,server_queue_max_ns,"
                           "server_handler_mean_ns,"
                           "server_handler_p50_ns,"
                           "server_handler_p99_ns,"
                           "server_handler_max_ns,"
                           "failed_above_percent,wire_mean_ns,wire_p50_ns,"
                           "wire_p99_ns,wire_max_ns"),
                  EndsWith(",30,30,,30,20,20,,20,50,50,,50,66.6666667,,,,")));
}

// Two RPCs, one of which shared its stamps.
TEST(CsvTest, WireTimesAreBesideTheOthers) {
  TestResult result = ResultFromText(kSmallResult);
  RpcPerformanceLog& log =
      (*(*(*result.mutable_service_logs()->mutable_instance_logs())["c/0"]
              .mutable_peer_logs())["s/0"]
            .mutable_rpc_logs())[0];
  log.mutable_successful_rpc_samples(0)->set_wire_time_ns(40);
  log.mutable_successful_rpc_samples(0)->set_wire_shared(true);
  stats::LogHistogram wire_ns;
  wire_ns.RecordN(40, 2);
  results::EncodeHistogram(wire_ns,
                           *log.mutable_statistics()->mutable_wire_time_ns());
  log.mutable_statistics()->set_wire_shared_count(1);
  const auto results = Sourced({result});
  EXPECT_THAT(CsvLines(Csv(results, "rpcs")),
              ElementsAre(HasSubstr(",wire_min_ns,wire_mean_ns,wire_p50_ns,"),
                          EndsWith(",40,40,40,,,,,,,,40,2,1")));
  EXPECT_THAT(Csv(results, "percentiles"), HasSubstr(",query,wire,50,40,"));
  EXPECT_THAT(CsvLines(Csv(results, "peers"))[1], EndsWith(",40,40,,40"));
  EXPECT_THAT(CsvLines(Csv(results, "samples"))[1], EndsWith(",40,1"));
}

TEST(CsvTest, WithoutTimePartsThereAreNoRowsOfThem) {
  EXPECT_EQ(CsvLines(Csv(Sourced({ResultFromText(kSmallResult)}), "time_parts"))
                .size(),
            1);
}

TEST(CsvTest, PeersSecondsAndResourcesHaveARowEach) {
  ExampleOptions options;
  options.clients = 2;
  options.servers = 3;
  options.rpcs = 2;
  options.seconds = 4;
  const auto results = Sourced({MakeExampleResult(options)});
  EXPECT_EQ(CsvLines(Csv(results, "peers")).size(), 1 + 2 * 3 * 2);
  EXPECT_EQ(CsvLines(Csv(results, "seconds")).size(), 1 + 2 * 4);
  EXPECT_EQ(CsvLines(Csv(results, "resources")).size(), 1 + 2 * 4);
  EXPECT_THAT(CsvLines(Csv(results, "seconds"))[1],
              StartsWith("file.pb,example,0,rpc_0,1700000000000000000,1,300,"
                         "300,300,0,0,19200,307200,"));
}

TEST(CsvTest, PercentilesHaveIntervals) {
  ExampleOptions options;
  const auto results = Sourced({MakeExampleResult(options)});
  const std::string csv = Csv(results, "percentiles");
  EXPECT_THAT(csv, HasSubstr("rpc_0,service,50,"));
  // 2 * 3 * 50 * 20 RPCs support p99.9, but not p99.99.
  EXPECT_THAT(csv, HasSubstr("rpc_1,response,99.9,"));
  EXPECT_THAT(csv, Not(HasSubstr("99.99")));
  EXPECT_THAT(csv, HasSubstr(",blocks,0,0,0,0\n"));
}

TEST(CsvTest, HostileNamesStayInTheirCell) {
  TestResult result;
  result.mutable_traffic_config()->set_name(kHostileName);
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("r");
  EXPECT_THAT(Csv(Sourced({result}), "rpcs"),
              HasSubstr("\nfile.pb,\"</script><img src=x "
                        "onerror=\"\"alert(1)\"\">, \"\"q\"\"\n"
                        "second line\",0,r,0,"));
}

TEST(CsvTest, EveryTableManagesWithNothing) {
  for (const ReportTable& table : AllTables()) {
    EXPECT_EQ(CsvLines(Csv(Sourced({TestResult()}), table.name())).size(), 1)
        << table.name();
    EXPECT_EQ(CsvLines(Csv({}, table.name())).size(), 1) << table.name();
  }
}

}  // namespace
}  // namespace distbench::report
