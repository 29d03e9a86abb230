// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/agenda.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::ElementsAre;

class Item final : public AgendaItem {
 public:
  Item(int number, std::vector<int>& worked)
      : number_(number), worked_(worked) {}

  int64_t next_due_ns() const { return again_ns; }
  void Work(int64_t) { worked_.push_back(number_); }

  int64_t again_ns = kNever;

 private:
  const int number_;
  std::vector<int>& worked_;
};

TEST(AgendaTest, WorksAtWhatIsDueTheEarliestFirst) {
  std::vector<int> worked;
  Item first(1, worked);
  Item second(2, worked);
  Item third(3, worked);
  Agenda<Item> agenda;
  EXPECT_EQ(agenda.next_due_ns(), Agenda<Item>::kNever);
  agenda.Set(first, 30);
  agenda.Set(second, 20);
  agenda.Set(third, 40);
  agenda.Set(first, 10);
  second.again_ns = 50;
  agenda.Work(39);
  EXPECT_THAT(worked, ElementsAre(1, 2));
  EXPECT_EQ(agenda.next_due_ns(), 40);
  agenda.Remove(third);
  EXPECT_EQ(agenda.next_due_ns(), 50);
}

// Each may take some system calls.
TEST(AgendaTest, WorksAtABoundedNumberInOneTurn) {
  constexpr size_t kMost = Agenda<Item>::kMaxAtOnce;
  std::vector<int> worked;
  std::deque<Item> items;
  Agenda<Item> agenda;
  for (size_t i = 0; i < 2 * kMost + 1; ++i) {
    agenda.Set(items.emplace_back(static_cast<int>(i), worked),
               static_cast<int64_t>(i));
  }
  for (const size_t expected : {kMost, 2 * kMost}) {
    agenda.Work(1'000'000);
    EXPECT_EQ(worked.size(), expected);
    EXPECT_EQ(worked.back(), static_cast<int>(expected) - 1);
    EXPECT_EQ(agenda.next_due_ns(), static_cast<int64_t>(expected));
  }
  agenda.Work(1'000'000);
  EXPECT_EQ(worked.size(), items.size());
  EXPECT_EQ(agenda.next_due_ns(), Agenda<Item>::kNever);
}

}  // namespace
}  // namespace distbench::protocol
