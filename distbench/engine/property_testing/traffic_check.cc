// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/property_testing/traffic_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/property_testing/traffic_observer.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"

namespace distbench::engine {
namespace {

// With turns this long, loops that only time ends do little work.
constexpr int64_t kTurnNs = 1'000'000;
constexpr int64_t kMaxTurns = 200'000;
// Enough for everything that has stopped to notice.
constexpr int64_t kTurnsToStop = 2'000;
// The number of deliveries of the loopback driver in a turn.
constexpr int64_t kDeliveriesPerTurn = 256;
// Longer than all the times of any generated test together.
constexpr int64_t kLongestNs = 1'000'000'000'000'000'000;

// The only use of an RPC: one action of a service's main list.
struct SoleUse {
  const config::ActionPlan* action;
  int service;
};

// Returns the sole uses by RPC; RPCs that are used otherwise are left out.
std::map<int, SoleUse> FindSoleUses(const config::Plan& plan) {
  std::vector<int> main_of(plan.lists.size(), config::kNone);
  for (size_t service = 0; service < plan.services.size(); ++service) {
    const int list = plan.services[service].main_list;
    if (list != config::kNone) main_of[list] = static_cast<int>(service);
  }
  std::map<int, SoleUse> uses;
  std::map<int, int> use_counts;
  for (size_t list = 0; list < plan.lists.size(); ++list) {
    for (const config::ActionPlan& action : plan.lists[list].actions) {
      if (action.kind == config::ActionPlan::Kind::kList) {
        main_of[action.target] = config::kNone;
      }
      if (action.kind != config::ActionPlan::Kind::kRpc) continue;
      ++use_counts[action.target];
      uses[action.target] = {&action, static_cast<int>(list)};
    }
  }
  for (auto it = uses.begin(); it != uses.end();) {
    it->second.service = main_of[it->second.service];
    const bool sole =
        use_counts[it->first] == 1 && it->second.service != config::kNone;
    it = sole ? std::next(it) : uses.erase(it);
  }
  return uses;
}

// The maximum number of targets of an iteration.
int64_t MaxTargets(const config::Plan& plan, const config::RpcPlan& rpc) {
  if (rpc.multi_server_channel != config::kNone) return 1;
  switch (rpc.fanout.kind) {
    case config::FanoutPlan::Kind::kRandom:
    case config::FanoutPlan::Kind::kRoundRobin:
    case config::FanoutPlan::Kind::kRing:
    case config::FanoutPlan::Kind::kAlternatingRing:
    case config::FanoutPlan::Kind::kLinear:
      return 1;
    case config::FanoutPlan::Kind::kStochastic: {
      int64_t most = 0;
      for (const config::FanoutPlan::Choice& choice : rpc.fanout.choices) {
        most = std::max<int64_t>(most, choice.target_count);
      }
      return most;
    }
    case config::FanoutPlan::Kind::kAll:
    case config::FanoutPlan::Kind::kSameCoordinates:
      break;
  }
  return plan.services[rpc.server_service].instance_count;
}

// The number of targets of every iteration, or -1 if it varies.
int64_t ConstantTargets(const config::Plan& plan, const config::RpcPlan& rpc,
                        int client) {
  if (rpc.multi_server_channel != config::kNone) return -1;
  const int64_t candidates =
      plan.services[rpc.server_service].instance_count -
      (plan.instances[client].service == rpc.server_service ? 1 : 0);
  switch (rpc.fanout.kind) {
    case config::FanoutPlan::Kind::kAll:
      return candidates;
    case config::FanoutPlan::Kind::kRandom:
    case config::FanoutPlan::Kind::kRoundRobin:
      return std::min<int64_t>(1, candidates);
    default:
      return -1;
  }
}

class TrafficCheck {
 public:
  TrafficCheck(const DistributedSystemDescription& test,
               const TrafficCheckOptions& options)
      : test_(test),
        options_(options),
        plan_(config::Compile(test)),
        observer_(plan_, options.refusal_probability, options.seed) {}

  TrafficCheckResult Run() {
    MakeSystem();
    RunToTheEnd();
    if (result_.violations.empty()) {
      CheckThatNothingIsInFlight();
      CheckCounts();
      CheckLimits();
      CheckStatistics(system_->Finish());
    }
    for (const std::string& violation : observer_.violations()) {
      Complain(violation);
    }
    return std::move(result_);
  }

