// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/run/result_directory.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "distbench/config/reading/config_format.h"
#include "distbench/config/reading/load.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string FreshPath() {
  const std::string path = absl::StrCat(
      testing::TempDir(), "/",
      testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::remove_all(path);
  return path;
}

std::string Contents(const std::string& path) {
  std::ostringstream contents;
  contents << std::ifstream(path).rdbuf();
  return contents.str();
}

DistributedSystemDescription NamedOnly(const std::string& name) {
  DistributedSystemDescription test;
  test.set_name(name);
  return test;
}

TEST(ResultDirectoryTest, NamesFilesByLabelAndTest) {
  const ResultDirectory directory("d", "label_", "");
  EXPECT_EQ(directory.ConfigPath("t"), "d/label_t.config");
  EXPECT_EQ(directory.ResultPath("t"), "d/label_t.pb.gz");
  EXPECT_EQ(directory.FailedResultPath("t"), "d/label_t.failed.pb.gz");
  EXPECT_EQ(directory.SequencePath(), "d/label_test_sequence.config");
}

TEST(ResultDirectoryTest, MakesTheDirectoryIfItIsMissing) {
  const std::string path = FreshPath();
  const ResultDirectory directory(absl::StrCat(path, "/a/b"), "", "");
  EXPECT_EQ(directory.Create().value(), true);
  EXPECT_EQ(directory.Create().value(), false);
  EXPECT_TRUE(std::filesystem::is_directory(path + "/a/b"));
}

TEST(ResultDirectoryTest, SaysWhyThereCanBeNoDirectory) {
  const std::string path = FreshPath();
  std::ofstream(path) << "file";
  for (const std::string& name : {path, path + "/below"}) {
    const ResultDirectory directory(name, "", "");
    EXPECT_THAT(std::string(directory.Create().status().message()),
                HasSubstr(name + ": cannot be made a directory"));
  }
}

TEST(ResultDirectoryTest, WritesConfigsInOtherFormats) {
  const std::string path = FreshPath();
  for (const config::ConfigFormat format :
       {config::ConfigFormat::kYaml, config::ConfigFormat::kJson}) {
    const ResultDirectory directory(path, "", "# header\n", format);
    ASSERT_TRUE(directory.Create().ok());
    ASSERT_TRUE(directory.WriteConfig(NamedOnly("t")).ok());
    EXPECT_FALSE(directory.FindOtherConfig(NamedOnly("t")).has_value());
    EXPECT_THAT(Contents(directory.ConfigPath("t")),
                // JSON has no comments.
                StartsWith(format == config::ConfigFormat::kJson
                               ? "{\n"
                               : "# header\ntests:\n- name: t\n"));
  }
}

TEST(ResultDirectoryTest, KeepsOneConfigOfATest) {
  const std::string path = FreshPath();
  const ResultDirectory text(path, "", "");
  const ResultDirectory yaml(path, "", "", config::ConfigFormat::kYaml);
  ASSERT_TRUE(text.Create().ok());
  ASSERT_TRUE(text.WriteConfig(NamedOnly("t")).ok());
  ASSERT_TRUE(text.WriteConfig(NamedOnly("u")).ok());
  std::ofstream(path + "/t.json") << "[1]";
  DistributedSystemDescription test = NamedOnly("t");
  test.set_sample_memory_bytes(1);
  ASSERT_TRUE(yaml.WriteConfig(test).ok());
  EXPECT_TRUE(std::filesystem::exists(path + "/t.yaml"));
  EXPECT_FALSE(std::filesystem::exists(path + "/t.config"));
  EXPECT_TRUE(std::filesystem::exists(path + "/u.config"));
  EXPECT_TRUE(std::filesystem::exists(path + "/t.json")) << "is no config";
  std::filesystem::remove(path + "/t.json");
  EXPECT_EQ(yaml.FindOtherConfig(test), std::nullopt);
}

