// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The cost of the engine itself: clients, handlers and the loopback driver in
// one thread unless a benchmark says otherwise, without sockets. Times are per
// RPC, both sides included.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/engine.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/loopback/loopback_driver.h"

namespace distbench::engine {
namespace {

config::ServicePlan Service(int first_instance, int instance_count,
                            int main_list) {
  config::ServicePlan service;
  service.instance_count = instance_count;
  service.sizes[0] = instance_count;
  service.first_instance = first_instance;
  service.main_list = main_list;
  return service;
}

config::RpcPlan Rpc(int client_service, int server_service, int handler_list) {
  config::RpcPlan rpc;
  rpc.client_services = {client_service};
  rpc.server_service = server_service;
  rpc.handler_list = handler_list;
  rpc.request.fixed_bytes = 16;
  rpc.response.fixed_bytes = 16;
  return rpc;
}

config::ListPlan OneRpcList(int rpc, config::IterationsPlan iterations = {}) {
  config::ActionPlan action;
  action.kind = config::ActionPlan::Kind::kRpc;
  action.target = rpc;
  action.iterations = iterations;
  config::ListPlan list;
  list.actions = {action};
  return list;
}

config::IterationsPlan ClosedLoop(int64_t in_flight) {
  config::IterationsPlan iterations;
  iterations.max_count = config::kUnlimited;
  iterations.max_parallel = in_flight;
  return iterations;
}

void FinishPlan(config::Plan& plan) {
  plan.max_pending_rpcs = std::numeric_limits<int64_t>::max();
  plan.max_pending_work = std::numeric_limits<int64_t>::max();
  for (int s = 0; s < plan.services.size(); ++s) {
    for (int i = 0; i < plan.services[s].instance_count; ++i) {
      plan.instances.push_back(
          {.service = s, .number = i, .coordinates = {i, 0, 0}});
    }
  }
}

// A client that keeps `in_flight` RPCs in flight to a server that answers at
// once.
config::Plan ClientServerPlan(int64_t in_flight) {
  config::Plan plan;
  plan.services = {Service(0, 1, 0), Service(1, 1, config::kNone)};
  plan.rpcs = {Rpc(0, 1, 1)};
  plan.lists = {OneRpcList(0, ClosedLoop(in_flight)), config::ListPlan()};
  FinishPlan(plan);
  return plan;
}

// The same with a policy, and several servers.
config::Plan PolicyClientPlan(int64_t in_flight,
                              const config::PolicyPlan& policy) {
  config::Plan plan = ClientServerPlan(in_flight);
  plan.instances.clear();
  plan.services[1].instance_count = plan.services[1].sizes[0] = 4;
  plan.rpcs[0].policy = policy;
  plan.rpcs[0].is_special = true;
  plan.rpcs[0].fanout.kind = config::FanoutPlan::Kind::kRandom;
  FinishPlan(plan);
  return plan;
}

// A client calls a root, which calls all leaves before it answers.
config::Plan MultiLevelPlan(int64_t in_flight, int leaves) {
  config::Plan plan;
  plan.services = {Service(0, 1, 0), Service(1, 1, config::kNone),
                   Service(2, leaves, config::kNone)};
  plan.rpcs = {Rpc(0, 1, 1), Rpc(1, 2, 2)};
  plan.lists = {OneRpcList(0, ClosedLoop(in_flight)), OneRpcList(1),
                config::ListPlan()};
  FinishPlan(plan);
  return plan;
}

class System {
 public:
  // Each engine has as many threads; none: Turn() runs them.
  explicit System(config::Plan plan, int threads = 0)
      : plan_(std::make_shared<const config::Plan>(std::move(plan))),
        has_threads_(threads > 0) {
    for (int i = 0; i < plan_->instances.size(); ++i) {
      EngineOptions options;
      options.plan = plan_;
      options.instance = i;
      // Few, so that the measured part runs with a full reservoir.
      options.sample_memory_bytes = 64 << 10;
      options.worker_count = std::max(1, threads);
      options.start_threads = has_threads_;
      engines_.push_back(
          Engine::Create(std::move(options), protocol::MakeLoopbackDriver())
              .value());
    }
    for (const auto& engine : engines_) {
      std::vector<std::string> addresses;
      for (int peer : engine->peers()) {
        addresses.push_back(engines_[peer]->address());
      }
      engine->Connect(addresses, absl::InfiniteFuture()).IgnoreError();
    }
    for (const auto& engine : engines_) {
      engine->Start(base::RealClock().MonotonicNs());
    }
    while (completed() < 10'000) Turn();
  }

  void Turn() {
    if (has_threads_) return absl::SleepFor(absl::Milliseconds(1));
    for (const auto& engine : engines_) engine->RunOnce();
  }

  // Completed RPCs of all instances.
  int64_t completed() const {
    int64_t sum = 0;
    for (const auto& engine : engines_) {
      sum += engine->progress().succeeded_count();
    }
    return sum;
  }

 private:
  const std::shared_ptr<const config::Plan> plan_;
  const bool has_threads_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

void Measure(benchmark::State& state, System& system) {
  const int64_t before = system.completed();
  for (auto _ : state) system.Turn();
  const double rpcs = static_cast<double>(system.completed() - before);
  state.counters["rpcs_per_second"] =
      benchmark::Counter(rpcs, benchmark::Counter::kIsRate);
  state.counters["time_per_rpc"] = benchmark::Counter(
      rpcs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_ClientServer(benchmark::State& state) {
  System system(ClientServerPlan(state.range(0)));
  Measure(state, system);
}
BENCHMARK(BM_ClientServer)->Arg(1)->Arg(100)->Arg(10'000);

// Workers that share a loop: what they write to in common.
void BM_SharedLoop(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  System system(ClientServerPlan(100 * threads), threads);
  Measure(state, system);
}
BENCHMARK(BM_SharedLoop)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime();

// What a policy costs: an empty one, then all that a careful caller has, then
// hedging, of which the last measures times for its percentile.
void BM_EmptyPolicy(benchmark::State& state) {
  System system(PolicyClientPlan(state.range(0), config::PolicyPlan()));
  Measure(state, system);
}
BENCHMARK(BM_EmptyPolicy)->Arg(1)->Arg(100);

void BM_CarefulCaller(benchmark::State& state) {
  config::PolicyPlan policy;
  policy.load_balancing = config::LoadBalancing::kTwoChoices;
  policy.attempt_deadline_ns = 1'000'000'000;
  policy.max_attempts = 3;
  policy.budget = RetryBudget();
  policy.policy.mutable_retry();
  policy.policy.mutable_circuit_breaker();
  policy.policy.mutable_concurrency_limit()->set_kind("aimd");
  policy.policy.mutable_concurrency_limit()->set_limit(200);
  System system(PolicyClientPlan(state.range(0), policy));
  Measure(state, system);
}
BENCHMARK(BM_CarefulCaller)->Arg(1)->Arg(100);

void BM_HedgingCaller(benchmark::State& state) {
  config::PolicyPlan policy;
  policy.load_balancing = config::LoadBalancing::kRandom;
  policy.max_attempts = 2;
  policy.policy.mutable_hedging()->set_percentile(99.9);
  System system(PolicyClientPlan(state.range(0), policy));
  Measure(state, system);
}
BENCHMARK(BM_HedgingCaller)->Arg(1)->Arg(100);

// The same without a policy.
void BM_FourServers(benchmark::State& state) {
  config::Plan plan = PolicyClientPlan(state.range(0), config::PolicyPlan());
  plan.rpcs[0].policy.reset();
  plan.rpcs[0].is_special = false;
  System system(std::move(plan));
  Measure(state, system);
}
BENCHMARK(BM_FourServers)->Arg(1)->Arg(100);

void BM_MultiLevel(benchmark::State& state) {
  System system(MultiLevelPlan(/*in_flight=*/100, state.range(0)));
  Measure(state, system);
}
BENCHMARK(BM_MultiLevel)->Arg(1)->Arg(20);

// A driver whose send queues are full.
class FullDriver final : public protocol::ProtocolDriver {
 public:
  absl::StatusOr<std::string> Listen(int) override { return "full"; }
  protocol::Transport& transport(int) override { return transport_; }
  absl::Status Connect(const std::vector<protocol::Peer>&,
                       absl::Time) override {
    return absl::OkStatus();
  }
  void Shutdown() override {}

 private:
  class FullTransport final : public protocol::Transport {
   public:
    bool Start(protocol::ClientCall*) override { return false; }
    void Reply(protocol::ServerCall*) override {}
    void Poll(int64_t, protocol::TransportEvents&) override {}
    void Wake() override {}
    void CancelCalls() override {}
  };

  FullTransport transport_;
};

constexpr int64_t kShortNs = 1000;

// Two RPCs to one server with different deadlines, each in flight
// `in_flight` times.
config::Plan MixedDeadlinesPlan(int64_t in_flight) {
  config::Plan plan = ClientServerPlan(in_flight);
  plan.rpcs.push_back(plan.rpcs[0]);
  plan.rpcs[0].deadline_ns = 1000 * kShortNs;
  plan.rpcs[1].deadline_ns = kShortNs;
  plan.lists[0].actions.push_back(plan.lists[0].actions[0]);
  plan.lists[0].actions[1].target = 1;
  return plan;
}

// In an overload, a call whose time is over leaves the others that wait for
// room in a send queue: how long that takes per call must not depend on how
// many they are. Of those that wait, each second one leaves.
void BM_LeaveAFullSendQueue(benchmark::State& state) {
  const int64_t waiting = state.range(0);
  const auto plan =
      std::make_shared<const config::Plan>(MixedDeadlinesPlan(waiting / 2));
  for (auto _ : state) {
    state.PauseTiming();
    base::ManualClock clock(1'000'000'000);
    EngineOptions options;
    options.plan = plan;
    options.clock = &clock;
    options.sample_memory_bytes = 64 << 10;
    options.start_threads = false;
    auto engine =
        Engine::Create(std::move(options), std::make_unique<FullDriver>())
            .value();
    engine->Connect({"full"}, absl::InfiniteFuture()).IgnoreError();
    engine->Start(clock.MonotonicNs());
    while (engine->progress().in_flight_count() < waiting) engine->RunOnce();
    clock.Advance(kShortNs);
    state.ResumeTiming();
    engine->RunOnce();
    state.PauseTiming();
    if (engine->progress().failed_count() != waiting / 2) {
      state.SkipWithError("not all calls have left");
      break;
    }
    engine.reset();
    state.ResumeTiming();
  }
  state.counters["time_per_call"] =
      benchmark::Counter(static_cast<double>(waiting) / 2,
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}
BENCHMARK(BM_LeaveAFullSendQueue)->Arg(1000)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace distbench::engine

BENCHMARK_MAIN();
