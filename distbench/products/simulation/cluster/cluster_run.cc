#include "distbench/products/simulation/cluster/cluster_run.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/config/compile/compile.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/products/simulation/model/fabric.h"
#include "distbench/products/simulation/model/used_driver.h"
#include "distbench/protocol/decorators/decorators.h"
#include "distbench/results/merge.h"
#include "distbench/stats/interval_series.h"
#include "glog/logging.h"
#include "proto/control.pb.h"

namespace distbench::simulation {
namespace {

// Simulated clocks begin here, so that no time is 0, which means "none".
constexpr int64_t kBeginNs = 1'000'000'000;

// From the set-up of the engines to their first RPC.
constexpr int64_t kLeadNs = 1'000'000;

// How long engines may take to end, after they were told to stop.
constexpr int64_t kStopNs = 10'000'000'000;

// How often RunTraffic() looks at the real time.
constexpr int kWindowsPerLook = 256;

SimulatorOptions MakeSimulatorOptions(const ClusterModel& model, int threads,
                                      int64_t start_unix_ns) {
  SimulatorOptions options;
  options.thread_of_node.resize(model.host_count, 0);
  options.threads = std::clamp(threads, 1, model.host_count);
  options.lookahead_ns = SimulatedNetwork::LookaheadNs(model);
  options.start_ns = kBeginNs;
  options.start_unix_ns =
      start_unix_ns / stats::kSeriesStepNs * stats::kSeriesStepNs;
  return options;
}

// The simulated driver, inside the decorators that the options name. `inner`
// returns the driver itself.
std::unique_ptr<protocol::ProtocolDriver> Decorate(
    const config::DriverOptions& options,
    std::unique_ptr<protocol::ProtocolDriver> inner) {
  if (options.decorated.empty()) return inner;
  std::unique_ptr<protocol::ProtocolDriver> decorated =
      Decorate(options.decorated[0], std::move(inner));
  if (options.driver == "double_barrel") {
    return protocol::MakeDoubleBarrelDriver(std::move(decorated));
  }
  CHECK_EQ(options.driver, "composable_rpc_counter");
  return protocol::MakeRpcCounterDriver(std::move(decorated));
}

// Of the seed, for activities; drivers and CPUs have others.
constexpr uint64_t kActivityPart = 3;

std::shared_ptr<const config::Plan> PlanWithin(
    int64_t memory_bytes, const DistributedSystemDescription& test) {
  config::Plan plan = config::Compile(test);
  plan.recording_memory_bytes = ShareMemory(plan, memory_bytes).recording_bytes;
  return std::make_shared<const config::Plan>(std::move(plan));
}

}  // namespace

ClusterRun::ClusterRun(const DistributedSystemDescription& test,
                       const ClusterModel& model,
                       const sequencer::Placement& placement,
                       const ClusterRunOptions& options)
    : model_(model),
      placement_(placement),
      options_(options),
      plan_(PlanWithin(options.memory_bytes, test)),
      sample_bytes_(ShareMemory(*plan_, options.memory_bytes).sample_bytes),
      simulator_(
          MakeSimulatorOptions(model, options.threads, options.start_unix_ns)),
      network_(model, simulator_) {
  for (const ServiceSpec& service : test.services()) {
    driver_of_service_.push_back(UsedDriverOf(test, service).name);
  }
}

ClusterRun::~ClusterRun() = default;

std::string ClusterRun::AliasOf(int host) { return absl::StrCat("node", host); }

// ---- Set-up -----------------------------------------------------------------

absl::Status ClusterRun::SetUp() {
  absl::StatusOr<CostsByActivity> activity_costs =
      CostsOfActivities(model_.fabric, *plan_);
  if (!activity_costs.ok()) return activity_costs.status();
  activity_costs_ = *std::move(activity_costs);
  const SimulatedHost& host = model_.fabric.host();
  for (int i = 0; i < model_.host_count; ++i) {
    cpus_.push_back(std::make_unique<SimulatedCpus>(
        simulator_, i,
        CpusOptions{.cpus = host.cpus(),
                    .fifo = host.scheduler() == SimulatedHost::FIFO,
                    .slowness = model_.slowness[i],
                    .stalls_per_second = host.stalls_per_second(),
                    .mean_stall_ns = host.mean_stall_ns(),
                    .seed = plan_->seed}));
  }
  absl::flat_hash_map<std::string, int> instance_of;
  for (size_t i = 0; i < plan_->instances.size(); ++i) {
    instance_of[plan_->instances[i].name] = static_cast<int>(i);
  }
  parts_ = std::vector<Part>(plan_->instances.size());
  std::vector<int> workers(plan_->instances.size(), 1);
  for (int i = 0; i < model_.host_count; ++i) {
    for (const std::string& name : placement_[i]) {
      const int instance = instance_of.at(name);
      parts_[instance].host = i;
      workers[instance] =
          plan_->workers_per_instance > 0
              ? plan_->workers_per_instance
              : std::max(1,
                         host.cpus() / static_cast<int>(placement_[i].size()));
    }
  }
  unfinished_ = static_cast<int>(plan_->instances.size());
  for (size_t i = 0; i < plan_->instances.size(); ++i) {
    absl::Status added = AddEngine(static_cast<int>(i), workers[i]);
    if (!added.ok()) return added;
  }
  Connect();
  AssignThreads();
  return absl::OkStatus();
}

absl::StatusOr<const RpcCosts*> ClusterRun::CostsOf(const std::string& driver) {
  std::unique_ptr<DriverCosts>& costs = costs_[driver];
  if (costs == nullptr) {
    absl::StatusOr<StackCosts> found = CostsOfDriver(model_.fabric, driver);
    if (!found.ok()) return found.status();
    costs = std::make_unique<DriverCosts>(
        DriverCosts{.given = *found, .used = RpcCosts(*found)});
  }
  return &costs->used;
}

absl::Status ClusterRun::AddEngine(int instance, int workers) {
  Part& part = parts_[instance];
  const int host = part.host;
  const int service_index = plan_->instances[instance].service;
  const config::ServicePlan& service = plan_->services[service_index];
  absl::StatusOr<const RpcCosts*> costs =
      CostsOf(driver_of_service_[service_index]);
  if (!costs.ok()) return costs.status();
  auto driver = std::make_unique<SimulatedDriver>(SimulatedDriver::Options{
      .host = {.simulator = &simulator_,
               .network = &network_,
               .cpus = cpus_[host].get(),
               .node = host},
      .directory = &directory_,
      .costs = *costs,
      .used_ns = &part.used_ns,
      .seed = plan_->seed,
      .measures_time_parts = plan_->measures_time_parts});
  SimulatedDriver& innermost = *driver;

  engine::EngineOptions options;
  options.plan = plan_;
  options.instance = instance;
  options.worker_count = workers;
  options.clock = &simulator_.clock(host);
  // As a node divides its memory, and within what simulated instances share.
  options.sample_memory_bytes =
      std::min(plan_->sample_memory_bytes /
                   static_cast<int64_t>(placement_[host].size()),
               sample_bytes_);
  options.on_traffic_finished = [this, &part] {
    part.finished_ns = simulator_.now_ns(part.host);
    --unfinished_;
  };
  options.on_overload = [this, instance, host](absl::Status status) {
    absl::MutexLock lock(&mutex_);
    overloads_.push_back(
        {simulator_.now_ns(host), instance, std::move(status)});
  };
  options.start_threads = false;
  part.activities.emplace(PoolHost{
      cpus_[host].get(), &activity_costs_,
      base::WorkRandom(plan_->seed, instance, kActivityPart), &part.used_ns});
  options.make_iteration_pool = [&activities = *part.activities](
                                    const engine::IterationPoolOptions& pool) {
    return std::make_unique<SimulatedPool>(pool, activities);
  };
  absl::StatusOr<std::unique_ptr<engine::Engine>> engine =
      engine::Engine::Create(std::move(options),
                             Decorate(service.driver, std::move(driver)));
  if (!engine.ok()) return engine.status();
  engines_.push_back(*std::move(engine));
  innermost.Attach(*engines_.back());
  return absl::OkStatus();
}

void ClusterRun::Connect() {
  for (const auto& engine : engines_) {
    std::vector<std::string> addresses;
    for (int peer : engine->peers()) {
      addresses.push_back(engines_[peer]->address());
    }
    const absl::Status connected =
        engine->Connect(addresses, absl::InfiniteFuture());
    CHECK(connected.ok()) << connected;
  }
}

void ClusterRun::AssignThreads() {
  const int threads = simulator_.thread_count();
  if (threads == 1) return;
  std::vector<std::vector<int>> called_by(model_.host_count);
  for (size_t i = 0; i < engines_.size(); ++i) {
    std::vector<int>& called = called_by[parts_[i].host];
    for (const int peer : engines_[i]->peers()) {
      called.push_back(parts_[peer].host);
    }
  }
  simulator_.AssignThreads(HostThreads(called_by, threads));
}

// ---- Traffic ----------------------------------------------------------------

void ClusterRun::RunTraffic() {
  start_ns_ = kBeginNs + kLeadNs;
  next_progress_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (const auto& engine : engines_) engine->Start(start_ns_);
  const int64_t next_ns = simulator_.Run(start_ns_ + plan_->timeout_ns,
                                         [this] { return IsOver(); });
  if (unfinished_ > 0 && failure_.ok()) {
    failure_ =
        next_ns == std::numeric_limits<int64_t>::max()
            ? absl::InternalError(
                  "nothing is left to do, but the "
                  "traffic has not ended")
            : absl::DeadlineExceededError(absl::StrCat(
                  "the traffic did not end within the test_timeout of ",
                  absl::FormatDuration(absl::Nanoseconds(plan_->timeout_ns))));
  }
  end_ns_ = TrafficEndNs();
  for (const auto& cpus : cpus_) cpus->SettleUsed();
  for (Part& part : parts_) part.used_until_end_ns = part.used_ns;
  if (failure_.ok()) return;
  for (const auto& engine : engines_) engine->Stop(failure_.message());
  simulator_.Run(now_ns() + kStopNs, [this] { return unfinished_ == 0; });
}

// A window is as long as the shortest delay, and may have gone on after the
// end.
int64_t ClusterRun::TrafficEndNs() const {
  if (!failure_.ok()) return now_ns();
  int64_t end_ns = start_ns_;
  for (const Part& part : parts_) end_ns = std::max(end_ns, part.finished_ns);
  return end_ns;
}

// Between two windows. What it decides must not depend on the real time, unless
// the user wants an end. An engine that exceeds a limit ends its own traffic,
// which may have been the last.
bool ClusterRun::IsOver() {
  if (HasOverload() || unfinished_ == 0) return true;
  if (options_.is_cancelled != nullptr && *options_.is_cancelled) {
    failure_ = absl::CancelledError("cancelled by the user");
    return true;
  }
  if (--windows_until_look_ > 0) return false;
  windows_until_look_ = kWindowsPerLook;
  if (std::chrono::steady_clock::now() >= next_progress_) ReportProgress();
  return false;
}

bool ClusterRun::HasOverload() {
  absl::MutexLock lock(&mutex_);
  if (overloads_.empty()) return false;
  const auto first = std::min_element(overloads_.begin(), overloads_.end(),
                                      [](const Overload& a, const Overload& b) {
                                        return std::tie(a.at_ns, a.instance) <
                                               std::tie(b.at_ns, b.instance);
                                      });
  is_overload_ = absl::IsResourceExhausted(first->status);
  failure_ = absl::AbortedError(
      absl::StrCat(plan_->instances[first->instance].name, " on ",
                   AliasOf(parts_[first->instance].host),
                   " ended the traffic: ", first->status.message()));
  return true;
}

void ClusterRun::ReportProgress() {
  ClusterRunOptions::Progress sum;
  sum.simulated_ns = std::max(int64_t{0}, now_ns() - start_ns_);
  sum.events = simulator_.event_count();
  for (const auto& engine : engines_) {
    const TrafficProgress progress = engine->progress();
    sum.succeeded += progress.succeeded_count();
    sum.failed += progress.failed_count();
  }
  options_.on_progress(sum);
  next_progress_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
}

// ---- Result -----------------------------------------------------------------

void ClusterRun::Collect(TestResult& result) {
  for (const auto& engine : engines_) engine->Shutdown();
  ServiceLogs& logs = *result.mutable_service_logs();
  auto& endpoints = *result.mutable_placement()->mutable_service_endpoints();
  auto& resources =
      *result.mutable_resource_usage_logs()->mutable_node_resources();
  for (size_t i = 0; i < engines_.size(); ++i) {
    engines_[i]->Collect([&](ResultChunk chunk) {
      const absl::Status merged = results::MergeChunk(std::move(chunk), logs);
      CHECK(merged.ok()) << merged;
    });
    const std::string& name = plan_->instances[i].name;
    const Part& part = parts_[i];
    const std::string& hostname = model_.host_names[part.host];
    ServiceEndpoint& endpoint = endpoints[name];
    endpoint.set_endpoint_address(engines_[i]->address());
    endpoint.set_hostname(hostname);
    NodeResources& node = resources[AliasOf(part.host)];
    node.mutable_host()->set_hostname(hostname);
    node.mutable_host()->set_cpu_count(model_.fabric.host().cpus());
    (*node.mutable_engine_usages())[name].set_user_cpu_time_seconds(
        part.used_until_end_ns / 1e9);
    // Of a million pairs, logs and recorders would not fit at the same time.
    engines_[i] = nullptr;
  }

  RunInfo& info = *result.mutable_run_info();
  const int64_t unix_offset_ns =
      simulator_.clock(0).UnixNs() - simulator_.clock(0).MonotonicNs();
  info.set_start_timestamp_ns(start_ns_ + unix_offset_ns);
  info.set_end_timestamp_ns(std::max(start_ns_, end_ns_) + unix_offset_ns);
  if (!failure_.ok()) info.set_failure(std::string(failure_.message()));
  if (is_overload_) info.set_overloaded(true);

  DescribeSimulation(*result.mutable_simulation());
}

void ClusterRun::DescribeSimulation(SimulationFacts& facts) const {
  *facts.mutable_fabric() = model_.fabric;
  facts.mutable_fabric()->clear_stacks();
  for (const auto& [driver, costs] : costs_) {
    *facts.mutable_fabric()->add_stacks() = costs->given;
  }
  facts.set_host_count(model_.host_count);
  facts.set_event_count(simulator_.event_count());
  facts.set_simulated_seconds(
      static_cast<double>(std::max(start_ns_, end_ns_) - start_ns_) / 1e9);
}

namespace {

using Calls = std::vector<std::vector<int>>;

// How often each host calls or is called, and one, so that all have some.
std::vector<int64_t> Weights(const Calls& called_by) {
  std::vector<int64_t> weights(called_by.size(), 1);
  for (size_t i = 0; i < called_by.size(); ++i) {
    weights[i] += static_cast<int64_t>(called_by[i].size());
    for (const int called : called_by[i]) ++weights[called];
  }
  return weights;
}

// Hosts that nobody calls, before others: they begin what others continue.
std::vector<int> CallersFirst(const Calls& called_by) {
  std::vector<bool> is_called(called_by.size(), false);
  for (const auto& called : called_by) {
    for (const int host : called) is_called[host] = true;
  }
  std::vector<int> hosts(called_by.size());
  for (size_t i = 0; i < hosts.size(); ++i) hosts[i] = static_cast<int>(i);
  std::stable_partition(hosts.begin(), hosts.end(),
                        [&](int host) { return !is_called[host]; });
  return hosts;
}

// Depth first.
std::vector<int> InOrderOfCalls(const Calls& called_by) {
  std::vector<bool> is_there(called_by.size(), false);
  std::vector<int> order;
  std::vector<int> next;
  for (const int first : CallersFirst(called_by)) {
    next.push_back(first);
    while (!next.empty()) {
      const int host = next.back();
      next.pop_back();
      if (is_there[host]) continue;
      is_there[host] = true;
      order.push_back(host);
      const std::vector<int>& called = called_by[host];
      std::copy_if(called.rbegin(), called.rend(), std::back_inserter(next),
                   [&](int other) { return !is_there[other]; });
    }
  }
  return order;
}

}  // namespace

std::vector<int> HostThreads(const Calls& called_by, int threads) {
  const std::vector<int64_t> weights = Weights(called_by);
  int64_t total = 0;
  for (const int64_t weight : weights) total += weight;
  std::vector<int> thread_of_host(called_by.size());
  int64_t before = 0;
  for (const int host : InOrderOfCalls(called_by)) {
    // By the middle of its share, which is less than the total.
    const int64_t middle = before + weights[host] / 2;
    thread_of_host[host] = static_cast<int>(middle * threads / total);
    before += weights[host];
  }
  return thread_of_host;
}

namespace {

constexpr int64_t kPartsOfMemory = 5;  // one of them for samples

std::set<int> SendingServices(const config::Plan& plan) {
  std::set<int> services;
  for (const config::RpcPlan& rpc : plan.rpcs) {
    services.insert(rpc.client_services.begin(), rpc.client_services.end());
  }
  for (const config::ReplayTracePlan& trace : plan.replay_traces) {
    services.insert(trace.client_service);
  }
  return services;
}

}  // namespace

MemoryShares ShareMemory(const config::Plan& plan, int64_t memory_bytes) {
  const std::set<int> senders = SendingServices(plan);
  int64_t sender_count = 0;
  double wanted = 0;  // for recording, by all
  for (size_t i = 0; i < plan.services.size(); ++i) {
    const config::ServicePlan& service = plan.services[i];
    const bool sends = senders.count(static_cast<int>(i)) > 0;
    if (sends) sender_count += service.instance_count;
    const int64_t wanted_by_each =
        sends ? plan.recording_memory_bytes
              : engine::ActivityRecordingBytes(plan, service.first_instance);
    wanted += static_cast<double>(wanted_by_each) * service.instance_count;
  }
  const int64_t samples = memory_bytes / kPartsOfMemory;
  const auto recording = static_cast<double>(memory_bytes - samples);
  const double share = wanted <= recording ? 1 : recording / wanted;
  return {.recording_bytes = static_cast<int64_t>(
              share * static_cast<double>(plan.recording_memory_bytes)),
          .sample_bytes = samples / std::max<int64_t>(1, sender_count)};
}

}  // namespace distbench::simulation
