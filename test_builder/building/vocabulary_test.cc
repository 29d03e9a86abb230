#include "test_builder/building/vocabulary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using testing::HasSubstr;

Vocabulary CliqueWords() {
  return *Vocabulary::For({{"traffic_pattern", "clique"}});
}

TEST(VocabularyTest, HasTheParametersOfPatternProtocolAndEveryTest) {
  const Vocabulary words = CliqueWords();
  EXPECT_NE(words.Find("node_count"), nullptr);
  EXPECT_NE(words.Find("server_type"), nullptr);
  EXPECT_NE(words.Find("test_duration"), nullptr);
  EXPECT_NE(words.Find("protocol_driver"), nullptr);
  EXPECT_EQ(words.Find("leaf_count"), nullptr);
  EXPECT_EQ(words.Find("nocopy"), nullptr);
  EXPECT_EQ(words.protocol().name, "grpc");
}

TEST(VocabularyTest, FollowsTheProtocol) {
  const auto words = Vocabulary::For(
      {{"traffic_pattern", "clique"}, {"protocol_driver", "homa"}});
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_NE(words->Find("nocopy"), nullptr);
  EXPECT_EQ(words->Find("server_type"), nullptr);
}

TEST(VocabularyTest, SaysWhatThereIs) {
  EXPECT_THAT(std::string(Vocabulary::For({}).status().message()),
              HasSubstr("must contain one of client_server, clique"));
  EXPECT_THAT(
      std::string(
          Vocabulary::For({{"traffic_pattern", "cliqe"}}).status().message()),
      HasSubstr("did you mean \"clique\"?"));
  EXPECT_THAT(std::string(Vocabulary::For({{"traffic_pattern", "clique"},
                                           {"protocol_driver", "tpc"}})
                              .status()
                              .message()),
              HasSubstr("there is no protocol \"tpc\""));
}

TEST(VocabularyTest, RecognisesUpToTwoTypingErrors) {
  const Vocabulary words = CliqueWords();
  EXPECT_EQ(words.MeantBy("node_cuont"), "node_count");
  EXPECT_EQ(words.MeantBy("nodecount"), "node_count");
  EXPECT_EQ(words.MeantBy("node_counts"), "node_count");
  EXPECT_EQ(words.MeantBy("nod_countx"), "node_count");
  EXPECT_EQ(words.MeantBy("reqest_sizes"), "request_size");
  EXPECT_EQ(words.MeantBy("root_count"), std::nullopt);  // three
  EXPECT_EQ(words.MeantBy("rack"), std::nullopt);
}

TEST(WhereKnownTest, NamesPatternsAndProtocols) {
  EXPECT_EQ(WhereKnown("fanout_filter"), "rectangular");
  EXPECT_EQ(WhereKnown("nocopy"), "homa");
  EXPECT_EQ(WhereKnown("rack"), "");
}

TEST(IsDerivedTest, KnowsWhatIsNotForTheUserToSet) {
  EXPECT_TRUE(IsDerived("test_name"));
  EXPECT_FALSE(IsDerived("test_duration"));
}

}  // namespace
}  // namespace distbench::test_builder
