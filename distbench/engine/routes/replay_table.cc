// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/routes/replay_table.h"

#include <algorithm>

#include "distbench/protocol/driver.h"

namespace distbench::engine {

ReplayTable::ReplayTable(const config::Plan& plan, int trace, int instance,
                         Routes& routes) {
  const config::ReplayTracePlan& trace_plan = plan.replay_traces[trace];
  const config::InstancePlan& self = plan.instances[instance];
  if (trace_plan.client_service != self.service) return;
  const int count = static_cast<int>(trace_plan.records.size());
  std::vector<int> position_of(count, config::kNone);  // by number in the trace
  for (int number = 0; number < count; ++number) {
    const int client = trace_plan.records[number].client_instance;
    if (client != config::kNone && client != self.number) continue;
    position_of[number] = static_cast<int>(records_.size());
    AddRecord(trace_plan, number, routes);
  }
  for (int i = 0; i < static_cast<int>(records_.size()); ++i) {
    Link(i, position_of);
  }
  SortByTime(after_trace_start_);
  SortByTime(after_traffic_start_);
}

void ReplayTable::AddRecord(const config::ReplayTracePlan& trace, int number,
                            Routes& routes) {
  Record& record = records_.emplace_back();
  record.plan = &trace.records[number];
  record.number = number;
  const int server = record.plan->server_instance;
  const int channel = record.plan->multi_server_channel;
  record.route = routes.To(trace.server_service, server, channel);
  record.server_instance =
      channel != config::kNone ? protocol::kAnyInstance : server;
}

void ReplayTable::Link(int position, const std::vector<int>& position_of) {
  Record& record = records_[position];
  switch (record.plan->base) {
    case config::ReplayRecordPlan::Base::kTraceStart:
      after_trace_start_.push_back(position);
      return;
    case config::ReplayRecordPlan::Base::kTrafficStart:
      after_traffic_start_.push_back(position);
      return;
    case config::ReplayRecordPlan::Base::kPriorStart:
    case config::ReplayRecordPlan::Base::kPriorEnd:
      break;
  }
  record.waiting_slot = waiting_count_++;
  for (const int number : record.plan->prior_records) {
    // Validation guarantees that this instance sends it.
    Record& prior = records_[position_of[number]];
    const bool for_start =
        record.plan->base == config::ReplayRecordPlan::Base::kPriorStart;
    (for_start ? prior.start_followers : prior.end_followers)
        .push_back(position);
    ++record.prior_count;
  }
}

void ReplayTable::SortByTime(std::vector<int>& positions) const {
  std::stable_sort(positions.begin(), positions.end(), [&](int a, int b) {
    return records_[a].plan->offset_ns < records_[b].plan->offset_ns;
  });
}

}  // namespace distbench::engine
