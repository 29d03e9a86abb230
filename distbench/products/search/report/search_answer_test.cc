#include "distbench/products/search/report/search_answer.h"

#include "gtest/gtest.h"

namespace distbench::search {
namespace {

SearchReport FoundLoad() {
  SearchReport report;
  report.set_load_unit("iterations per second");
  report.set_load(350.24);
  return report;
}

TEST(SearchAnswerTest, HasTheInterval) {
  SearchReport report = FoundLoad();
  report.set_min_load(342.1);
  report.set_max_load(356.8);
  report.set_confidence_level(0.95);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (342.1 to 356.8) iterations per second, met, not proven at "
            "95 %");
  report.set_min_load(350.24);
  report.set_is_proven(true);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (350.2 to 356.8) iterations per second, proven at 95 %");
}

TEST(SearchAnswerTest, SaysWhatIsUnknown) {
  EXPECT_EQ(SearchAnswer({}), "");
  EXPECT_EQ(SearchAnswer(FoundLoad()), "350.24 iterations per second");
  SearchReport report = FoundLoad();
  report.set_confidence_level(0.95);
  report.set_max_load(400);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (? to 400) iterations per second, met, not proven at 95 %");
  report.clear_max_load();
  report.set_min_load(350.24);
  report.set_is_proven(true);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (350.2 to ?) iterations per second, proven at 95 %");
}

TEST(SearchAnswerTest, WritesHighLoadsOut) {
  SearchReport report = FoundLoad();
  report.set_load(1234567);
  report.set_min_load(999.96);
  report.set_confidence_level(0.95);
  EXPECT_EQ(SearchAnswer(report),
            "1234567 (1000 to ?) iterations per second, met, not proven at "
            "95 %");
}

}  // namespace
}  // namespace distbench::search
