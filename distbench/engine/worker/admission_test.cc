// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/admission.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "distbench/results/histogram_proto.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

TEST(AdmissionQueueTest, TheNewestIsRefused) {
  Admission admission({.max_running = 1, .max_waiting = 1}, 0, 1);
  protocol::ServerCall calls[3];
  EXPECT_EQ(admission.Add(calls[0], /*running=*/1), nullptr);
  EXPECT_EQ(admission.Add(calls[1], /*running=*/1), &calls[1]);
  EXPECT_EQ(admission.Next(/*running=*/1, 0), nullptr);
  EXPECT_EQ(admission.Next(/*running=*/0, 0), &calls[0]);
  EXPECT_EQ(admission.Next(/*running=*/0, 0), nullptr);
}

TEST(AdmissionQueueTest, TheOldestIsRefused) {
  Admission admission(
      {.max_running = 1, .max_waiting = 1, .refuses_oldest = true}, 0, 1);
  protocol::ServerCall calls[2];
  EXPECT_EQ(admission.Add(calls[0], /*running=*/1), nullptr);
  EXPECT_EQ(admission.Add(calls[1], /*running=*/1), &calls[0]);
  EXPECT_EQ(admission.Next(/*running=*/0, 0), &calls[1]);
}

TEST(AdmissionQueueTest, SharesAddUpToTheLimit) {
  for (const int64_t limit : {1, 2, 5, 7, 100}) {
    for (const int workers : {1, 2, 3, 7}) {
      int64_t running = 0;
      int64_t waiting = 0;
      for (int worker = 0; worker < workers; ++worker) {
        Admission admission({.max_running = limit, .max_waiting = limit},
                            worker, workers);
        std::vector<protocol::ServerCall> calls(3 * limit);
        int64_t started = 0;
        for (protocol::ServerCall& call : calls) {
          if (admission.Add(call, started) != nullptr) break;
          while (admission.Next(started, 0) != nullptr) ++started;
          ++waiting;
        }
        waiting -= started;
        running += started;
      }
      EXPECT_EQ(running, std::max<int64_t>(limit, workers));
      EXPECT_EQ(waiting, limit);
    }
  }
}

// Random requests and ends of lists, against a plain queue: requests run in the
// order in which they came, each is either run or refused, and never are more
// running or waiting than allowed.
class RandomAdmission {
 public:
  explicit RandomAdmission(int seed)
      : random_(seed),
        plan_({.max_running = Draw(1, 4),
               .max_waiting = Draw(0, 5),
               .refuses_oldest = Draw(0, 1) == 1}),
        admission_(plan_, 0, 1),
        calls_(300) {}

  void Run() {
    for (protocol::ServerCall& call : calls_) {
      now_ns_ += Draw(0, 10);
      if (Draw(0, 2) == 0) Finish();
      Offer(call);
      // Places may be handed on later.
      if (Draw(0, 1) == 0) StartAll();
      ASSERT_LE(running_, plan_.max_running);
      ASSERT_LE(static_cast<int64_t>(queue_.size()),
                plan_.max_waiting + plan_.max_running - running_);
    }
    while (protocol::ServerCall* call = admission_.Drop()) {
      ASSERT_EQ(call, queue_.front());
      queue_.pop_front();
    }
    EXPECT_TRUE(queue_.empty());
    AdmissionLog log;
    admission_.totals().Encode(log);
    EXPECT_EQ(log.admitted_count(), admitted_);
    EXPECT_EQ(log.refused_count(), refused_);
    EXPECT_EQ(results::HistogramOf(log.wait_ns()).count(), admitted_);
  }

 private:
  int64_t Draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  void Offer(protocol::ServerCall& call) {
    call.received_ns = now_ns_;
    const bool is_full = static_cast<int64_t>(queue_.size()) + running_ >=
                         plan_.max_waiting + plan_.max_running;
    protocol::ServerCall* expected = nullptr;
    if (is_full) {
      expected =
          plan_.refuses_oldest && !queue_.empty() ? queue_.front() : &call;
      ++refused_;
    }
    ASSERT_EQ(admission_.Add(call, running_), expected);
    if (expected == &call) return;
    if (expected != nullptr) queue_.pop_front();
    queue_.push_back(&call);
  }

  void StartAll() {
    while (protocol::ServerCall* call = admission_.Next(running_, now_ns_)) {
      ASSERT_FALSE(queue_.empty());
      ASSERT_EQ(call, queue_.front());
      queue_.pop_front();
      ++running_;
      ++admitted_;
    }
    EXPECT_TRUE(queue_.empty() || running_ == plan_.max_running);
  }

  void Finish() {
    if (running_ > 0) --running_;
  }

  std::mt19937 random_;
  const config::AdmissionPlan plan_;
  Admission admission_;
  std::vector<protocol::ServerCall> calls_;
  std::deque<protocol::ServerCall*> queue_;
  int64_t running_ = 0;
  int64_t admitted_ = 0;
  int64_t refused_ = 0;
  int64_t now_ns_ = 0;
};

TEST(AdmissionQueueTest, IsFairAndKeepsItsLimits) {
  for (int seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomAdmission(seed).Run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace distbench::engine
