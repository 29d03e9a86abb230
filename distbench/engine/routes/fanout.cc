// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/routes/fanout.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/random/distributions.h"
#include "distbench/protocol/driver.h"

namespace distbench::engine {
namespace {

using Coordinates = std::array<int64_t, 3>;

Coordinates CoordinatesOf(const config::InstancePlan& instance) {
  return {instance.coordinates[0], instance.coordinates[1],
          instance.coordinates[2]};
}

// The number of the instance at these coordinates; nullopt if there is none.
std::optional<int> InstanceAt(const config::ServicePlan& service,
                              const Coordinates& at) {
  for (int axis = 0; axis < 3; ++axis) {
    if (at[axis] < 0 || at[axis] >= service.sizes[axis]) return std::nullopt;
  }
  return static_cast<int>(at[0] + service.sizes[0] *
                                      (at[1] + service.sizes[1] * at[2]));
}

// All instances except `self`, in cyclic order starting after it.
std::vector<int> Others(int count, int self) {
  std::vector<int> others;
  for (int i = 1; i < count; ++i) others.push_back((self + i) % count);
  return others;
}

std::vector<int> Everyone(int count) {
  std::vector<int> everyone(count);
  std::iota(everyone.begin(), everyone.end(), 0);
  return everyone;
}

// Ascending, with the last instance in place of `self`: the order of a round
// robin among peers.
std::vector<int> PeersInTurn(int count, int self) {
  std::vector<int> peers = Everyone(count);
  peers[self] = count - 1;
  peers.pop_back();
  return peers;
}

// Returns 1 or -1: the direction in which an alternating ring calls, so that
// neighbours pair up. An axis other than the ring's decides.
int AlternatingStep(int ring_axis, const Coordinates& own) {
  const int deciding_axis = ring_axis == 0 ? 1 : 0;
  return own[deciding_axis] % 2 == 1 ? -1 : 1;
}

// The target of a filter that has exactly one.
std::optional<int> FixedTarget(const config::FanoutPlan& plan,
                               const config::ServicePlan& server,
                               Coordinates at) {
  const int axis = plan.axis;
  const Coordinates own = at;
  switch (plan.kind) {
    case config::FanoutPlan::Kind::kLinear:
      at[axis] += plan.distance;
      return InstanceAt(server, at);
    case config::FanoutPlan::Kind::kRing:
    case config::FanoutPlan::Kind::kAlternatingRing: {
      const int64_t size = server.sizes[axis];
      const int64_t step = plan.kind == config::FanoutPlan::Kind::kRing
                               ? plan.distance % size
                               : AlternatingStep(axis, own);
      // Coordinates outside the server's grid have no place on its ring.
      if (at[axis] >= size) return std::nullopt;
      at[axis] = (at[axis] + step + size) % size;
      return InstanceAt(server, at);
    }
    case config::FanoutPlan::Kind::kXor:
      at[axis] ^= plan.distance;
      return InstanceAt(server, at);
    case config::FanoutPlan::Kind::kChild:
      at[axis] = 2 * at[axis] + plan.distance;
      return InstanceAt(server, at);
    case config::FanoutPlan::Kind::kParent:
      if (at[axis] == 0 || (at[axis] - plan.distance) % 2 != 0) {
        return std::nullopt;
      }
      at[axis] = (at[axis] - plan.distance) / 2;
      return InstanceAt(server, at);
    default:
      return std::nullopt;
  }
}

// The coordinates on the fanout's axis of those who may call the one at `at`;
// FixedTarget() says whether they do.
std::vector<int64_t> PossibleCallers(const config::FanoutPlan& plan,
                                     const config::ServicePlan& server,
                                     int64_t at) {
  const int64_t size = server.sizes[plan.axis];
  switch (plan.kind) {
    case config::FanoutPlan::Kind::kRing:
      return {(at - plan.distance % size + size) % size};
    case config::FanoutPlan::Kind::kAlternatingRing:
      return {(at + 1) % size, (at - 1 + size) % size};
    case config::FanoutPlan::Kind::kLinear:
      return {at - plan.distance};
    case config::FanoutPlan::Kind::kXor:
      return {at ^ plan.distance};
    case config::FanoutPlan::Kind::kChild:
      return {(at - plan.distance) / 2};
    case config::FanoutPlan::Kind::kParent:
      return {2 * at + plan.distance};
    default:
      return {};
  }
}

bool SameCoordinates(const std::vector<int>& axes,
                     const config::InstancePlan& a,
                     const config::InstancePlan& b) {
  return std::all_of(axes.begin(), axes.end(), [&](int axis) {
    return a.coordinates[axis] == b.coordinates[axis];
  });
}

std::vector<int> FindCandidates(const config::Plan& plan,
                                const config::RpcPlan& rpc,
                                const config::InstancePlan& client) {
  if (rpc.multi_server_channel != config::kNone)
    return {protocol::kAnyInstance};
  const config::ServicePlan& server = plan.services[rpc.server_service];
  const bool among_peers = client.service == rpc.server_service;
  switch (rpc.fanout.kind) {
    case config::FanoutPlan::Kind::kRing:
    case config::FanoutPlan::Kind::kAlternatingRing:
    case config::FanoutPlan::Kind::kLinear:
    case config::FanoutPlan::Kind::kXor:
    case config::FanoutPlan::Kind::kChild:
    case config::FanoutPlan::Kind::kParent: {
      const std::optional<int> target =
          FixedTarget(rpc.fanout, server, CoordinatesOf(client));
      if (!target.has_value() || (among_peers && *target == client.number)) {
        return {};
      }
      return {*target};
    }
    case config::FanoutPlan::Kind::kRoundRobin:
      if (among_peers) return PeersInTurn(server.instance_count, client.number);
      break;
    default:
      break;
  }
  std::vector<int> candidates =
      among_peers ? Others(server.instance_count, client.number)
                  : Everyone(server.instance_count);
  if (rpc.fanout.kind == config::FanoutPlan::Kind::kSameCoordinates) {
    std::erase_if(candidates, [&](int number) {
      return !SameCoordinates(rpc.fanout.axes, client,
                              plan.instances[server.first_instance + number]);
    });
  }
  return candidates;
}

// Moves `count` randomly chosen elements to the front.
void ShuffleFront(std::vector<int>& values, int count, absl::BitGenRef random) {
  for (int i = 0; i < count; ++i) {
    std::swap(values[i],
              values[absl::Uniform<size_t>(random, i, values.size())]);
  }
}

}  // namespace

Fanout::Fanout(const config::Plan& plan, const config::RpcPlan& rpc, int client)
    : plan_(rpc.multi_server_channel == config::kNone ? rpc.fanout
                                                      : config::FanoutPlan()),
      shuffled_(plan.instances[client].service != rpc.server_service),
      candidates_(FindCandidates(plan, rpc, plan.instances[client])),
      all_positions_(Everyone(static_cast<int>(candidates_.size()))),
      always_all_(AlwaysAll()) {}

bool Fanout::AlwaysAll() const {
  switch (plan_.kind) {
    case config::FanoutPlan::Kind::kStochastic:
      return candidates_.empty();
    case config::FanoutPlan::Kind::kRandom:
    case config::FanoutPlan::Kind::kRoundRobin:
      return candidates_.size() <= 1;
    default:
      return candidates_.size() <= 1 || !shuffled_;
  }
}

bool IsCalledByAnother(const config::Plan& plan, const config::RpcPlan& rpc,
                       int instance) {
  const config::InstancePlan& called = plan.instances[instance];
  const config::ServicePlan& server = plan.services[rpc.server_service];
  const int client_service = rpc.client_services.front();
  const Coordinates own = CoordinatesOf(called);
  for (const int64_t at :
       PossibleCallers(rpc.fanout, server, own[rpc.fanout.axis])) {
    Coordinates caller = own;
    caller[rpc.fanout.axis] = at;
    const std::optional<int> number =
        InstanceAt(plan.services[client_service], caller);
    if (!number.has_value() ||
        FixedTarget(rpc.fanout, server, caller) != called.number) {
      continue;
    }
    // Nobody calls himself.
    if (client_service != called.service || *number != called.number) {
      return true;
    }
  }
  return false;
}

absl::Span<const int> Fanout::Choose(absl::BitGenRef random,
                                     std::vector<int>& scratch) {
  const int count = static_cast<int>(candidates_.size());
  const absl::Span<const int> all(all_positions_);
  switch (plan_.kind) {
    case config::FanoutPlan::Kind::kRandom:
      return all.subspan(absl::Uniform<int>(random, 0, count), 1);
    case config::FanoutPlan::Kind::kRoundRobin:
      return all.subspan(
          round_robin_.fetch_add(1, std::memory_order_relaxed) % count, 1);
    case config::FanoutPlan::Kind::kStochastic: {
      const int chosen = std::min(ChooseTargetCount(random), count);
      scratch = all_positions_;
      ShuffleFront(scratch, chosen, random);
      return absl::MakeConstSpan(scratch).first(chosen);
    }
    default:
      scratch = all_positions_;
      ShuffleFront(scratch, count, random);
      return scratch;
  }
}

int Fanout::ChooseTargetCount(absl::BitGenRef random) const {
  double remaining = absl::Uniform(random, 0.0, 1.0);
  for (const config::FanoutPlan::Choice& choice : plan_.choices) {
    if (remaining < choice.probability) return choice.target_count;
    remaining -= choice.probability;
  }
  // The probabilities sum to 1 up to rounding.
  return plan_.choices.back().target_count;
}

}  // namespace distbench::engine
