// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/policies/balancer.h"

#include "absl/random/distributions.h"

namespace distbench::engine {

int Balancer::Choose(IsUsable is_usable, absl::BitGenRef random) {
  if (in_flight_.empty()) return kNoServer;
  switch (kind_) {
    case config::LoadBalancing::kRoundRobin:
      return NextInTurn(is_usable);
    case config::LoadBalancing::kRandom:
      return AnyOf(is_usable, random);
    case config::LoadBalancing::kTwoChoices:
      return BetterOfTwo(is_usable, random);
    case config::LoadBalancing::kLeastInFlight:
      break;
  }
  return LeastInFlight(is_usable, random);
}

int Balancer::NextInTurn(IsUsable is_usable) {
  for (int tried = 0; tried < count(); ++tried) {
    const int server = static_cast<int>(next_++ % count());
    if (is_usable(server)) return server;
  }
  return kNoServer;
}

// Almost always, the first server that is drawn is usable.
int Balancer::AnyOf(IsUsable is_usable, absl::BitGenRef random) {
  const int drawn = absl::Uniform<int>(random, 0, count());
  if (is_usable(drawn)) return drawn;
  FindUsable(is_usable);
  return usable_.empty()
             ? kNoServer
             : usable_[absl::Uniform<size_t>(random, 0, usable_.size())];
}

int Balancer::BetterOfTwo(IsUsable is_usable, absl::BitGenRef random) {
  const auto draw_other = [&](int first, int number) {
    const int drawn = absl::Uniform<int>(random, 0, number - 1);
    return drawn < first ? drawn : drawn + 1;
  };
  if (count() == 1) return AnyOf(is_usable, random);
  int first = absl::Uniform<int>(random, 0, count());
  int second = draw_other(first, count());
  if (!is_usable(first) || !is_usable(second)) {
    FindUsable(is_usable);
    if (usable_.empty()) return kNoServer;
    const int number = static_cast<int>(usable_.size());
    if (number == 1) return usable_[0];
    const int position = absl::Uniform<int>(random, 0, number);
    first = usable_[position];
    second = usable_[draw_other(position, number)];
  }
  return in_flight_[second] < in_flight_[first] ? second : first;
}

// Draws among equals.
int Balancer::LeastInFlight(IsUsable is_usable, absl::BitGenRef random) const {
  int best = kNoServer;
  int equals = 0;
  for (int server = 0; server < count(); ++server) {
    if (best != kNoServer && in_flight_[server] > in_flight_[best]) continue;
    if (!is_usable(server)) continue;
    if (best == kNoServer || in_flight_[server] < in_flight_[best]) equals = 0;
    if (absl::Uniform<int>(random, 0, ++equals) == 0) best = server;
  }
  return best;
}

void Balancer::FindUsable(IsUsable is_usable) {
  usable_.clear();
  for (int server = 0; server < count(); ++server) {
    if (is_usable(server)) usable_.push_back(server);
  }
}

}  // namespace distbench::engine
