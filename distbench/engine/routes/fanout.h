// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ROUTES_FANOUT_H_
#define DISTBENCH_ENGINE_ROUTES_FANOUT_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/random/bit_gen_ref.h"
#include "absl/types/span.h"
#include "distbench/config/plan/plan.h"

namespace distbench::engine {

// Chooses which instances of a server one client instance calls by one RPC, for
// each iteration. Never the client itself.
//
// If all candidates are called and belong to the client's own service, they are
// called in the cyclic order own+1, own+2, ...; those of another service are
// called in random order.
class Fanout {
 public:
  // client: index into plan.instances.
  Fanout(const config::Plan& plan, const config::RpcPlan& rpc, int client);

  // All instances that may ever be called, as numbers within the server
  // service. For an RPC through a multi-server channel: kAnyInstance alone.
  absl::Span<const int> candidates() const { return candidates_; }

  // Whether every iteration has the same targets.
  bool always_all() const { return always_all_; }

  // Returns the targets of the next iteration as positions in candidates(),
  // each at most once; possibly none. The result is valid until `scratch` is
  // used again. Thread-safe if each caller passes its own `random` and
  // `scratch`. Inline because a fanout without a choice needs neither.
  absl::Span<const int> Select(absl::BitGenRef random,
                               std::vector<int>& scratch) {
    if (always_all_) return all_positions_;
    return Choose(random, scratch);
  }

 private:
  bool AlwaysAll() const;
  absl::Span<const int> Choose(absl::BitGenRef random,
                               std::vector<int>& scratch);
  int ChooseTargetCount(absl::BitGenRef random) const;

  config::FanoutPlan plan_;
  bool shuffled_ = false;
  std::vector<int> candidates_;
  std::vector<int> all_positions_;  // 0, 1, 2, ...
  bool always_all_ = false;         // every iteration calls all, in order
  std::atomic<uint64_t> round_robin_ = 0;
};

// Whether another instance calls this one by an RPC of one client service whose
// fanout calls each instance from at most one other (config::CallsEachOnce()).
// instance: index into plan.instances, of the RPC's server.
bool IsCalledByAnother(const config::Plan& plan, const config::RpcPlan& rpc,
                       int instance);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ROUTES_FANOUT_H_
