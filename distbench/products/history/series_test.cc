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

  static SharedFile MakeFile(int day, double value) {
    IndexedFile file;
    file.set_name(absl::StrCat("file ", day));
    file.add_tests();
    FilePoint& point = *file.add_points();
    point.mutable_series()->set_test("test");
    point.mutable_series()->set_rpc("query");
    point.mutable_series()->set_metric("failed");
    point.mutable_point()->set_started(day);
    point.mutable_point()->set_value(value);
    return std::make_shared<const IndexedFile>(file);
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

}  // namespace
}  // namespace distbench::history
