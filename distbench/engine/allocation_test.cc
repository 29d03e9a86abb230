// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// In steady state the engine allocates nothing per RPC.

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "absl/strings/substitute.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gtest/gtest.h"

namespace {

// Allocations of the process. Tests in this file have one thread.
int64_t g_allocation_count = 0;

void* CountedAllocation(size_t size) {
  ++g_allocation_count;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return CountedAllocation(size); }
void* operator new[](size_t size) { return CountedAllocation(size); }
void* operator new(size_t size, std::align_val_t alignment) {
  ++g_allocation_count;
  void* memory = std::aligned_alloc(static_cast<size_t>(alignment), size);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace distbench::engine {
namespace {

// The budget of samples, whose memory grows until it is used up.
constexpr int64_t kSampleBudgetBytes = 100'000;

struct Measured {
  int64_t allocations = 0;
  int64_t rpcs = 0;
};

int64_t CompletedRpcs(VirtualTimeSystem& system) {
  int64_t sum = 0;
  for (const config::InstancePlan& instance : system.plan().instances) {
    sum += system.engine(instance.name).progress().succeeded_count();
  }
  return sum;
}

// Measures the second 100 ms of a config, when it is in steady state.
Measured MeasureSteadyState(const std::string& config) {
  VirtualTimeSystem system(
      ParseTest(config),
      VirtualTimeOptions{.sample_memory_bytes = kSampleBudgetBytes,
                         .turn_ns = 20'000});
  system.RunFor(100 * kMs);
  const int64_t allocations_before = g_allocation_count;
  const int64_t rpcs_before = CompletedRpcs(system);
  system.RunFor(100 * kMs);
  const Measured measured = {g_allocation_count - allocations_before,
                             CompletedRpcs(system) - rpcs_before};
  EXPECT_FALSE(system.finished());
  return measured;
}

std::string ClientServer(const std::string& iterations,
                         const std::string& rpc = "") {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 3 }
        default_protocol: "loopback"
        size_distribution_configs {
          name: "sizes"
          pmf_points {
            pmf: 0.5
            data_points { exact: 100 }
          }
          pmf_points {
            pmf: 0.5
            data_points { lower: 200 upper: 3000 }
          }
        }
        payload_descriptions { name: "drawn" size_distribution_name: "sizes" }
        rpc_descriptions {
          name: "query"
          client: "client"
          server: "server"
          request_payload_name: "drawn"
          response_payload_name: "drawn" $1
        }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" }
        actions { name: "run" rpc_name: "query" iterations { $0 } })pb",
      iterations, rpc);
}

TEST(AllocationTest, TheCounterCounts) {
  const int64_t before = g_allocation_count;
  // Called by name, because compilers may elide new expressions.
  ::operator delete(::operator new(sizeof(int)));
  EXPECT_EQ(g_allocation_count, before + 1);
}

TEST(AllocationTest, ClosedLoopAllocatesNothing) {
  const Measured measured =
      MeasureSteadyState(ClientServer("max_parallel_iterations: 100"));
  EXPECT_GT(measured.rpcs, 10'000);
  EXPECT_EQ(measured.allocations, 0);
}

TEST(AllocationTest, MeasuringTimePartsAllocatesNothing) {
  const Measured measured =
      MeasureSteadyState(ClientServer("max_parallel_iterations: 100") +
                         " measure_time_parts: true");
  EXPECT_GT(measured.rpcs, 10'000);
  EXPECT_EQ(measured.allocations, 0);
}

TEST(AllocationTest, OpenLoopAllocatesNothing) {
  const Measured measured = MeasureSteadyState(
      ClientServer("open_loop_interval_ns: 10000 "
                   "open_loop_interval_distribution: 'exponential'",
                   "fanout_filter: 'round_robin'"));
  EXPECT_GT(measured.rpcs, 5'000);
  EXPECT_EQ(measured.allocations, 0);
}

// The cap keeps bursts from making pools grow, and makes what is due be
// counted.
TEST(AllocationTest, ComposedArrivalsAllocateNothing) {
  const Measured measured = MeasureSteadyState(ClientServer(
      "open_loop_interval_ns: 10000 max_parallel_iterations: 3 arrivals { "
      "process: 'gamma' coefficient_of_variation: 3 "
      "modulations { sine { period_ns: 1000000 } } "
      "modulations { on_off { on_ns: 1000000 off_ns: 300000 times: "
      "'exponential' } } }"));
  EXPECT_GT(measured.rpcs, 3'000);
  EXPECT_EQ(measured.allocations, 0);
}

TEST(AllocationTest, StochasticFanoutAllocatesNothing) {
  const Measured measured = MeasureSteadyState(
      ClientServer("max_parallel_iterations: 10",
                   "fanout_filter: 'stochastic{0.5:1,0.5:3}'"));
  EXPECT_GT(measured.rpcs, 10'000);
  EXPECT_EQ(measured.allocations, 0);
}

TEST(AllocationTest, PoliciesAllocateNothing) {
  for (const char* policy :
       {"load_balancing: 'two_choices' attempt_deadline: '10ms' "
        "retry { budget {} } circuit_breaker {} "
        "concurrency_limit { kind: 'aimd' limit: 50 }",
        "hedging { delay: '20us' max_attempts: 3 } "
        "quorum { answers: 2 rest: 'ignore' }"}) {
    const Measured measured = MeasureSteadyState(
        ClientServer("max_parallel_iterations: 10",
                     absl::Substitute("policy { $0 }", policy)));
    EXPECT_GT(measured.rpcs, 10'000) << policy;
    EXPECT_EQ(measured.allocations, 0) << policy;
  }
}

// A client calls a root, whose handler calls leaves in a nested list, waits,
// and keeps some of its samples.
TEST(AllocationTest, HandlersWithNestedListsAllocateNothing) {
  const Measured measured = MeasureSteadyState(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 2 }
    services { name: "leaf" count: 5 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "think"
      pmf_points {
        pmf: 1
        data_points { lower: 1000 upper: 9000 }
      }
    }
    rpc_descriptions {
      name: "root_query"
      client: "client"
      server: "root"
      fanout_filter: "round_robin"
    }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists {
      name: "root_query"
      action_names: "think"
      action_names: "ask"
      action_names: "answer"
      predicate_probabilities { key: "coin" value: 0.5 }
    }
    action_lists {
      name: "ask_leaves"
      action_names: "ask_leaf"
      max_rpc_samples: 2
    }
    action_lists { name: "leaf_query" }
    actions {
      name: "run"
      rpc_name: "root_query"
      iterations { open_loop_interval_ns: 20000 }
    }
    actions { name: "think" delay_distribution_name: "think" }
    actions {
      name: "ask"
      action_list_name: "ask_leaves"
      dependencies: "think"
      iterations { max_iteration_count: 3 max_parallel_iterations: 2 }
    }
    actions { name: "ask_leaf" rpc_name: "leaf_query" }
    actions {
      name: "answer"
      dependencies: "ask"
      predicates: "coin"
      send_response_when_done: true
    }
  )pb");
  EXPECT_GT(measured.rpcs, 10'000);
  EXPECT_EQ(measured.allocations, 0);
}

// Requests that wait, are refused, fail on purpose or are answered late.
TEST(AllocationTest, AdmissionAndFaultsAllocateNothing) {
  const Measured measured = MeasureSteadyState(R"pb(
    services { name: "client" count: 1 }
    services {
      name: "server"
      count: 1
      admission { max_running: 3 max_waiting: 5 refuse: "oldest" }
    }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "work"
      pmf_points {
        pmf: 1
        data_points { lower: 20000 upper: 90000 }
      }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" action_names: "work" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { open_loop_interval_ns: 20000 }
    }
    actions { name: "work" delay_distribution_name: "work" }
    server_faults {
      name: "errors"
      service: "server"
      error_code: "UNAVAILABLE"
      probability: 0.1
    }
    server_faults {
      name: "late"
      service: "server"
      extra_latency_distribution: "work"
      duration: "10ms"
      repeat: "15ms"
    }
  )pb");
  EXPECT_GT(measured.rpcs, 2'000);
  // The loopback driver keeps the text of an error in its pooled calls, a few
  // of which fail for the first time.
  EXPECT_LE(measured.allocations, 3);
}

}  // namespace
}  // namespace distbench::engine
