// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/series.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <memory>

#include "absl/strings/str_cat.h"

namespace distbench::history {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Each file has a point of one series; its level doubles in the middle.
class SeriesSetTest : public testing::Test {
 protected:
  static constexpr int kFiles = 30;

  SeriesSetTest() {
    for (int day = 0; day < kFiles; ++day) {
      files_.push_back(MakeFile(day, day % 3 + (day < kFiles / 2 ? 100 : 200)));
      set_.Add(files_.back());
    }
    id_ = Summary().id();
  }

  static SharedFile MakeFile(int day, double value,
                             const std::string& traffic = "") {
    IndexedFile file;
    file.set_name(absl::StrCat("file ", day));
    file.add_tests();
    FilePoint& point = *file.add_points();
    point.mutable_series()->set_test("test");
    point.mutable_series()->set_rpc("query");
    point.mutable_series()->set_metric("failed");
    point.mutable_point()->set_started(day);
    point.mutable_point()->set_value(value);
    point.mutable_point()->set_traffic(traffic);
    return std::make_shared<const IndexedFile>(file);
  }

  // Values around the levels of days, with their traffic.
  static Trend TrendOver(const std::vector<double>& levels,
                         const std::vector<std::string>& traffic) {
    SeriesSnapshot snapshot;
    for (int day = 0; day < static_cast<int>(levels.size()); ++day) {
      snapshot.points.push_back(
          {.file = MakeFile(day, levels[day] + day % 3, traffic[day]),
           .index = 0});
    }
    return MakeTrend(snapshot);
  }

  SeriesSummary Summary() { return set_.List("", "", notes_).series(0); }

  void Judge() {
    const SeriesSnapshot snapshot = *set_.Find(id_);
    set_.Keep(snapshot, std::make_shared<const Trend>(MakeTrend(snapshot)));
  }

  ResultNotes notes_{NotesPaths()};
  SeriesSet set_;
  std::vector<SharedFile> files_;
  int64_t id_ = 0;
};

TEST_F(SeriesSetTest, KeepsWhatWasFound) {
  EXPECT_THAT(set_.Unjudged(), ElementsAre(id_));
  Judge();
  EXPECT_THAT(set_.Unjudged(), IsEmpty());
  const SharedTrend judged = set_.Find(id_)->judged;
  ASSERT_NE(judged, nullptr);
  ASSERT_THAT(judged->changes(), SizeIs(1));
  EXPECT_EQ(judged->changes(0).index(), kFiles / 2);
  EXPECT_EQ(Summary().changes(), 1);
  EXPECT_EQ(Summary().last_change(), kFiles / 2);
}

// Results come and go while a series is judged; the newest point may stay.
TEST_F(SeriesSetTest, WhatWasFoundInOtherPointsIsNotKept) {
  const SeriesSnapshot before = *set_.Find(id_);
  const auto found = std::make_shared<const Trend>(MakeTrend(before));
  set_.Remove(files_[3]);
  set_.Keep(before, found);
  EXPECT_THAT(set_.Unjudged(), ElementsAre(id_));
  EXPECT_EQ(Summary().changes(), 0);

  // As many points as before are not the same.
  set_.Add(MakeFile(3, 50));
  set_.Keep(before, found);
  EXPECT_EQ(set_.Find(id_)->judged, nullptr);
  Judge();
  EXPECT_EQ(set_.Find(id_)->judged->points(3).value(), 50);
}

TEST_F(SeriesSetTest, WhatIsGoneIsNotKept) {
  const SeriesSnapshot before = *set_.Find(id_);
  for (const SharedFile& file : files_) set_.Remove(file);
  set_.Keep(before, std::make_shared<const Trend>(MakeTrend(before)));
  EXPECT_THAT(set_.List("", "", notes_).series(), IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(set_.Find(id_).status()));
}

// With each further series of the test, a change must be clearer.
TEST_F(SeriesSetTest, AnotherSeriesOfTheTestMakesAllUnjudged) {
  Judge();
  for (int day = 0; day < kFiles; ++day) {
    IndexedFile file = *MakeFile(day, 1);
    file.set_name(absl::StrCat("other ", day));
    file.mutable_points(0)->mutable_series()->set_rpc("update");
    set_.Add(std::make_shared<const IndexedFile>(file));
  }
  EXPECT_THAT(set_.Unjudged(), SizeIs(2));
}

// What differs because something else was sent is no change of the system.
TEST_F(SeriesSetTest, OtherTrafficIsNoChange) {
  std::vector<double> levels(15, 100);
  levels.insert(levels.end(), 15, 200);
  std::vector<std::string> traffic(15, "a");
  traffic.insert(traffic.end(), 15, "b");
  const Trend trend = TrendOver(levels, traffic);
  EXPECT_THAT(trend.changes(), IsEmpty());
  EXPECT_EQ(trend.error(), "");
  EXPECT_EQ(trend.traffic_kinds(), 2);
  ASSERT_THAT(trend.segments(), SizeIs(2));
  EXPECT_EQ(trend.segments(1).first(), 15);
  EXPECT_EQ(trend.segments(1).last(), 29);
  for (int i = 0; i < trend.points_size(); ++i) {
    EXPECT_EQ(trend.points(i).traffic_changed(), i == 15) << i;
  }
}

TEST_F(SeriesSetTest, ChangesAreFoundWithinTheSameTraffic) {
  std::vector<double> levels(15, 100);
  levels.insert(levels.end(), 20, 200);
  levels.insert(levels.end(), 20, 300);
  std::vector<std::string> traffic(15, "a");
  traffic.insert(traffic.end(), 40, "b");
  const Trend trend = TrendOver(levels, traffic);
  ASSERT_THAT(trend.changes(), SizeIs(1));
  EXPECT_EQ(trend.changes(0).index(), 35);
  EXPECT_EQ(trend.changes(0).started(), 35);
  EXPECT_NEAR(trend.changes(0).before(), 201, 1);
  EXPECT_NEAR(trend.changes(0).after(), 301, 1);
  EXPECT_THAT(trend.segments(), SizeIs(3));
}

TEST_F(SeriesSetTest, TooFewResultsWithTheSameTrafficAreNotJudged) {
  std::vector<std::string> traffic(kFiles, "a");
  for (int day = 0; day < kFiles; day += 9) traffic[day] = "b";
  const Trend trend = TrendOver(std::vector<double>(kFiles, 100), traffic);
  EXPECT_EQ(trend.error(),
            "a trend needs at least 10 valid results in a row with the same "
            "traffic; there are at most 8");
  EXPECT_EQ(trend.traffic_kinds(), 2);
}

}  // namespace
}  // namespace distbench::history
