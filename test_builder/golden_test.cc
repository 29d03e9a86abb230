// The configs in testdata/ begin with the invocation that makes them. Each must
// make a config that parses to an equal message.

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
#include "distbench/config/load.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/command_line.h"
#include "test_builder/config_text.h"
#include "test_builder/notes.h"
#include "test_builder/test_list.h"

namespace distbench {
namespace {

constexpr char kDirectory[] = "test_builder/testdata";
constexpr char kProducedBy[] = "# produced by test_builder ";

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory)) {
    if (entry.path().extension() == ".config") {
      files.push_back(entry.path().filename());
    }
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

// As a shell reads them; the golden files quote by nothing but backslashes.
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
  // Invocations name files relative to the golden ones.
  GoldenTest() : previous_directory_(std::filesystem::current_path()) {
    std::filesystem::current_path(kDirectory);
  }
  ~GoldenTest() override { std::filesystem::current_path(previous_directory_); }

 private:
  const std::filesystem::path previous_directory_;
};

TEST_P(GoldenTest, InvocationMakesAnEqualConfig) {
  const std::string golden_text = Contents(GetParam());
  const auto golden = ParseTestSequence(golden_text, GetParam());
  ASSERT_TRUE(golden.ok()) << golden.status();
  const auto line = ParseCommandLine(Invocation(golden_text));
  ASSERT_TRUE(line.ok()) << line.status();
  Notes notes;
  const auto tests = BuildTests(line->tests, notes);
  ASSERT_TRUE(tests.ok()) << tests.status();

  const std::string text =
      absl::StrCat(ProducedBy(line->arguments), ConfigText(*tests));
  const auto written = ParseTestSequence(text, "written");
  ASSERT_TRUE(written.ok()) << written.status() << "\n" << text;
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(*golden, *written)) << difference;
  if (line->output != "-") {
    EXPECT_EQ(absl::StrCat((*tests)[0].name(), ".config"), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllFiles, GoldenTest, testing::ValuesIn(GoldenFiles()),
    [](const testing::TestParamInfo<std::string>& info) {
      return absl::StrReplaceAll(info.param, {{".", "_"}, {"-", "_"}});
    });

TEST(GoldenFilesTest, AreThere) { EXPECT_GE(GoldenFiles().size(), 18); }

}  // namespace
}  // namespace distbench
