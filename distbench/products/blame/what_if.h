// How fast requests would be if a part of the system were faster.

#ifndef DISTBENCH_PRODUCTS_BLAME_WHAT_IF_H_
#define DISTBENCH_PRODUCTS_BLAME_WHAT_IF_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "distbench/products/blame/request_tree.h"
#include "distbench/products/blame/tail_shares.h"

namespace distbench::blame {

// Plays a request again with other durations. An iteration's RPCs start
// together: as long after the end of the last iteration that had ended before
// their start as they did or, without such an iteration, as long after the
// start of the handler. A handler goes on for as long after its last RPC as it
// did. With its own durations, a request takes exactly as long as it did.
//
// Nothing else changes: queues do not get shorter because others are faster.
// The order in which a handler sends its RPCs is taken from the request, so one
// that only happened to start after another has ended is also after it here.
class Replay {
 public:
  explicit Replay(const RequestTree& tree);

  // Returns the total time of the request, lateness included. `duration_of`
  // returns the new duration of an RPC, with everything that it waits for, or
  // -1 if it depends on the RPCs that it waits for.
  int64_t TotalNs(absl::FunctionRef<int64_t(const Call&)> duration_of) const;

 private:
  // RPCs of one iteration.
  struct Fanout {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    std::vector<int> calls;
  };

  // The fanouts of a call, by start and by end.
  struct Steps {
    std::vector<Fanout> fanouts;
    std::vector<int> by_end;
  };

  int64_t PlayHandler(int call, absl::Span<const int64_t> durations_ns) const;

  const RequestTree& tree_;
  std::vector<Steps> steps_;  // by call
};

// What to make faster.
struct Remedy {
  int rpc = 0;

  // This instance as fast as others: its RPCs take as long as random RPCs of
  // the same name at other instances. -1: all RPCs of the name take their
  // median.
  int instance = -1;
};

// What a remedy does to p99.
struct WhatIf {
  Remedy remedy;
  BlameEstimate then_ns;
  BlameEstimate saving;  // the share of p99 that it saves
};

struct WhatIfs {
  BlameEstimate now_ns;  // p99 of the trees

  // Those that save at least kWorthwhileSaving, in 95 % confidence; the best
  // first.
  std::vector<WhatIf> helpful = {};
};

inline constexpr double kWorthwhileSaving = 0.01;

// Tries remedies. Those for which there is nothing to draw from, because no
// other instance answered the RPC, help nothing. Requires trees.
WhatIfs TryRemedies(const TracedRequests& requests,
                    absl::Span<const Remedy> remedies);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_WHAT_IF_H_
