// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The part of the generator that describes the behaviour of services.

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/engine/property_testing/random_parts.h"
#include "distbench/engine/property_testing/traffic_generator.h"

namespace distbench::engine {
namespace {

// The number of iterations and RPCs that an execution of a list may cause.
constexpr double kMainBudget = 1'500;
constexpr double kHandlerBudget = 60;
constexpr int64_t kMaxIterations = 40;
// The maximum length of the grid, and so of chains along it.
constexpr double kLinearWork = 8;

// The maximum probabilities with which a handler calls backwards.
constexpr float kChances[] = {0.02f, 0.1f, 0.3f, 0.9f};

}  // namespace

// Makes handlers from the last to the first, because each may call later ones,
// whose work must be known. Main lists may call any handler.
void TrafficGenerator::AddLists() {
  const int rpc_count = test_.rpc_descriptions_size();
  handler_work_.resize(rpc_count, 0);
  for (int rpc = rpc_count - 1; rpc >= 0; --rpc) {
    const RpcSpec& spec = test_.rpc_descriptions(rpc);
    const int server = ServiceNumber(spec.server());
    if (random_.Chance(0.35)) {
      test_.add_action_lists()->set_name(spec.name());
      continue;
    }
    handler_work_[rpc] =
        AddList(spec.name(), server, rpc, /*nesting=*/0, kHandlerBudget);
  }
  const auto always =
      static_cast<int>(random_.Between(0, test_.services_size() - 1));
  for (int service = 0; service < test_.services_size(); ++service) {
    if (service != always && random_.Chance(0.25)) continue;
    AddList(test_.services(service).name(), service, kMainLevel, /*nesting=*/0,
            kMainBudget / InstanceCount(service));
  }
}

double TrafficGenerator::AddList(const std::string& name, int service,
                                 int level, int nesting, double budget) {
  ActionList list;
  list.set_name(name);
  if (random_.Chance(0.2)) {
    list.set_max_rpc_samples(random_.OneOf<int64_t>({0, 1, 5, 1000}));
  }
  if (random_.Chance(0.1)) list.set_delay_actions_by_spinning(true);
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    (*list.mutable_predicate_probabilities())[absl::StrCat("coin", i)] =
        random_.OneOf<float>({0.0f, 0.25f, 0.5f, 1.0f});
  }
  double work = 1;
  const int64_t action_count = random_.Between(nesting == 0 ? 1 : 0, 4);
  for (int64_t i = 0; i < action_count; ++i) {
    work += AddAction(list, service, level, nesting,
                      (budget - work) / static_cast<double>(action_count - i));
  }
  *test_.add_action_lists() = std::move(list);
  return work;
}

double TrafficGenerator::AddAction(ActionList& list, int service, int level,
                                   int nesting, double budget) {
  Action action;
  action.set_name(absl::StrCat("action", action_count_++));
  ChooseOrder(action, list);
  repeats_ = true;
  const double work_each =
      1 + ChooseTarget(action, list, service, level, nesting, budget);
  double work = work_each;
  if (repeats_ && random_.Chance(0.8)) {
    work *=
        static_cast<double>(ChooseIterations(action, level, work_each, budget));
  }
  ChooseEffects(action, level);
  list.add_action_names(action.name());
  if (repeats_ && 2 * work < budget && random_.Chance(0.15)) {
    list.add_action_names(action.name());
    work *= 2;
  }
  *test_.add_actions() = std::move(action);
  return work;
}

double TrafficGenerator::ChooseTarget(Action& action, ActionList& list,
                                      int service, int level, int nesting,
                                      double budget) {
  switch (random_.Between(0, 9)) {
    case 0:
      return 0;
    case 1:
      return ChooseActivity(action);
    case 2:
    case 3:
      return ChooseNestedList(action, service, level, nesting, budget);
    case 4:
      if (level == kMainLevel) ChooseReplay(action, service);
      return 0;
    default:
      return ChooseRpc(action, list, service, level);
  }
}

