// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_ROLL_CALL_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_ROLL_CALL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/control.pb.h"

namespace distbench::launching {

// Which of a job's processes are there, by the nodes of its sequencer: node R
// is that of rank R. Not thread-safe.
class RollCall {
 public:
  // Above this, a clock is said to be wrong. distbench corrects for such a
  // clock, but logs and certificates do not.
  static constexpr absl::Duration kClockTolerance = absl::Seconds(1);

  RollCall(int size, bool node_on_leader)
      : size_(size), node_on_leader_(node_on_leader) {}

  // Takes what the sequencer says now.
  void SetStatus(GetStatusResponse status) { status_ = std::move(status); }

  // Whether all are there, and the sequencer knows how far their clocks are
  // off.
  bool is_complete() const;

  // A sentence about all that are there, and one about each clock that is
  // wrong; a line each.
  std::string Summary() const;

  // The error that names the ranks that have not joined within the time.
  absl::Status MissingAfter(absl::Duration time, bool has_secret) const;

 private:
  std::vector<int> Missing() const;

  const int size_;
  const bool node_on_leader_;
  GetStatusResponse status_;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_ROLL_CALL_H_