 private:
  void Complain(const std::string& what) { result_.violations.push_back(what); }

  void MakeSystem() {
    VirtualTimeOptions simulation;
    simulation.workers = std::max(1, plan_.workers_per_instance);
    simulation.turn_ns = kTurnNs;
    simulation.max_turns = kMaxTurns;
    simulation.wrap_driver =
        [this](int instance, std::unique_ptr<protocol::ProtocolDriver> driver) {
          return observer_.Watch(instance, std::move(driver));
        };
    simulation.next_due_ns = [this] {
      return observer_.next_deadline_ns(system_->clock().MonotonicNs());
    };
    system_ = std::make_unique<VirtualTimeSystem>(test_, std::move(simulation));
  }

  void RunToTheEnd() {
    const bool ended =
        system_->Run(options_.ends_by_itself ? kLongestNs : plan_.timeout_ns);
    result_.overloaded = !system_->overloads().empty();
    result_.timed_out = !ended;
    if (!ended && options_.ends_by_itself) {
      Complain(absl::StrCat("it should end by itself, and ",
                            system_->turns_left() == 0
                                ? "goes on for more turns than it may"
                                : "nothing is due any more"));
      return;
    }
    Stop();
  }

  // As at the end of a test: handlers may have gone on, and requests whose
  // clients have given up may still wait. These are refused one by one, and
  // must not cause anything new.
  void Stop() {
    const CallCounts before = Sum(observer_.sent());
    const int64_t unanswered = before.started - Sum(observer_.handled()).ended;
    const int64_t turns = kTurnsToStop + 2 * unanswered / kDeliveriesPerTurn;
    system_->StopAll("the test is over");
    system_->AllowTurns(turns);
    system_->RunFor(2 * turns * kTurnNs);
    if (!system_->finished()) Complain("stopping does not end it");
    const int64_t sent = Sum(observer_.sent()).started - before.started;
    if (sent > 0) {
      Complain(absl::StrCat(sent, " RPCs were sent after it was stopped"));
    }
    if (system_->turns_left() == 0) {
      Complain("it is still busy long after it was stopped");
    }
  }

  static CallCounts Sum(const TrafficObserver::Counts& counts) {
    CallCounts sum;
    for (const auto& [key, call_counts] : counts) {
      sum.started += call_counts.started;
      sum.ended += call_counts.ended;
    }
    return sum;
  }

  void CheckThatNothingIsInFlight() {
    for (const config::InstancePlan& instance : plan_.instances) {
      const int64_t in_flight =
          system_->engine(instance.name).progress().in_flight_count();
      if (in_flight == 0) continue;
      Complain(absl::StrCat(instance.name, " has ", in_flight,
                            " RPCs in flight after the end"));
    }
  }

  void CheckCounts() {
    std::map<int, int64_t> sent;
    std::map<int, int64_t> handled;
    for (const auto& [key, counts] : observer_.sent()) {
      sent[key.second] += counts.started;
      result_.rpc_count += counts.started;
      if (counts.in_flight() == 0) continue;
      Complain(absl::StrCat(Name(key), ": ", counts.in_flight(), " of ",
                            counts.started, " calls have not ended"));
    }
    for (const auto& [key, counts] : observer_.handled()) {
      handled[key.second] += counts.started;
      if (counts.in_flight() == 0) continue;
      Complain(absl::StrCat(Name(key), ": ", counts.in_flight(), " of ",
                            counts.started, " requests are not answered"));
    }
    for (const auto& [rpc, count] : sent) {
      if (handled[rpc] == count || BreaksConnections()) continue;
      Complain(absl::StrCat("of RPC ", rpc, " ", count, " were sent and ",
                            handled[rpc], " handled"));
    }
  }

  void CheckLimits() {
    for (const auto& [rpc, use] : FindSoleUses(plan_)) {
      for (size_t i = 0; i < plan_.instances.size(); ++i) {
        if (plan_.instances[i].service != use.service) continue;
        CheckLimitsOf(*use.action, rpc, static_cast<int>(i));
      }
    }
    for (size_t i = 0; i < plan_.instances.size(); ++i) {
      CheckPending(static_cast<int>(i));
    }
  }

