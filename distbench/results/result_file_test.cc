// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/result_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/test_folder.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

namespace fs = std::filesystem;
using ::distbench::base::FromText;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// One test with samples, and no statistics.
TestSequenceResults Samples(int count) {
  TestSequenceResults results = FromText<TestSequenceResults>(R"(
    test_results {
      traffic_config { name: "t" rpc_descriptions { name: "query" } }
      log_summary: "line with a non-ASCII µ"
    })");
  std::mt19937_64 random(1);
  RpcPerformanceLog& log = (*(*(*results.mutable_test_results(0)
                                     ->mutable_service_logs()
                                     ->mutable_instance_logs())["c/0"]
                                   .mutable_peer_logs())["s/0"]
                                 .mutable_rpc_logs())[0];
  for (int i = 0; i < count; ++i) {
    RpcSample& sample = *log.add_successful_rpc_samples();
    sample.set_start_timestamp_ns(1'000'000 + i);
    sample.set_latency_ns(random() % 1'000'000);
  }
  return results;
}

class ResultFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return folder_.PathOf(name);
  }

  // Reads a file with this content.
  absl::StatusOr<TestSequenceResults> Read(const std::string& content) const {
    std::ofstream(Path("read"), std::ios::binary) << content;
    return ReadResults(Path("read"));
  }

  // The bytes that result from writing the results.
  std::string Written(const TestSequenceResults& results,
                      const std::string& name, ResultEncoding encoding) const {
    const absl::Status status = WriteResults(results, Path(name), encoding);
    EXPECT_TRUE(status.ok()) << status;
    return *base::ReadFile(Path(name));
  }

  const base::TestFolder folder_;
};

TEST_F(ResultFileTest, ReadsWhatItWrote) {
  const TestSequenceResults results = Samples(5'000);
  for (ResultEncoding encoding :
       {ResultEncoding::kText, ResultEncoding::kBinary}) {
    for (const char* name : {"plain", "compressed.gz"}) {
      const std::string content = Written(results, name, encoding);
      EXPECT_EQ(content.substr(0, 2) == "\x1f\x8b",
                std::string(name) == "compressed.gz");
      // The content determines the encoding, not the name.
      absl::StatusOr<TestSequenceResults> read = Read(content);
      ASSERT_TRUE(read.ok()) << read.status();
      RpcPerformanceLog& log = read->mutable_test_results(0)
                                   ->mutable_service_logs()
                                   ->mutable_instance_logs()
                                   ->at("c/0")
                                   .mutable_peer_logs()
                                   ->at("s/0")
                                   .mutable_rpc_logs()
                                   ->at(0);
      EXPECT_EQ(log.statistics().succeeded_count(), 5'000);
      log.clear_statistics();
      EXPECT_TRUE(MessageDifferencer::Equals(*read, results));
    }
  }
}

TEST_F(ResultFileTest, ReadsTextWrittenByHand) {
  for (const char* text : {
           "test_results {}",
           "\n\n  test_results { log_summary: 'µ' }",
           "# produced by test_builder\ntest_results {\n}\n",
       }) {
    const auto read = Read(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->test_results_size(), 1);
  }
}

TEST_F(ResultFileTest, ReadsSmallBinaries) {
  for (const char* text :
       {"test_results {}", "test_results { log_summary: 'Global summary:' }",
        "test_results { run_info { failure: '0123456789abcdef0123456789abcdef'"
        " } }"}) {
    const TestSequenceResults results = FromText<TestSequenceResults>(text);
    const auto read = Read(results.SerializeAsString());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(MessageDifferencer::Equals(*read, results));
  }
}

TEST_F(ResultFileTest, TextErrorsHaveAPlace) {
  const auto read = Read("test_results {\n  log_sumary: 'x'\n}\n");
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status().message()),
              AllOf(HasSubstr(Path("read")), HasSubstr("line 2, column 1"),
                    HasSubstr("log_sumary")));
}

TEST_F(ResultFileTest, ATrafficConfigIsNoResult) {
  for (const char* config :
       {"# A test.\ntests { name: 'x' }", "tests:\n  - name: x",
        "tests_setting { keep_instance_log: true }"}) {
    const auto read = Read(config);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(read.status().message()),
                AllOf(HasSubstr("is a config"), HasSubstr("run_tests")))
        << config;
  }
}

TEST_F(ResultFileTest, AnotherMessageIsRefused) {
  // Its fields are unknown to results: a version and a text.
  const std::string path = Path("jobs.pb");
  std::ofstream(path, std::ios::binary)
      << std::string("\x08\x01\x92\x3f\x01x", 6);
  EXPECT_THAT(std::string(ReadResults(path).status().message()),
              HasSubstr("distbench bench -r FILE format"));
}

TEST_F(ResultFileTest, GarbageIsNoResult) {
  const auto read =
      Read(std::string("\x7f"
                       "ELF\x02\x01\x01\x00\x00",
                       9));
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status().message()),
              HasSubstr("not a result of distbench, or cut off"));
}

TEST_F(ResultFileTest, AnEmptyFileIsNoResult) {
  const auto read = Read("");
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("is empty"));
}