TEST(ResultDirectoryTest, WritesConfigsThatReadBack) {
  const std::string path = FreshPath();
  const ResultDirectory directory(path, "l_", "# header\n");
  ASSERT_TRUE(directory.Create().ok());
  ASSERT_TRUE(directory.WriteConfig(NamedOnly("t")).ok());
  ASSERT_TRUE(directory.WriteSequence({NamedOnly("t"), NamedOnly("u")}).ok());
  EXPECT_THAT(Contents(path + "/l_t.config"),
              StartsWith("# header\ntests {\n"));
  EXPECT_EQ(
      config::LoadTestSequence(path + "/l_test_sequence.config")->tests_size(),
      2);
}

TEST(ResultDirectoryTest, ComparesConfigsApartFromTheirLabel) {
  const ResultDirectory directory(FreshPath(), "", "");
  ASSERT_TRUE(directory.Create().ok());
  DistributedSystemDescription test = NamedOnly("t");
  EXPECT_TRUE(directory.FindOtherConfig(test).has_value());
  ASSERT_TRUE(directory.WriteConfig(test).ok());
  EXPECT_FALSE(directory.FindOtherConfig(test).has_value());
  (*test.mutable_attributes())["config_label"] = "other";
  EXPECT_FALSE(directory.FindOtherConfig(test).has_value());
  test.add_objectives("rpc p99<=1ms");
  EXPECT_FALSE(directory.FindOtherConfig(test).has_value()) << "judged anew";
  (*test.mutable_attributes())["rack"] = "other";
  EXPECT_TRUE(directory.FindOtherConfig(test).has_value());
}

TEST(ResultDirectoryTest, ComparesConfigsOfAllFormats) {
  const std::string path = FreshPath();
  const ResultDirectory text(path, "", "");
  const ResultDirectory yaml(path, "", "", config::ConfigFormat::kYaml);
  ASSERT_TRUE(text.Create().ok());
  DistributedSystemDescription test = NamedOnly("t");
  EXPECT_EQ(yaml.FindOtherConfig(test), path + "/t.yaml") << "there is none";
  ASSERT_TRUE(text.WriteConfig(test).ok());
  EXPECT_EQ(yaml.FindOtherConfig(test), std::nullopt);
  test.set_sample_memory_bytes(1);
  EXPECT_EQ(yaml.FindOtherConfig(test), path + "/t.config");
  ASSERT_TRUE(yaml.WriteConfig(test).ok());
  EXPECT_EQ(text.FindOtherConfig(test), std::nullopt);
  EXPECT_EQ(text.FindOtherConfig(NamedOnly("t")), path + "/t.yaml");
}

TEST(ResultDirectoryTest, AResultReplacesAFailedOne) {
  const ResultDirectory directory(FreshPath(), "", "");
  ASSERT_TRUE(directory.Create().ok());
  TestSequenceResults results;
  results.add_test_results()->add_log_summary("summary");
  ASSERT_TRUE(directory.WriteFailedResult("t", results).ok());
  EXPECT_FALSE(directory.HasResult("t"));
  ASSERT_TRUE(directory.WriteResult("t", results).ok());
  EXPECT_TRUE(directory.HasResult("t"));
  EXPECT_FALSE(std::filesystem::exists(directory.FailedResultPath("t")));
  EXPECT_EQ(directory.ReadResult("t")->log_summary(0), "summary");
}

TEST(ResultDirectoryTest, AFileOfSeveralResultsIsNotATestsOwn) {
  const ResultDirectory directory(FreshPath(), "", "");
  ASSERT_TRUE(directory.Create().ok());
  TestSequenceResults results;
  results.add_test_results();
  results.add_test_results();
  ASSERT_TRUE(directory.WriteResult("t", results).ok());
  EXPECT_THAT(std::string(directory.ReadResult("t").status().message()),
              HasSubstr("holds 2 results instead of one"));
}

}  // namespace
}  // namespace distbench::test_builder