  // Attempts are not iterations, and those of a quorum's rest outlast theirs.
  void CheckLimitsOf(const config::ActionPlan& action, int rpc, int instance) {
    if (plan_.rpcs[rpc].policy.has_value()) return;
    const auto found = observer_.sent().find({instance, rpc});
    const CallCounts counts =
        found == observer_.sent().end() ? CallCounts() : found->second;
    const config::IterationsPlan& iterations = action.iterations;
    const int64_t targets = MaxTargets(plan_, plan_.rpcs[rpc]);
    if (Exceeds(counts.most_at_once, iterations.max_parallel, targets)) {
      Complain(absl::StrCat(Name({instance, rpc}), ": ", counts.most_at_once,
                            " calls at once, and ", iterations.max_parallel,
                            " iterations are allowed"));
    }
    const int64_t most = MaxIterations(iterations);
    if (Exceeds(counts.started, most, targets)) {
      Complain(absl::StrCat(Name({instance, rpc}), ": ", counts.started,
                            " calls, and ", most, " iterations are allowed"));
    }
    const int64_t constant = ConstantTargets(plan_, plan_.rpcs[rpc], instance);
    if (MustReachItsCount(action) && constant >= 0 &&
        counts.started != constant * iterations.max_count) {
      Complain(absl::StrCat(Name({instance, rpc}), ": ", counts.started,
                            " calls, and it should be ", constant, " in each ",
                            "of ", iterations.max_count, " iterations"));
    }
  }

  static bool Exceeds(int64_t calls, int64_t iterations, int64_t targets) {
    return iterations < std::numeric_limits<int32_t>::max() &&
           calls > iterations * targets;
  }

  // The maximum number of iterations in one execution.
  static int64_t MaxIterations(const config::IterationsPlan& iterations) {
    if (!iterations.open_loop ||
        iterations.max_duration_ns == config::kUnlimited ||
        iterations.arrivals == config::ArrivalProcess::kExponential ||
        iterations.composed_arrivals != nullptr) {
      return iterations.max_count;
    }
    return std::min(iterations.max_count,
                    iterations.max_duration_ns / iterations.interval_ns + 1);
  }

  // Whether nothing can keep the action from reaching its count.
  bool MustReachItsCount(const config::ActionPlan& action) const {
    return options_.ends_by_itself && !result_.overloaded && !Cancels() &&
           action.conditions.empty() && action.dependencies.empty() &&
           action.iterations.max_duration_ns == config::kUnlimited &&
           action.iterations.max_count != config::kUnlimited;
  }

  // Then requests may be lost on their way.
  bool BreaksConnections() const {
    return std::any_of(
        test_.server_faults().begin(), test_.server_faults().end(),
        [](const ServerFault& fault) { return fault.reset_connections(); });
  }

  bool Cancels() const {
    return std::any_of(plan_.lists.begin(), plan_.lists.end(),
                       [](const config::ListPlan& list) {
                         return std::any_of(
                             list.actions.begin(), list.actions.end(),
                             [](const config::ActionPlan& action) {
                               return action.cancel_traffic_when_done;
                             });
                       });
  }

  // The iteration that exceeds the limit is the last one of its worker. Workers
  // below their share do not look at the others.
  void CheckPending(int instance) {
    int64_t most_targets = 1;
    int64_t most_attempts = 1;
    for (const config::RpcPlan& rpc : plan_.rpcs) {
      most_targets = std::max(most_targets, MaxTargets(plan_, rpc));
      if (rpc.policy.has_value()) {
        most_attempts =
            std::max<int64_t>(most_attempts, rpc.policy->max_attempts);
      }
    }
    // All records of a trace may be due at once.
    for (const config::ReplayTracePlan& trace : plan_.replay_traces) {
      most_targets = std::max<int64_t>(most_targets, std::ssize(trace.records));
    }
    const int64_t workers = std::max(1, plan_.workers_per_instance);
    const int64_t most = observer_.most_in_flight(instance);
    const int64_t allowed = plan_.max_pending_rpcs * (workers == 1 ? 1 : 2);
    if (most > most_attempts * (allowed + workers * most_targets)) {
      Complain(absl::StrCat(plan_.instances[instance].name, ": ", most,
                            " RPCs in flight, and max_pending_rpcs is ",
                            plan_.max_pending_rpcs));
    }
  }

