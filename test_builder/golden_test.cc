// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The configs in testdata/ and in workloads/ begin with the invocation that
// builds them. Each invocation must build a config that parses to an equal
// message.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/reading/config_format.h"
#include "distbench/config/reading/load.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/config_text.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"
#include "test_builder/command_line.h"
#include "test_builder/patterns/pattern.h"

namespace distbench::test_builder {
namespace {

constexpr char kGoldenDirectory[] = "test_builder/testdata";
constexpr char kWorkloadsDirectory[] = "workloads";
constexpr char kProducedBy[] = "# produced by test_builder ";

std::vector<std::string> ConfigsIn(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".config") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

// Splits words as a shell does; the golden files only quote with backslashes.
std::vector<std::string> ShellWords(absl::string_view line) {
  return absl::StrSplit(absl::StrReplaceAll(line, {{"\\", ""}}), ' ');
}

std::vector<std::string> Invocation(absl::string_view config) {
  absl::string_view line = config.substr(0, config.find('\n'));
  EXPECT_TRUE(absl::ConsumePrefix(&line, kProducedBy));
  return ShellWords(line);
}

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  // Invocations name files relative to the config.
  GoldenTest()
      : file_(std::filesystem::path(GetParam()).filename()),
        previous_directory_(std::filesystem::current_path()) {
    std::filesystem::current_path(
        std::filesystem::path(GetParam()).parent_path());
  }
  ~GoldenTest() override { std::filesystem::current_path(previous_directory_); }

  const std::string file_;

 private:
  const std::filesystem::path previous_directory_;
};

TEST_P(GoldenTest, InvocationMakesAnEqualConfig) {
  const std::string golden_text = Contents(file_);
  const auto golden = config::ParseTestSequence(golden_text, file_);
  ASSERT_TRUE(golden.ok()) << golden.status();
  const auto line = ParseCommandLine(Invocation(golden_text));
  ASSERT_TRUE(line.ok()) << line.status();
  Notes notes;
  const auto tests = BuildTests(line->tests, notes);
  ASSERT_TRUE(tests.ok()) << tests.status();

  const std::string text =
      absl::StrCat(ProducedBy(line->arguments), ConfigText(*tests));
  const auto written = config::ParseTestSequence(text, "written");
  ASSERT_TRUE(written.ok()) << written.status() << "\n" << text;
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(*golden, *written)) << difference;
  for (const config::ConfigFormat format : config::kConfigFormats) {
    const std::string other = ConfigFile("", *tests, format);
    const auto read = config::ParseTestSequence(other, "standard input");
    ASSERT_TRUE(read.ok()) << read.status() << "\n" << other;
    ASSERT_EQ(read->tests_size(), golden->tests_size());
    for (int i = 0; i < golden->tests_size(); ++i) {
      EXPECT_EQ(config::ConfigHash(read->tests(i)),
                config::ConfigHash(golden->tests(i)))
          << config::FileEnding(format);
    }
  }
  if (line->output != "-") {
    EXPECT_EQ(absl::StrCat((*tests)[0].name(), ".config"), file_);
  }
}

std::string TestSuffix(const testing::TestParamInfo<std::string>& info) {
  return absl::StrReplaceAll(
      std::string(std::filesystem::path(info.param).stem()),
      {{".", "_"}, {"-", "_"}});
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenTest,
                         testing::ValuesIn(ConfigsIn(kGoldenDirectory)),
                         TestSuffix);

// To update a config, run the invocation in its first line.
INSTANTIATE_TEST_SUITE_P(Workloads, GoldenTest,
                         testing::ValuesIn(ConfigsIn(kWorkloadsDirectory)),
                         TestSuffix);

TEST(GoldenFilesTest, AreThere) {
  EXPECT_GE(ConfigsIn(kGoldenDirectory).size(), 18);
  EXPECT_EQ(ConfigsIn(kWorkloadsDirectory).size(), AllPatterns().size());
}

}  // namespace
}  // namespace distbench::test_builder
