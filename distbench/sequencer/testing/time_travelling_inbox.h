// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_SEQUENCER_TESTING_TIME_TRAVELLING_INBOX_H_
#define DISTBENCH_SEQUENCER_TESTING_TIME_TRAVELLING_INBOX_H_

#include <cstdint>
#include <optional>

#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/execution/run_inbox.h"

namespace distbench::sequencer {

// Advances the clock instead of waiting. For tests with one thread.
class TimeTravellingInbox : public RunInbox {
 public:
  // The clock must outlive this.
  explicit TimeTravellingInbox(base::FakeClock& clock)
      : RunInbox(clock), clock_(clock) {}

  std::optional<RunEvent> Next(int64_t deadline_ns) override {
    std::optional<RunEvent> event = TakeFirst();
    if (!event && clock_.MonotonicNs() < deadline_ns) {
      clock_.SetMonotonicNs(deadline_ns);
    }
    return event;
  }

 private:
  base::FakeClock& clock_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_TIME_TRAVELLING_INBOX_H_
