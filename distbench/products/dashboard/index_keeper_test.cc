// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/index_keeper.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/products/history/testing/daily_result.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Duration kIndexDeadline = absl::Seconds(60);
constexpr absl::Duration kInterval = absl::Milliseconds(1);

// Results in memory.
class FakeResults final : public history::ResultSource {
 public:
  void Add(const TestResult& result) {
    const absl::MutexLock lock(&mutex_);
    results_.push_back(result);
  }
  void SetProblem(absl::Status problem) {
    const absl::MutexLock lock(&mutex_);
    problem_ = std::move(problem);
  }
  int lists() const { return lists_; }
  int reads() const { return reads_; }

  // ResultSource:
  absl::StatusOr<std::vector<history::ResultEntry>> List() const override {
    ++lists_;
    const absl::MutexLock lock(&mutex_);
    if (!problem_.ok()) return problem_;
    std::vector<history::ResultEntry> entries;
    for (size_t i = 0; i < results_.size(); ++i) {
      entries.push_back({.name = absl::StrCat(1000 + i)});
    }
    return entries;
  }
  absl::StatusOr<history::KeptResults> Read(
      const std::string& name, int64_t /*max_bytes*/) const override {
    ++reads_;
    const absl::MutexLock lock(&mutex_);
    history::KeptResults kept;
    *kept.results.add_test_results() = results_[std::stoi(name) - 1000];
    return kept;
  }
  bool IsUnchanged(const history::ResultEntry&) const override { return true; }
  absl::StatusOr<base::FileDescriptor> Open(const std::string&) const override {
    return absl::UnimplementedError("not needed");
  }

 private:
  mutable std::atomic<int> lists_ = 0;
  mutable std::atomic<int> reads_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<TestResult> results_ ABSL_GUARDED_BY(mutex_);
  absl::Status problem_ ABSL_GUARDED_BY(mutex_);
};

class IndexKeeperTest : public testing::Test {
 protected:
  IndexKeeperTest() : index_(*history::HistoryIndex::Open({})) {}

  template <typename Condition>
  static bool Await(Condition condition) {
    const absl::Time end = absl::Now() + kIndexDeadline;
    while (!condition()) {
      if (absl::Now() > end) return false;
      absl::SleepFor(kInterval);
    }
    return true;
  }

  bool AwaitResults(int64_t count) {
    return Await([&] { return index_->List({})->total() == count; });
  }

  bool HasChange() {
    const history::SeriesList list = index_->ListSeries("", "");
    return std::any_of(
        list.series().begin(), list.series().end(),
        [](const history::SeriesSummary& one) { return one.changes() > 0; });
  }

  FakeResults results_;
  const std::unique_ptr<history::HistoryIndex> index_;
};

TEST_F(IndexKeeperTest, FollowsTheResultsWhileSomebodyLooks) {
  results_.Add(history::MakeDailyResult(1));
  IndexKeeper keeper(*index_, results_,
                     {.interval = kInterval, .attention = kInterval});
  EXPECT_TRUE(AwaitResults(1));
  results_.Add(history::MakeDailyResult(2));
  EXPECT_TRUE(Await([&] {
    keeper.OnRequest();
    return index_->List({})->total() == 2;
  }));
}

TEST_F(IndexKeeperTest, ListsOnceForWhatHasChanged) {
  results_.Add(history::MakeDailyResult(1));
  IndexKeeper keeper(*index_, results_, {.interval = absl::Hours(1)});
  EXPECT_TRUE(AwaitResults(1));
  EXPECT_EQ(results_.lists(), 1);
}

TEST_F(IndexKeeperTest, SaysWhatIsWrongUntilItIsRight) {
  results_.Add(history::MakeDailyResult(1));
  IndexKeeper keeper(*index_, results_, {.interval = kInterval});
  ASSERT_TRUE(AwaitResults(1));
  results_.SetProblem(absl::NotFoundError("the folder is gone"));
  EXPECT_TRUE(Await([&] { return !keeper.Problem().empty(); }));
  EXPECT_THAT(keeper.Problem(), HasSubstr("the folder is gone"));
  EXPECT_FALSE(keeper.IsReading());
  EXPECT_EQ(index_->List({})->total(), 1);
  results_.SetProblem(absl::OkStatus());
  EXPECT_TRUE(Await([&] { return keeper.Problem().empty(); }));
}

TEST_F(IndexKeeperTest, BeginsNothingWhileATestIsRunning) {
  results_.Add(history::MakeDailyResult(1));
  std::atomic<int> questions = 0;
  std::atomic<bool> is_busy = true;
  IndexKeeper keeper(*index_, results_, {.interval = kInterval, .is_busy = [&] {
                                           ++questions;
                                           return is_busy.load();
                                         }});
  ASSERT_TRUE(Await([&] { return questions > 3; }));
  EXPECT_EQ(results_.lists(), 0);
  EXPECT_TRUE(keeper.IsReading());
  is_busy = false;
  EXPECT_TRUE(AwaitResults(1));
  EXPECT_TRUE(Await([&] { return !keeper.IsReading(); }));
}

TEST_F(IndexKeeperTest, FindsChangesThoughATestBeganBeforeItCouldLook) {
  constexpr int kResults = 30;
  for (int day = 0; day < kResults; ++day) {
    results_.Add(history::MakeDailyResult(day, day < kResults / 2 ? 1 : 1.5));
  }
  std::atomic<bool> has_interrupted = false;
  // When all results are read, a test begins, and ends at once.
  IndexKeeper keeper(*index_, results_,
                     {.interval = kInterval, .is_busy = [&] {
                        return results_.reads() == kResults &&
                               !has_interrupted.exchange(true);
                      }});
  EXPECT_TRUE(Await([&] { return HasChange(); }));
  EXPECT_TRUE(has_interrupted);
  EXPECT_THAT(keeper.Problem(), IsEmpty());
}

}  // namespace
}  // namespace distbench::dashboard
