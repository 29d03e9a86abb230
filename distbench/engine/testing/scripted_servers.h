// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_TESTING_SCRIPTED_SERVERS_H_
#define DISTBENCH_ENGINE_TESTING_SCRIPTED_SERVERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/engine/virtual_time/virtual_time_system.h"
#include "distbench/protocol/driver.h"

namespace distbench::engine {

// Answers the calls of a simulated system's clients as a function says, in
// place of its servers, so that tests know when each call ends and how.
class ScriptedServers {
 public:
  struct Answer {
    int64_t time_ns = 0;
    std::string error = {};     // empty: success
    bool is_full = false;       // the send queue has no room: ask again later
    bool is_read_late = false;  // its deadline does not end the call
    int64_t wire_ns = protocol::kNotReported;
    bool wire_shared = false;
  };
  using Script =
      std::function<Answer(const protocol::ClientCall& call, int64_t now_ns)>;

  // can_cancel: whether the stack can cancel single calls.
  explicit ScriptedServers(Script script, bool can_cancel = true)
      : script_(std::move(script)), can_cancel_(can_cancel) {}

  // Runs the test with these servers, with `workers` for each instance, until
  // its main lists have ended, but at most for limit_ns of simulated time.
  // Returns the logs once everything in flight has ended.
  ServiceLogs Run(const DistributedSystemDescription& test, int workers = 1,
                  int64_t limit_ns = 3'600'000'000'000);

  // Of the last run: calls, those of them that were cancelled one by one, and
  // the most in flight at once.
  int64_t call_count() const { return call_count_; }
  int64_t cancelled_count() const { return cancelled_count_; }
  int64_t most_in_flight() const { return most_in_flight_; }

 private:
  friend class ScriptedTransport;
  friend class ScriptedDriver;

  struct Ending {
    protocol::ClientCall* call;
    std::string error;
    const void* transport;
    int64_t wire_ns;
    bool wire_shared;
  };

  int64_t now_ns() const;
  int64_t next_due_ns() const;

  const Script script_;
  const bool can_cancel_;
  VirtualTimeSystem* system_ = nullptr;     // of the run
  std::multimap<int64_t, Ending> endings_;  // by time
  int64_t call_count_ = 0;
  int64_t cancelled_count_ = 0;
  int64_t most_in_flight_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_TESTING_SCRIPTED_SERVERS_H_
