// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ROUTES_REPLAY_TABLE_H_
#define DISTBENCH_ENGINE_ROUTES_REPLAY_TABLE_H_

#include <cstdint>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "distbench/engine/routes/routes.h"

namespace distbench::engine {

// The records of a replay trace that one client instance sends, with their
// dependencies. Immutable.
class ReplayTable {
 public:
  struct Record {
    const config::ReplayRecordPlan* plan = nullptr;
    int number = 0;  // in the trace
    int route = 0;
    int server_instance = 0;  // or kAnyInstance

    // The number of earlier records that this one waits for, and its place
    // among the records that wait; kNone if it waits for none.
    int prior_count = 0;
    int waiting_slot = config::kNone;

    // Positions of the records that wait for the start and for the end of this
    // one.
    std::vector<int> start_followers;
    std::vector<int> end_followers;
  };

  // Makes the routes that the records need. The table is empty for instances of
  // services other than the trace's client, and for client instances that send
  // nothing of the trace.
  ReplayTable(const config::Plan& plan, int trace, int instance,
              Routes& routes);

  // In the order of the trace.
  const std::vector<Record>& records() const { return records_; }

  // Positions of the records that are due at a fixed time after the start of
  // the trace, and of the traffic; earliest first.
  const std::vector<int>& after_trace_start() const {
    return after_trace_start_;
  }
  const std::vector<int>& after_traffic_start() const {
    return after_traffic_start_;
  }

  // The number of records that wait for others.
  int waiting_count() const { return waiting_count_; }

 private:
  void AddRecord(const config::ReplayTracePlan& trace, int number,
                 Routes& routes);
  void Link(int position, const std::vector<int>& position_of);
  void SortByTime(std::vector<int>& positions) const;

  std::vector<Record> records_;
  std::vector<int> after_trace_start_;
  std::vector<int> after_traffic_start_;
  int waiting_count_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ROUTES_REPLAY_TABLE_H_