double TrafficGenerator::ChooseRpc(Action& action, ActionList& list,
                                   int service, int level) {
  const std::string& name = test_.services(service).name();
  std::vector<int> rpcs;
  for (int i = 0; i < test_.rpc_descriptions_size(); ++i) {
    const auto& clients = test_.rpc_descriptions(i).client();
    if (std::find(clients.begin(), clients.end(), name) != clients.end()) {
      rpcs.push_back(i);
    }
  }
  if (rpcs.empty()) return 0;
  const int chosen = random_.OneOf(rpcs);
  const RpcSpec& rpc = test_.rpc_descriptions(chosen);
  action.set_rpc_name(rpc.name());
  if (const std::string payload = PayloadOrNone(); !payload.empty()) {
    action.set_request_payload_override(payload);
  }
  if (chosen > level) return MaxTargets(rpc) * (1 + handler_work_[chosen]);

  repeats_ = false;
  const bool along_an_axis =
      chosen == level && absl::StartsWith(rpc.fanout_filter(), "linear_") &&
      !absl::StrContains(rpc.fanout_filter(), "{0}") &&
      rpc.multi_server_channel_name().empty() && list.name() == rpc.name();
  if (along_an_axis && random_.Chance(0.5)) return kLinearWork;
  // The list ends by chance, perhaps late.
  generated_.ends_by_itself = false;
  (*list.mutable_predicate_probabilities())["again"] =
      kChances[random_.Between(0, std::size(kChances) - 1)];
  action.add_predicates("again");
  return MaxTargets(rpc);
}

int TrafficGenerator::MaxTargets(const RpcSpec& rpc) const {
  const std::string& filter = rpc.fanout_filter();
  const bool many = filter.empty() || filter == "all" ||
                    absl::StartsWith(filter, "same_") ||
                    absl::StartsWith(filter, "stochastic");
  return many ? InstanceCount(ServiceNumber(rpc.server())) : 1;
}

double TrafficGenerator::ChooseNestedList(Action& action, int service,
                                          int level, int nesting,
                                          double budget) {
  if (nesting == kMaxNesting || budget < 2) return 0;
  for (const NestedList& known : nested_lists_) {
    if (known.service == service && known.level == level &&
        known.work <= budget && random_.Chance(0.3)) {
      action.set_action_list_name(known.name);
      return known.work;
    }
  }
  const std::string name = absl::StrCat("nested", list_count_++);
  action.set_action_list_name(name);
  const double work =
      AddList(name, service, level, nesting + 1,
              budget / static_cast<double>(random_.Between(1, 10)));
  repeats_ = true;
  nested_lists_.push_back({name, service, level, work});
  return work;
}

double TrafficGenerator::ChooseActivity(Action& action) {
  const int count = test_.activity_configs_size();
  if (count == 0) return 0;
  action.set_activity_config_name(
      test_.activity_configs(static_cast<int>(random_.Between(0, count - 1)))
          .name());
  return 1;
}

void TrafficGenerator::ChooseReplay(Action& action, int service) {
  for (const RpcReplayTrace& trace : test_.rpc_replay_traces()) {
    if (trace.client() != test_.services(service).name()) continue;
    action.set_rpc_replay_trace_name(trace.name());
    return;
  }
}

// Returns how often the action repeats, at most.
int64_t TrafficGenerator::ChooseIterations(Action& action, int level,
                                           double work, double budget) {
  const int64_t count = std::clamp<int64_t>(static_cast<int64_t>(budget / work),
                                            1, kMaxIterations);
  Iterations& iterations = *action.mutable_iterations();
  ChooseWarmup(iterations);
  if (may_be_endless_ && random_.Chance(0.3)) {
    generated_.ends_by_itself = false;
    // Actions that take no time, or that many requests start, must not be
    // repeated as fast as possible.
    if (!action.has_rpc_name() || level != kMainLevel || random_.Chance(0.6)) {
      iterations.set_open_loop_interval_ns(10'000'000);
    }
    return count;
  }
  return random_.Chance(0.5) ? ChooseOpenLoop(iterations, count)
                             : ChooseClosedLoop(action, iterations, count);
}

