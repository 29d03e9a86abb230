// Shows what is going on to everybody who looks, by one look for all.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_LIVE_FEED_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_LIVE_FEED_H_

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "proto/control.pb.h"

namespace distbench::dashboard {

// What is going on now, for the dashboard.

struct LiveStatus {
  // The nodes and the running test.
  GetStatusResponse sequencer;

  // Runs that have not ended, oldest first.
  std::vector<RunDescription> runs;
};

// Thread-safe.
class LiveSource {
 public:
  virtual ~LiveSource() = default;

  // Must not wait for a disk, or for what a running test waits for.
  virtual LiveStatus Look() const = 0;

  // Whether a test is running.
  virtual bool IsBusy() const = 0;

  // Ends a waiting or running run. The error says why it cannot.
  virtual absl::Status Cancel(const std::string& run_id,
                              const std::string& who) = 0;
};

// The rate of succeeded RPCs of the running test, from one look to the next.
// Not thread-safe.
class LiveRate {
 public:
  // Returns RPCs per second since the counts of the last look; since the
  // beginning if the test is another one; 0 if none runs.
  double Update(const LiveStatus& status);

 private:
  std::string test_;  // which one was running
  int64_t succeeded_ = 0;
  int64_t traffic_time_ns_ = 0;
  double per_second_ = 0;
};

// The parts of the object of /api/status (docs/products/dashboard.md), on one
// line each. The nodes are many and change seldom, the rest is short and
// changes always.
std::string NodesJson(const LiveStatus& status);
std::string RunsJson(const LiveStatus& status, double per_second);

// Returns the object that has these parts.
std::string LiveJson(absl::string_view nodes, absl::string_view runs);

// Where events go.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual int FollowerCount() const = 0;

  // Sends a state to all followers, and to those that begin later, in place of
  // an older one of this name.
  virtual void SendState(const std::string& name, std::string event) = 0;

  // Shows followers that the connection lives.
  virtual void SendHeartbeat() = 0;
};

// Looks at most once per interval, and not at all while nobody asks or follows.
// Thread-safe.
class LiveFeed {
 public:
  struct Options {
    absl::Duration interval = absl::Seconds(1);
    absl::Duration heartbeat = absl::Seconds(10);
    const base::Clock* clock = &base::RealClock();
  };

  // `source` must outlive the feed. Throws std::system_error if there can be no
  // thread.
  LiveFeed(const LiveSource& source, Options options);
  ~LiveFeed();

  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // The object of /api/status, at most an interval old.
  std::string Json() ABSL_LOCKS_EXCLUDED(mutex_);

  // Call these two once, before and after followers exist; `sink` must outlive
  // the feed or EndSending().
  void BeginSending(EventSink& sink) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndSending() ABSL_LOCKS_EXCLUDED(mutex_);

  // Somebody is about to follow: the sink gets the newest state now, and all
  // changes from then on.
  void OnFollower() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  // Looks if the last look is an interval old.
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // What followers are told of: a part of the status, by the name of its event.
  struct Part {
    const char* name;
    std::string json = "";
    std::string sent_json = "";
  };

  // Looks, and sends the parts that have changed.
  void Send() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsFollowed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // On a clock that never steps: otherwise a step back would stop all looks.
  absl::Time Now() const;

  const LiveSource& source_;
  const Options options_;

  absl::Mutex mutex_;
  EventSink* sink_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
  LiveRate rate_ ABSL_GUARDED_BY(mutex_);
  Part nodes_ ABSL_GUARDED_BY(mutex_) = {.name = "nodes"};
  Part runs_ ABSL_GUARDED_BY(mutex_) = {.name = "status"};
  absl::Time looked_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time sent_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time expected_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::thread thread_;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_LIVE_FEED_H_