  void CheckStatistics(const ServiceLogs& logs) {
    std::map<std::pair<int, int>, int64_t> counted;
    int64_t never_sent = 0;
    for (size_t i = 0; i < plan_.instances.size(); ++i) {
      const auto log = logs.instance_logs().find(plan_.instances[i].name);
      if (log == logs.instance_logs().end()) continue;
      for (const auto& [rpc, streams] : log->second.stream_statistics()) {
        for (const std::string& what : CheckMessages(streams, *StreamOf(rpc)))
          Complain(absl::StrCat(plan_.instances[i].name, ": ", what));
      }
      for (const auto& [peer, peer_log] : log->second.peer_logs()) {
        for (const auto* logs :
             {&peer_log.rpc_logs(), &peer_log.replay_logs()}) {
          for (const auto& [rpc, rpc_log] : *logs) {
            const RpcStatistics& statistics = rpc_log.statistics();
            counted[{static_cast<int>(i), rpc}] +=
                statistics.succeeded_count() + statistics.failed_count() +
                statistics.warmup_count();
            CheckTimes(statistics, plan_.instances[i].name, StreamOf(rpc));
          }
        }
      }
      for (const std::string& what : CheckPolicies(log->second, plan_))
        Complain(absl::StrCat(plan_.instances[i].name, ": ", what));
    }
    for (const auto& [key, counts] : observer_.sent()) {
      if (key.second < 0 || key.second >= plan_.rpcs.size()) continue;
      if (plan_.rpcs[key.second].policy.has_value()) continue;
      never_sent += counted[key] - counts.started;
      if (counted[key] >= counts.started) continue;
      Complain(absl::StrCat(Name(key), ": ", counts.started, " were sent and ",
                            counted[key], " are in the statistics"));
    }
    if (never_sent > 0 && observer_.refused_count() == 0) {
      Complain(absl::StrCat("the statistics have ", never_sent,
                            " RPCs more than were sent"));
    }
  }

  // Null if the RPC does not stream.
  const config::StreamPlan* StreamOf(int rpc) const {
    return rpc < std::ssize(plan_.rpcs) && plan_.rpcs[rpc].stream.has_value()
               ? &*plan_.rpcs[rpc].stream
               : nullptr;
  }

  void CheckTimes(const RpcStatistics& statistics, const std::string& instance,
                  const config::StreamPlan* stream) {
    if (statistics.service_time_ns().min() < 0 ||
        statistics.lateness_ns().min() < 0) {
      Complain(absl::StrCat(instance, ": a time is negative"));
    }
    if (stream != nullptr) return;  // it has no time parts
    if (statistics.has_service_time_ns()) CheckTimeParts(statistics, instance);
  }

  // If they are measured, they add up to the service times.
  void CheckTimeParts(const RpcStatistics& statistics,
                      const std::string& instance) {
    const double sum_ns = statistics.server_queue_ns().sum() +
                          statistics.server_handler_ns().sum() +
                          statistics.network_ns().sum();
    const double expected_ns =
        plan_.measures_time_parts ? statistics.service_time_ns().sum() : 0;
    if (std::abs(sum_ns - expected_ns) > 1e-6 * expected_ns) {
      Complain(absl::StrCat(instance, ": time parts of ", sum_ns,
                            " ns in all, and it should be ", expected_ns));
    }
  }

  std::string Name(std::pair<int, int> key) const {
    return absl::StrCat(plan_.instances[key.first].name, ", RPC ", key.second);
  }