int64_t TrafficGenerator::ChooseOpenLoop(Iterations& iterations,
                                         int64_t count) {
  const int64_t interval_ns =
      random_.OneOf<int64_t>({1, 1'000, 100'000, 3'000'000, 1'000'000'000});
  iterations.set_open_loop_interval_ns(interval_ns);
  if (random_.Chance(0.8)) {
    iterations.set_open_loop_interval_distribution(random_.OneOf<std::string>(
        {"", "constant", "exponential", "sync_burst", "sync_burst_spread"}));
  } else {
    *iterations.mutable_arrivals() = AnyArrivals(random_);
    // Two modulations of milliseconds divide each second into millions of
    // cells, which take a second to search.
    iterations.set_open_loop_interval_ns(
        std::min<int64_t>(interval_ns, 3'000'000));
  }
  if (random_.Chance(0.3)) {
    iterations.set_max_parallel_iterations(random_.Between(1, 5));
  }
  const int64_t wanted = random_.Between(1, count);
  // How many a composed process has within a time is not known.
  const bool by_duration =
      random_.Chance(0.5) && interval_ns >= 1'000 && !iterations.has_arrivals();
  if (by_duration) {
    iterations.set_max_duration_us(
        std::max<int64_t>(1, interval_ns * wanted / 2'000));
  }
  if (!by_duration || random_.Chance(0.3)) {
    iterations.set_max_iteration_count(wanted);
  }
  return count;
}

int64_t TrafficGenerator::ChooseClosedLoop(Action& action,
                                           Iterations& iterations,
                                           int64_t count) {
  if (random_.Chance(0.6)) {
    iterations.set_max_parallel_iterations(
        random_.OneOf<int64_t>({1, 2, 7, 1000}));
  }
  // Without a count, an action that takes no time would repeat very often.
  if (action.has_rpc_name() && count == kMaxIterations &&
      iterations.max_parallel_iterations() <= 2 && random_.Chance(0.5)) {
    iterations.set_max_duration_us(random_.Between(1, 2'000));
    return count;
  }
  iterations.set_max_iteration_count(random_.Between(1, count));
  if (random_.Chance(0.2)) {
    iterations.set_max_duration_us(
        random_.OneOf<int64_t>({1, 1'000, 1'000'000'000'000'000}));
  }
  return count;
}

void TrafficGenerator::ChooseWarmup(Iterations& iterations) {
  if (random_.Chance(0.2)) {
    iterations.set_warmup_iterations(
        random_.OneOf<int64_t>({0, 3, std::numeric_limits<int64_t>::max()}));
  }
  if (random_.Chance(0.2)) {
    iterations.set_warmup_ns(
        random_.OneOf<int64_t>({0, 100'000, 1'000'000'000'000'000'000}));
  }
}

// Chooses when and whether the action runs.
void TrafficGenerator::ChooseOrder(Action& action, const ActionList& list) {
  std::string last;
  for (const std::string& earlier : list.action_names()) {
    if (earlier == last || !random_.Chance(0.3)) continue;
    action.add_dependencies(earlier);
    last = earlier;
  }
  // Sorted, because the order of a protobuf map is unspecified.
  const std::map<std::string, float> predicates(
      list.predicate_probabilities().begin(),
      list.predicate_probabilities().end());
  for (const auto& [predicate, probability] : predicates) {
    if (predicate == "again" || !random_.Chance(0.2)) continue;
    action.add_predicates(random_.Chance(0.5) ? predicate : "!" + predicate);
  }
  const int delays = test_.delay_distribution_configs_size();
  if (delays > 0 && random_.Chance(0.25)) {
    action.set_delay_distribution_name(
        test_
            .delay_distribution_configs(
                static_cast<int>(random_.Between(0, delays - 1)))
            .name());
  }
}

// Chooses what follows when the action is done.
void TrafficGenerator::ChooseEffects(Action& action, int level) {
  if (random_.Chance(level == kMainLevel ? 0.03 : 0.25)) {
    action.set_send_response_when_done(true);
  }
  if (random_.Chance(0.03)) action.set_cancel_traffic_when_done(true);
  if (random_.Chance(0.05)) action.set_record_iterations(true);
  if (random_.Chance(0.2)) {
    if (const std::string payload = PayloadOrNone(); !payload.empty()) {
      action.set_response_payload_override(payload);
    }
  }
}

}  // namespace distbench::engine
