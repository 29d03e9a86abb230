// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_POLICIES_BALANCER_H_
#define DISTBENCH_ENGINE_POLICIES_BALANCER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/random/bit_gen_ref.h"
#include "distbench/config/plan/plan.h"

namespace distbench::engine {

// Chooses servers for the attempts of one worker, out of those that may be
// used at the moment. Servers have numbers from 0. Two choices: Mitzenmacher,
// "The Power of Two Choices in Randomized Load Balancing", 2001.
class Balancer {
 public:
  static constexpr int kNoServer = -1;

  // first: where the round robin of this worker begins.
  Balancer(config::LoadBalancing kind, int server_count, int64_t first)
      : kind_(kind), next_(first), in_flight_(server_count, 0) {}

  using IsUsable = absl::FunctionRef<bool(int server)>;

  // Returns kNoServer if no server is usable.
  int Choose(IsUsable is_usable, absl::BitGenRef random);

  // An attempt to a server starts or has ended.
  void OnStart(int server) { ++in_flight_[server]; }
  void OnEnd(int server) { --in_flight_[server]; }

 private:
  int count() const { return static_cast<int>(in_flight_.size()); }
  int NextInTurn(IsUsable is_usable);
  int AnyOf(IsUsable is_usable, absl::BitGenRef random);
  int BetterOfTwo(IsUsable is_usable, absl::BitGenRef random);
  int LeastInFlight(IsUsable is_usable, absl::BitGenRef random) const;
  void FindUsable(IsUsable is_usable);

  config::LoadBalancing kind_;
  int64_t next_;  // round robin
  std::vector<int64_t> in_flight_;
  std::vector<int> usable_;  // the result of FindUsable()
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_BALANCER_H_
