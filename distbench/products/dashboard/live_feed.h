// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Shows what is going on to everybody who looks, by one look for all.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_LIVE_FEED_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_LIVE_FEED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/json.h"
#include "distbench/products/dashboard/http/http_server.h"
#include "distbench/results/progress_meter.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "proto/control.pb.h"

namespace distbench::dashboard {

// Looks at most once per interval, and not at all while nobody asks.
// Thread-safe.
class LiveFeed {
 public:
  static constexpr absl::Duration kInterval = absl::Seconds(1);

  // `sequencer` must outlive the feed.
  explicit LiveFeed(const sequencer::SequencerServer& sequencer,
                    const base::Clock& clock = base::RealClock())
      : sequencer_(sequencer), clock_(clock) {}

  // The object of /api/status (docs/products/dashboard.md), at most an interval
  // old.
  std::string Json() ABSL_LOCKS_EXCLUDED(mutex_);

  // The events of /api/live, for HttpResponse::newest_events. The nodes are
  // many and change seldom, the rest is short and changes always: each has an
  // event of its own.
  std::vector<HttpResponse::Event> NewestEvents() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A part of the object, and the event that shows it.
  struct Part {
    const char* name;
    std::string json = "";
    HttpResponse::Event event = nullptr;

    void Update(std::string new_json);
  };

  // The running test, from the last look at which there was something new to
  // this one; from the beginning if the test is another one.
  struct Figures {
    std::string test = "";  // which one was running
    results::ProgressMeter meter = {};
    int64_t end_ns = 0;  // of the last report that counted, in traffic time

    // As members of /api/status's "running".
    base::Json json = {};

    void Update(const RunDescription& run, const TrafficProgress& progress);
  };

  // Looks if the last look is an interval old.
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const sequencer::SequencerServer& sequencer_;
  const base::Clock& clock_;

  absl::Mutex mutex_;
  Figures figures_ ABSL_GUARDED_BY(mutex_);
  Part nodes_ ABSL_GUARDED_BY(mutex_) = {.name = "nodes"};
  Part runs_ ABSL_GUARDED_BY(mutex_) = {.name = "status"};

  // On a clock that never steps: otherwise a step back would stop all looks.
  int64_t next_look_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_LIVE_FEED_H_