  const DistributedSystemDescription& test_;
  const TrafficCheckOptions& options_;
  const config::Plan plan_;
  TrafficObserver observer_;
  std::unique_ptr<VirtualTimeSystem> system_;
  TrafficCheckResult result_;
};

}  // namespace

TrafficCheckResult CheckTraffic(const DistributedSystemDescription& test,
                                const TrafficCheckOptions& options) {
  return TrafficCheck(test, options).Run();
}

namespace {

// Requests that are in the statistics, without the warm-up.
int64_t EndedCount(const ServicePerformanceLog& log, int rpc) {
  int64_t count = 0;
  for (const auto& [peer, peer_log] : log.peer_logs()) {
    const auto found = peer_log.rpc_logs().find(rpc);
    if (found == peer_log.rpc_logs().end()) continue;
    count += found->second.statistics().succeeded_count() +
             found->second.statistics().failed_count();
  }
  return count;
}

absl::Status ValidNumbers(const google::protobuf::Message& statistics) {
  return results::ValidateCounters(
      statistics, {.negative_count = "there is a count of $0"});
}

std::vector<std::string> CheckAttempts(const PolicyStatistics& statistics,
                                       const config::PolicyPlan& plan,
                                       int64_t ended_count) {
  if (const absl::Status status = ValidNumbers(statistics); !status.ok()) {
    return {std::string(status.message())};
  }
  std::vector<std::string> problems;
  if (statistics.attempt_count() != statistics.succeeded_attempt_count() +
                                        statistics.failed_attempt_count() +
                                        statistics.abandoned_attempt_count()) {
    problems.push_back(absl::StrCat(
        statistics.attempt_count(),
        " attempts do not add up: ", statistics.succeeded_attempt_count(),
        " succeeded, ", statistics.failed_attempt_count(), " failed and ",
        statistics.abandoned_attempt_count(), " were abandoned"));
  }
  if (statistics.request_count() !=
      ended_count + statistics.not_needed_count()) {
    problems.push_back(absl::StrCat(
        "of ", statistics.request_count(), " requests, ", ended_count,
        " have ended and ", statistics.not_needed_count(), " were not needed"));
  }
  const int64_t further = statistics.retry_count() + statistics.hedge_count();
  if (statistics.attempt_count() >
          plan.max_attempts * statistics.request_count() ||
      further > statistics.attempt_count() ||
      statistics.attempt_count() - further > statistics.request_count()) {
    problems.push_back(
        absl::StrCat(statistics.request_count(), " requests have ",
                     statistics.attempt_count(), " attempts, of which ",
                     further, " are further ones"));
  }
  if (!plan.policy.has_quorum() && statistics.not_needed_count() > 0) {
    problems.push_back("requests were not needed, but there is no quorum");
  }
  return problems;
}

}  // namespace

std::vector<std::string> CheckPolicies(const ServicePerformanceLog& log,
                                       const config::Plan& plan) {
  std::vector<std::string> problems;
  for (const auto& [rpc, statistics] : log.policy_statistics()) {
    for (const std::string& what : CheckAttempts(
             statistics, *plan.rpcs[rpc].policy, EndedCount(log, rpc))) {
      problems.push_back(absl::StrCat("RPC ", rpc, ": ", what));
    }
  }
  return problems;
}

namespace {

// Drawn numbers are at least 1.
bool HasMessages(int64_t messages, int64_t streams,
                 const config::StreamSidePlan& side) {
  return side.count_distribution == config::kNone
             ? messages == streams * side.count
             : messages >= streams;
}

}  // namespace

std::vector<std::string> CheckMessages(const StreamStatistics& statistics,
                                       const config::StreamPlan& plan) {
  if (const absl::Status status = ValidNumbers(statistics); !status.ok()) {
    return {std::string(status.message())};
  }
  std::vector<std::string> problems;
  const int64_t streams = statistics.stream_count();
  const bool has_responses =
      plan.start == config::StreamPlan::Start::kEcho
          ? statistics.response_messages() == statistics.request_messages()
          : HasMessages(statistics.response_messages(), streams, plan.server);
  if (!has_responses ||
      !HasMessages(statistics.request_messages(), streams, plan.client)) {
    problems.push_back(absl::StrCat(
        streams, " streams have ", statistics.request_messages(),
        " requests and ", statistics.response_messages(), " responses"));
  }
  for (const Histogram* per_stream :
       {&statistics.first_message_ns(), &statistics.client_blocked_ns(),
        &statistics.server_blocked_ns()}) {
    const uint64_t count = results::HistogramOf(*per_stream).count();
    if (static_cast<int64_t>(count) == streams) continue;
    problems.push_back(
        absl::StrCat("of ", streams, " streams, ", count, " were measured"));
  }
  return problems;
}

}  // namespace distbench::engine
