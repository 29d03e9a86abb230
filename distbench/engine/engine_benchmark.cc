// The cost of the engine itself: clients, handlers and the loopback driver in
// one thread, without sockets. Times are per RPC, both sides included.

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/engine.h"
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
  explicit System(config::Plan plan)
      : plan_(std::make_shared<const config::Plan>(std::move(plan))) {
    for (int i = 0; i < plan_->instances.size(); ++i) {
      EngineOptions options;
      options.plan = plan_;
      options.instance = i;
      // Few, so that the measured part runs with a full reservoir.
      options.sample_memory_bytes = 64 << 10;
      options.start_threads = false;
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

}  // namespace
}  // namespace distbench::engine

BENCHMARK_MAIN();
