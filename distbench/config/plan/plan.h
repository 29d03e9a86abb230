// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A compiled test, which engines execute. Names have been replaced by small
// integers, defaults are filled in, and distributions are ready to draw from. A
// Plan is immutable, and using it cannot fail.
//
// Compile() (compile.h) builds it from a test that passed validation.

#ifndef DISTBENCH_CONFIG_PLAN_PLAN_H_
#define DISTBENCH_CONFIG_PLAN_PLAN_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distbench/config/arrivals/arrival_plan.h"
#include "distbench/config/distributions/distribution.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/plan/test_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// A payload size in bytes, for the whole serialised message: fixed, drawn from
// Plan::distributions, or that of an instance in Plan::size_tables.
struct SizePlan {
  int64_t fixed_bytes = 0;
  int distribution = kNone;
  int size_table = kNone;
};

struct FanoutPlan {
  enum class Kind {
    kAll,
    kRandom,
    kRoundRobin,
    kSameCoordinates,  // on every axis of `axes`
    kRing,             // +distance on `axis`, modulo its size
    kAlternatingRing,  // -1 if the deciding coordinate is odd, else +1
    kLinear,           // +distance on `axis`; no target beyond the edge
    kXor,              // ^distance on `axis`; no target beyond the edge
    kChild,            // on `axis`, in a binary tree: child number `distance`
    kParent,           // likewise the parent, of child number `distance`
    kStochastic,       // a number of targets drawn from `choices`
  };
  // Selects `target_count` distinct instances with this probability.
  struct Choice {
    double probability;
    int target_count;
  };

  Kind kind = Kind::kAll;
  int axis = 0;                 // 0: x, 1: y, 2: z
  std::vector<int> axes;        // kSameCoordinates
  int distance = 1;             // kRing and kLinear: may be negative
  std::vector<Choice> choices;  // kStochastic; probabilities sum to 1
};

// One channel to several instances of a service.
struct MultiServerChannelPlan {
  std::string name;
  std::string policy;
  std::vector<int> members;  // instance numbers within the service, ascending
};

// How many requests an instance of a service runs at once, and how many wait.
// Its workers share both limits.
struct AdmissionPlan {
  int64_t max_running = 1;
  int64_t max_waiting = kUnlimited;
  bool refuses_oldest = false;  // else the newest
};

struct ServicePlan {
  std::string name;
  int sizes[3] = {1, 1, 1};  // grid extent along x, y, z
  int dimensions = 1;        // how many sizes are part of instance names
  int instance_count = 1;    // product of sizes
  int first_instance = 0;    // index into Plan::instances
  int main_list = kNone;     // index into Plan::lists
  DriverOptions driver;      // resolved: no aliases, all defaults filled in
  std::vector<MultiServerChannelPlan> multi_server_channels;
  // "HOST:PORT" each, and how to choose among them. Empty unless the service is
  // outside of the test: then no engine runs its one instance, and `driver` is
  // not set.
  std::vector<std::string> outside_addresses;
  std::string outside_policy;
  std::optional<AdmissionPlan> admission;  // none: all requests run at once
};

// An instance of a service. Its index in Plan::instances is its engine id.
struct InstancePlan {
  std::string name;  // for example "client/0"
  int service = 0;
  int number = 0;  // within the service: x + y*X + z*X*Y
  int coordinates[3] = {0, 0, 0};
};

// A time between messages: fixed, or drawn from Plan::distributions.
struct IntervalPlan {
  int64_t fixed_ns = 0;  // 0: none
  int distribution = kNone;
};

// The messages of one direction of a streaming RPC.
struct StreamSidePlan {
  int64_t count = 1;
  int count_distribution = kNone;  // replaces `count`
  IntervalPlan interval;

  bool has_interval() const {
    return interval.fixed_ns > 0 || interval.distribution != kNone;
  }
};

struct StreamPlan {
  enum class Start { kOnFirstRequest, kOnLastRequest, kEcho };

  StreamSidePlan client;
  StreamSidePlan server;
  Start start = Start::kOnFirstRequest;
};

enum class LoadBalancing { kRoundRobin, kRandom, kTwoChoices, kLeastInFlight };

// What the caller of an RPC does about slow, failed and superfluous calls.
struct PolicyPlan {
  // As in the canonical config, where traffic_config.proto documents the fields
  // and their defaults.
  CallPolicy policy;

  // What follows from it for all attempts alike.
  std::optional<LoadBalancing> load_balancing;
  int64_t attempt_deadline_ns = kUnlimited;

  // Of a request, with the first one; further ones are those of its retries or
  // its hedging, of which there is at most one.
  int max_attempts = 1;
  std::optional<RetryBudget> budget;  // of the further ones
};

struct RpcPlan {
  std::string name;
  std::vector<int> client_services;
  int server_service = 0;
  int handler_list = 0;  // kNone: the server is outside
  FanoutPlan fanout;
  // joint_distribution, if set, draws both sizes: the request's, then the
  // response's. Otherwise `request` and `response` apply.
  SizePlan request;
  SizePlan response;
  int joint_distribution = kNone;
  int tracing_interval = 0;          // 0: never
  int multi_server_channel = kNone;  // of the server; replaces the fanout
  int64_t deadline_ns = kUnlimited;  // per call
  std::optional<StreamPlan> stream;  // at most one of both
  std::optional<PolicyPlan> policy;
  // Whether one of both is set, so that senders of other RPCs make one test.
  bool is_special = false;
};

