// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/help.h"

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/library/library.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {
namespace {

using testing::HasSubstr;

TEST(GeneralHelpTest, ListsPatternsAndProtocols) {
  for (const std::string& name : PatternNames()) {
    EXPECT_THAT(GeneralHelp(), HasSubstr("\n  " + name + " "));
  }
  for (const std::string& name : ProtocolNames()) {
    EXPECT_THAT(GeneralHelp(), HasSubstr("\n  " + name + " "));
  }
}

TEST(GeneralHelpTest, ListsTheLibraryWithItsMarks) {
  EXPECT_EQ(Library().entries_size(), 27);
  EXPECT_THAT(GeneralHelp(),
              HasSubstr("\n  google_trees      si  calls that a request"));
  EXPECT_THAT(GeneralHelp(), HasSubstr("\n  gossip             i  each mem"));
}

TEST(TopicHelpTest, SaysWhereAnEntryComesFrom) {
  const auto help = TopicHelp("google_trees");
  ASSERT_TRUE(help.ok()) << help.status();
  EXPECT_THAT(*help, HasSubstr("SOSP 2023"));
  EXPECT_THAT(*help, HasSubstr("Licence: CC-BY"));
  EXPECT_THAT(*help, HasSubstr("Second-hand: read in summaries"));
  EXPECT_THAT(*help, HasSubstr("Invented:\n  - the distribution"));
  EXPECT_THAT(*help, HasSubstr("workloads/real/google_trees/test.config"));
}

TEST(TopicHelpTest, IsMadeFromTheDeclarations) {
  const auto help = TopicHelp("clique");
  ASSERT_TRUE(help.ok()) << help.status();
  EXPECT_THAT(*help, HasSubstr("clique: all-to-all bursts"));
  EXPECT_THAT(*help,
              HasSubstr("rpc_interval_us=16000\n      Microseconds between "
                        "the bursts. (integer, at least 100, or with a unit,\n"
                        "      such as 16ms)\n"));
  EXPECT_THAT(*help, HasSubstr("test_duration=30"));
  EXPECT_THAT(*help, HasSubstr("test_builder clique:node_count=4"));
}

TEST(TopicHelpTest, CoversEveryTopic) {
  for (const std::string& name : PatternNames()) {
    EXPECT_TRUE(TopicHelp(name).ok()) << name;
  }
  for (const std::string& name : ProtocolNames()) {
    EXPECT_TRUE(TopicHelp(name).ok()) << name;
  }
}

TEST(TopicHelpTest, SaysWhatThereIsHelpAbout) {
  EXPECT_THAT(std::string(TopicHelp("cliqe").status().message()),
              HasSubstr("did you mean \"clique\"?"));
}

TEST(HelpTest, FitsATerminal) {
  std::vector<std::string> texts = {GeneralHelp()};
  for (const std::string& name : PatternNames()) {
    texts.push_back(*TopicHelp(name));
  }
  for (const LibraryEntry& entry : Library().entries()) {
    texts.push_back(*TopicHelp(entry.name()));
  }
  for (const std::string& text : texts) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(line.size(), 80) << line;
    }
  }
}

}  // namespace
}  // namespace distbench::test_builder