TEST_F(ResultFileTest, CutOffFilesAreErrors) {
  const TestSequenceResults results = Samples(5'000);
  const std::string plain = Written(results, "plain", ResultEncoding::kBinary);
  EXPECT_FALSE(Read(plain.substr(0, plain.size() / 2)).ok());

  // Up to the last byte, which is part of a checksum.
  const std::string compressed =
      Written(results, "compressed.gz", ResultEncoding::kBinary);
  for (size_t missing : {size_t{1}, size_t{8}, compressed.size() / 2}) {
    const auto read = Read(compressed.substr(0, compressed.size() - missing));
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss)
        << read.status();
    EXPECT_THAT(std::string(read.status().message()),
                HasSubstr("ends too early"));
  }
}

TEST_F(ResultFileTest, DamagedCompressionIsAnError) {
  std::string content =
      Written(Samples(5'000), "compressed.gz", ResultEncoding::kBinary);
  content[content.size() / 2] ^= 0x10;
  const auto read = Read(content);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << read.status();
}

TEST_F(ResultFileTest, InvalidStatisticsAreAnErrorWithTheirPlace) {
  const auto read = Read(R"(
    test_results {}
    test_results {
      traffic_config { rpc_descriptions { name: "query" } }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            peer_logs {
              key: "s/1"
              value {
                rpc_logs {
                  key: 0
                  value { statistics { service_time_ns { min: 1 } } }
                }
              }
            }
          }
        }
      }
    })");
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status().message()),
              HasSubstr("test_results[1]: statistics of query from c/0 to s/1: "
                        "service_time_ns: histogram has sub_bucket_bits 0"));
}

TEST_F(ResultFileTest, MissingFileIsNotFound) {
  const auto read = ReadResults(Path("missing"));
  EXPECT_EQ(read.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(read.status().message()),
              AllOf(StartsWith("cannot read "), HasSubstr(Path("missing"))));
}

TEST_F(ResultFileTest, LimitsBytesThatAreCompressed) {
  TestSequenceResults results;
  results.add_test_results()->add_log_summary(std::string(16 << 20, ' '));
  for (const char* name : {"bomb.gz", "large"}) {
    const std::string content = Written(results, name, ResultEncoding::kBinary);
    const auto read = ReadResults(Path(name), 1 << 20);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(read.status().message()),
                AllOf(StartsWith("cannot read "), HasSubstr(Path(name)),
                      HasSubstr("more than 1 MiB uncompressed"),
                      HasSubstr("distbench report")));
    EXPECT_TRUE(ReadResults(Path(name), 17 << 20).ok());
  }
  EXPECT_LT(fs::file_size(Path("bomb.gz")), 1 << 17);
}

// Two bytes of a file are a message.
TEST_F(ResultFileTest, LimitsTheMemoryOfMessages) {
  std::string tests;
  for (int i = 0; i < 500'000; ++i) tests.append("\x0a\x00", 2);
  std::ofstream(Path("bomb"), std::ios::binary) << tests;
  const auto read = ReadResults(Path("bomb"), 1 << 20);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kResourceExhausted)
      << read.status();
}

TEST_F(ResultFileTest, DirectoryIsNoResult) {
  const auto read = ReadResults(folder_.path());
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(std::string(read.status().message()),
              HasSubstr("Is a directory"));
}

TEST_F(ResultFileTest, ContentThatCannotBeEncodedIsAnError) {
  for (const char* name : {"out", "out.gz"}) {
    const std::string path = Path(name);
    const absl::Status written =
        WriteStream(path, [](auto& /*stream*/) { return false; });
    EXPECT_EQ(written.code(), absl::StatusCode::kInternal) << name;
    EXPECT_THAT(std::string(written.message()),
                AllOf(HasSubstr(path), HasSubstr("cannot be encoded")));
    EXPECT_FALSE(std::filesystem::exists(path)) << name;
  }
}

TEST_F(ResultFileTest, FullDiskIsNamed) {
  // Every write to this device fails with ENOSPC.
  const absl::Status status =
      WriteResults(Samples(1), "/dev/full", ResultEncoding::kBinary);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(status.message()),
            "cannot write /dev/full: No space left on device");
}

// Limits the size of files during its lifetime.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &saved_);
    rlimit limit = saved_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &saved_);
    signal(SIGXFSZ, handler_);
  }

 private:
  const sighandler_t handler_;
  rlimit saved_;
};

TEST_F(ResultFileTest, FailedWriteKeepsTheOldFile) {
  for (const char* name : {"result", "result.gz"}) {
    const std::string path = Path(name);
    const std::string before =
        Written(Samples(1), name, ResultEncoding::kBinary);
    const TestSequenceResults large = Samples(100'000);
    absl::Status status;
    {
      FileSizeLimit limit(64 << 10);
      status = WriteResults(large, path, ResultEncoding::kBinary);
    }
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(path), HasSubstr("File too large")));
    EXPECT_EQ(*base::ReadFile(path), before);
    fs::remove(path);
    EXPECT_TRUE(fs::is_empty(folder_.path())) << "a temporary file is left";
  }
}

}  // namespace
}  // namespace distbench::results