enum class ArrivalProcess {
  kConstant,
  kExponential,
  kSyncBurst,
  kSyncBurstSpread,
};

struct IterationsPlan {
  int64_t max_count = 1;
  int64_t max_duration_ns = kUnlimited;
  // Closed loop: iterations in flight. Open loop: their maximum, or kUnlimited.
  int64_t max_parallel = 1;
  bool open_loop = false;
  int64_t interval_ns = 0;  // mean; open loop only
  ArrivalProcess arrivals = ArrivalProcess::kConstant;
  // Replaces `arrivals`, if present; interval_ns is then the mean while all
  // factors are 1.
  std::shared_ptr<const ArrivalPlan> composed_arrivals;
  int64_t warmup_count = 0;
  int64_t warmup_ns = 0;
};

// An entry of an action list. An action that a list names twice has two
// entries.
struct ActionPlan {
  enum class Kind { kNothing, kRpc, kList, kActivity, kReplay, kReceive };
  // A predicate of the list, and the value that it must have.
  struct Condition {
    int predicate;
    bool expected;
  };

  std::string name;
  Kind kind = Kind::kNothing;
  int target = kNone;  // index into rpcs, lists, activities or replay_traces
  int record = kNone;  // index into recorded_actions

  // Positions in the same list. All dependencies precede this action.
  std::vector<int> dependencies;
  std::vector<int> dependents;

  IterationsPlan iterations;
  std::vector<Condition> conditions;
  int delay_distribution = kNone;
  bool send_response_when_done = false;
  bool cancel_traffic_when_done = false;
  std::optional<SizePlan> request_override;
  std::optional<SizePlan> response_override;
};

struct ListPlan {
  struct Predicate {
    std::string name;
    double probability;
  };

  std::string name;  // index in Plan::lists = index in the config
  std::vector<ActionPlan> actions;
  std::vector<Predicate> predicates;
  int64_t max_rpc_samples = 0;  // per execution; 0: no separate limit
  bool spin = false;            // busy-wait for due times
};

struct ActivityPoolPlan {
  std::string name;
  int size = 1;  // threads, or slots for activities that wait
};

struct ActivityPlan {
  std::string name;
  std::string function;  // as registered in activity/
  int pool = kNone;  // index into Plan::activity_pools; kNone: the default pool
  std::map<std::string, SettingValue> settings;  // all that are declared
};

struct ReplayRecordPlan {
  enum class Base { kTrafficStart, kTraceStart, kPriorStart, kPriorEnd };

  int64_t offset_ns = 0;
  Base base = Base::kTraceStart;
  std::vector<int> prior_records;  // absolute positions; kPrior* only
  int client_instance = kNone;     // kNone: every instance
  int server_instance = 0;
  int multi_server_channel = kNone;  // of the server service
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  int64_t processing_ns = 0;
};

struct ReplayTracePlan {
  std::string name;
  int client_service = 0;
  int server_service = 0;
  std::vector<ReplayRecordPlan> records;
};

// A failure that instances of a service have on purpose.
struct FaultPlan {
  enum class Kind { kError, kExtraLatency, kFreeze, kResetConnections };

  std::string name = {};
  Kind kind = Kind::kError;
  int service = 0;
  std::vector<int> instances = {};   // numbers within the service; empty: all
  int rpc = kNone;                   // kNone: requests of all RPCs
  int64_t start_ns = 0;              // after the start of the traffic
  int64_t duration_ns = kUnlimited;  // 0: it is a moment
  int64_t repeat_ns = 0;             // from begin to begin; 0: it happens once
  double probability = 1;            // per request
  std::string error = {};            // kError: "CODE: message"
  IntervalPlan extra_latency = {};   // kExtraLatency
};

struct Plan {
  std::string test_name;
  uint64_t seed = 0;
  int64_t timeout_ns = 0;        // from attribute "test_timeout"
  int workers_per_instance = 0;  // 0: decided on the host
  int64_t max_threads = 0;
  int64_t max_pending_rpcs = 0;        // of an instance
  int64_t max_pending_work = 0;        // of a worker
  int64_t max_memory_bytes = 0;        // of a node; 0: what its host allows
  int64_t sample_memory_bytes = 0;     // of each node
  int64_t recording_memory_bytes = 0;  // of each instance
  bool measures_time_parts = false;
  WireTimeOptions wire_time;

  std::vector<ServicePlan> services;
  std::vector<InstancePlan> instances;  // by service, then number
  std::vector<RpcPlan> rpcs;            // index = rpc_index on the wire
  std::vector<ListPlan> lists;
  std::vector<std::string> recorded_actions;  // names, each once
  std::vector<Distribution> distributions;
  // Sizes by the number of the server's instance, starting over after the last.
  std::vector<std::vector<int64_t>> size_tables;
  std::vector<ActivityPoolPlan> activity_pools;
  std::vector<ActivityPlan> activities;
  std::vector<ReplayTracePlan> replay_traces;
  std::vector<FaultPlan> faults;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_PLAN_PLAN_H_
