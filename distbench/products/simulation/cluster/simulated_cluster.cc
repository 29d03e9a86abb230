// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/cluster/simulated_cluster.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/version.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/engine/engine.h"
#include "distbench/products/simulation/calibration/model_validity.h"
#include "distbench/products/simulation/cluster/shares.h"
#include "distbench/products/simulation/hosts/cpus.h"
#include "distbench/products/simulation/hosts/simulated_driver.h"
#include "distbench/products/simulation/hosts/simulated_pool.h"
#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/model/costs.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/protocol/decorators/decorators.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/results/merge.h"
#include "distbench/sequencer/placement/placement.h"
#include "distbench/stats/interval_series.h"
#include "glog/logging.h"
#include "proto/control.pb.h"

namespace distbench::simulation {
namespace {

// ---- A test, and what it runs on --------------------------------------------

struct PlacedTest {
  DistributedSystemDescription test;
  ClusterModel model;
  sequencer::Placement placement;
  std::shared_ptr<const config::Plan> plan;
  int64_t sample_bytes = 0;                    // of each instance, at most
  std::vector<std::string> driver_of_service;  // whose costs its RPCs have
  std::map<std::string, RpcCosts> costs;       // by driver
  CostsByActivity activity_costs;
};

std::string AliasOf(int host) { return absl::StrCat("node", host); }

// As a sequencer describes real ones.
std::vector<sequencer::PlacementNode> MakeNodes(const ClusterModel& model) {
  const std::string cpus = absl::StrCat(model.fabric.host().cpus());
  std::vector<sequencer::PlacementNode> nodes;
  for (const std::string& hostname : model.host_names) {
    const std::string alias = AliasOf(static_cast<int>(nodes.size()));
    nodes.push_back({.alias = alias,
                     .attributes = {{"node_alias", alias},
                                    {"hostname", hostname},
                                    {"cpu_count", cpus},
                                    {"numa_node_count", "1"}}});
  }
  return nodes;
}

// A node for each bundle, and one for each instance that is in none.
int HostsNeeded(const DistributedSystemDescription& test) {
  int instances = 0;
  for (const ServiceSpec& service : test.services()) {
    instances += static_cast<int>(config::InstanceNames(service).size());
  }
  int bundled = 0;
  for (const auto& [alias, bundle] : test.node_service_bundles()) {
    bundled += bundle.services_size();
  }
  return std::max(1, instances - bundled +
                         static_cast<int>(test.node_service_bundles_size()));
}

// What a simulation cannot do.
absl::Status CheckSupport(const DistributedSystemDescription& test) {
  for (const ServiceSpec& service : test.services()) {
    if (!config::IsOutside(service)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "services[\"", service.name(),
        "\"].external: what runs elsewhere cannot be simulated; describe the "
        "service by action lists and activities, or run the test for real"));
  }
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (!rpc.has_stream()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("rpc_descriptions[\"", rpc.name(),
                     "\"].stream: RPCs that stream are not simulated; leave "
                     "`stream` out, or "
                     "run the test for real"));
  }
  if (test.has_controls() && test.controls().strict()) {
    return absl::FailedPreconditionError(
        "controls: control groups are not simulated; leave `controls` out, set "
        "controls.strict to false to ignore them, or run the test for real");
  }
  return absl::OkStatus();
}

void Compile(int64_t memory_bytes, PlacedTest& placed) {
  config::Plan plan = config::Compile(placed.test);
  const MemoryShares shares = ShareMemory(plan, memory_bytes);
  plan.recording_memory_bytes = shares.recording_bytes;
  placed.sample_bytes = shares.sample_bytes;
  placed.plan = std::make_shared<const config::Plan>(std::move(plan));
}

absl::Status AddCosts(PlacedTest& placed) {
  for (const ServiceSpec& service : placed.test.services()) {
    const std::string driver = UsedDriverOf(placed.test, service).name;
    placed.driver_of_service.push_back(driver);
    const absl::StatusOr<StackCosts> found =
        CostsOfDriver(placed.model.fabric, driver);
    if (!found.ok()) return found.status();
    placed.costs.try_emplace(driver, *found);
  }
  absl::StatusOr<CostsByActivity> of_activities =
      CostsOfActivities(placed.model.fabric, *placed.plan);
  if (!of_activities.ok()) return of_activities.status();
  placed.activity_costs = *std::move(of_activities);
  return absl::OkStatus();
}

absl::StatusOr<PlacedTest> PlaceTest(
    const DistributedSystemDescription& description,
    const ClusterRunOptions& options) {
  PlacedTest placed;
  placed.test = description;
  DistributedSystemDescription& test = placed.test;
  if (!test.has_random_seed()) test.set_random_seed(1);
  if (absl::Status supported = CheckSupport(test); !supported.ok()) {
    return supported;
  }
  const int host_count =
      options.host_count > 0 ? options.host_count : HostsNeeded(test);
  absl::StatusOr<ClusterModel> model =
      MakeClusterModel(options.fabric, host_count, test.random_seed());
  if (!model.ok()) return model.status();
  placed.model = *std::move(model);

  const std::vector<sequencer::PlacementNode> nodes = MakeNodes(placed.model);
  absl::StatusOr<sequencer::Placement> placement =
      sequencer::PlaceInstances(test, nodes);
  if (!placement.ok()) {
    return absl::Status(placement.status().code(),
                        absl::StrCat("on ", host_count, " simulated hosts: ",
                                     placement.status().message()));
  }
  placed.placement = *std::move(placement);
  absl::Status resolved =
      sequencer::ResolveChannelMembers(nodes, placed.placement, test);
  if (!resolved.ok()) return resolved;
  Compile(options.memory_bytes, placed);
  if (absl::Status known = AddCosts(placed); !known.ok()) return known;
  return placed;
}

// ---- Its run ----------------------------------------------------------------

// Simulated clocks begin here, so that no time is 0, which means "none".
constexpr int64_t kBeginNs = 1'000'000'000;

// From the set-up of the engines to their first RPC.
constexpr int64_t kLeadNs = 1'000'000;

// How long engines may take to end, after they were told to stop.
constexpr int64_t kStopNs = 10'000'000'000;

// How often RunTraffic() looks at the real time.
constexpr int kWindowsPerLook = 256;

SimulatorOptions OptionsFor(const ClusterModel& model,
                            const ClusterRunOptions& options) {
  return {.nodes = model.host_count,
          .threads = std::clamp(options.threads, 1, model.host_count),
          .lookahead_ns = SimulatedNetwork::LookaheadNs(model),
          .start_ns = kBeginNs,
          .start_unix_ns = options.start_unix_ns / stats::kSeriesStepNs *
                           stats::kSeriesStepNs};
}

// The simulated driver, inside the decorators that the options name.
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

// The methods are called once each, in the order of their declaration.
class ClusterRun {
 public:
  // Both arguments must outlive this.
  ClusterRun(const PlacedTest& placed, const ClusterRunOptions& options)
      : placed_(placed),
        model_(placed.model),
        plan_(*placed.plan),
        options_(options),
        simulator_(OptionsFor(model_, options)),
        network_(model_, simulator_) {}

  // Makes hosts and engines, and connects them.
  absl::Status SetUp();

  // Runs until the traffic has ended, by itself or because the test's time is
  // up, a limit is exceeded or the user has cancelled it.
  void RunTraffic();

  // Ends the engines, and adds what they have measured.
  void Collect(TestResult& result);

 private:
  // When an engine has ended the traffic of all, and which one.
  using OverloadTime = std::pair<int64_t, int>;
  // An instance. Changed in events of its host, thus away from those of other
  // threads.
  struct alignas(64) Part {
    int host = 0;
    int workers = 0;
    double used_ns = 0;  // CPU time
    double used_until_end_ns = 0;
    int64_t finished_ns = 0;  // when its traffic ended
    std::optional<PoolHost> activities;
    std::unique_ptr<engine::Engine> engine;
  };
  using RealTime = std::chrono::steady_clock::time_point;

  void PlaceParts();
  absl::Status AddEngine(int instance);
  DriverParts DriverPartsOf(int instance);
  void Connect();
  void AssignThreads();
  bool IsOver();
  bool HasOverload();
  int64_t TrafficEndNs() const;
  void ReportProgress();
  void CollectInstance(const std::string& name, Part& part, TestResult& result);
  void DescribeSimulation(SimulationFacts& facts) const;
  int64_t now_ns() const { return simulator_.now_ns(); }

  const PlacedTest& placed_;
  const ClusterModel& model_;
  const config::Plan& plan_;
  const ClusterRunOptions& options_;
  Simulator simulator_;
  SimulatedNetwork network_;
  SimulatedDirectory directory_;
  std::vector<std::unique_ptr<SimulatedCpus>> cpus_;  // by host
  std::vector<Part> parts_;                           // by Plan::instances

  int64_t start_ns_ = 0;
  int64_t end_ns_ = 0;  // of the traffic
  std::atomic<int> unfinished_ = 0;
  absl::Status failure_;
  RealTime next_progress_;
  int windows_until_look_ = 0;

  absl::Mutex mutex_;
  std::map<OverloadTime, absl::Status> overloads_ ABSL_GUARDED_BY(mutex_);
};

absl::Status ClusterRun::SetUp() {
  for (int i = 0; i < model_.host_count; ++i) {
    cpus_.push_back(std::make_unique<SimulatedCpus>(
        simulator_, i, model_.fabric.host(), model_.slowness[i], plan_.seed));
  }
  PlaceParts();
  for (size_t i = 0; i < parts_.size(); ++i) {
    absl::Status added = AddEngine(static_cast<int>(i));
    if (!added.ok()) return added;
  }
  Connect();
  AssignThreads();
  return absl::OkStatus();
}

void ClusterRun::PlaceParts() {
  parts_ = std::vector<Part>(plan_.instances.size());
  unfinished_ = static_cast<int>(parts_.size());
  absl::flat_hash_map<std::string, Part*> part_of;
  for (size_t i = 0; i < parts_.size(); ++i) {
    part_of[plan_.instances[i].name] = &parts_[i];
  }
  for (int host = 0; host < model_.host_count; ++host) {
    const auto& names = placed_.placement[host];
    for (const std::string& name : names) {
      Part& part = *part_of.at(name);
      part.host = host;
      part.workers = plan_.workers_per_instance;
      if (part.workers > 0) continue;
      const int cpus = model_.fabric.host().cpus();
      part.workers = std::max(1, cpus / static_cast<int>(names.size()));
    }
  }
}

DriverParts ClusterRun::DriverPartsOf(int instance) {
  Part& part = parts_[instance];
  const std::string& driver =
      placed_.driver_of_service[plan_.instances[instance].service];
  return {.simulator = &simulator_,
          .network = &network_,
          .cpus = cpus_[part.host].get(),
          .node = part.host,
          .directory = &directory_,
          .costs = &placed_.costs.at(driver),
          .used_ns = &part.used_ns,
          .seed = plan_.seed,
          .measures_time_parts = plan_.measures_time_parts};
}

absl::Status ClusterRun::AddEngine(int instance) {
  Part& part = parts_[instance];
  const int host = part.host;
  auto driver = std::make_unique<SimulatedDriver>(DriverPartsOf(instance));
  SimulatedDriver& innermost = *driver;

  engine::EngineOptions options;
  options.plan = placed_.plan;
  options.instance = instance;
  options.worker_count = part.workers;
  options.clock = &simulator_.clock(host);
  // As a node divides its memory, and within what simulated instances share.
  options.sample_memory_bytes =
      std::min(plan_.sample_memory_bytes /
                   static_cast<int64_t>(placed_.placement[host].size()),
               placed_.sample_bytes);
  options.on_traffic_finished = [this, &part] {
    part.finished_ns = simulator_.now_ns(part.host);
    --unfinished_;
  };
  options.on_overload = [this, instance, host](absl::Status status) {
    absl::MutexLock lock(&mutex_);
    overloads_.try_emplace({simulator_.now_ns(host), instance},
                           std::move(status));
  };
  options.start_threads = false;
  part.activities.emplace(PoolHost{
      cpus_[host].get(), &placed_.activity_costs,
      base::WorkRandom(plan_.seed, instance, kActivityPart), &part.used_ns});
  options.make_iteration_pool = [&activities = *part.activities](
                                    const engine::IterationPoolOptions& pool) {
    return std::make_unique<SimulatedPool>(pool, activities);
  };
  const config::ServicePlan& service =
      plan_.services[plan_.instances[instance].service];
  absl::StatusOr<std::unique_ptr<engine::Engine>> engine =
      engine::Engine::Create(std::move(options),
                             Decorate(service.driver, std::move(driver)));
  if (!engine.ok()) return engine.status();
  part.engine = *std::move(engine);
  innermost.Attach(*part.engine);
  return absl::OkStatus();
}

void ClusterRun::Connect() {
  for (const Part& part : parts_) {
    std::vector<std::string> addresses;
    for (const int peer : part.engine->peers()) {
      addresses.push_back(parts_[peer].engine->address());
    }
    const absl::Status connected =
        part.engine->Connect(addresses, absl::InfiniteFuture());
    CHECK(connected.ok()) << connected;
  }
}

void ClusterRun::AssignThreads() {
  const int threads = simulator_.thread_count();
  if (threads == 1) return;
  std::vector<std::vector<int>> called_by(model_.host_count);
  for (const Part& part : parts_) {
    for (const int peer : part.engine->peers()) {
      called_by[part.host].push_back(parts_[peer].host);
    }
  }
  simulator_.AssignThreads(HostThreads(called_by, threads));
}

void ClusterRun::RunTraffic() {
  start_ns_ = kBeginNs + kLeadNs;
  next_progress_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (const Part& part : parts_) part.engine->Start(start_ns_);
  const int64_t next_ns =
      simulator_.Run(start_ns_ + plan_.timeout_ns, [this] { return IsOver(); });
  if (unfinished_ > 0 && failure_.ok()) {
    failure_ =
        next_ns == std::numeric_limits<int64_t>::max()
            ? absl::InternalError(
                  "nothing is left to do, but the "
                  "traffic has not ended")
            : config::TestTimedOut(absl::Nanoseconds(plan_.timeout_ns), "");
  }
  end_ns_ = TrafficEndNs();
  for (const auto& cpus : cpus_) cpus->SettleUsed();
  for (Part& part : parts_) part.used_until_end_ns = part.used_ns;
  if (failure_.ok()) return;
  for (const Part& part : parts_) part.engine->Stop(failure_.message());
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
  const auto& [when, status] = *overloads_.begin();
  const int instance = when.second;
  failure_ = absl::Status(
      status.code(), absl::StrCat(plan_.instances[instance].name, " on ",
                                  AliasOf(parts_[instance].host),
                                  " ended the traffic: ", status.message()));
  return true;
}

void ClusterRun::ReportProgress() {
  ClusterRunOptions::Progress sum;
  sum.simulated_ns = std::max(int64_t{0}, now_ns() - start_ns_);
  sum.events = simulator_.event_count();
  for (const Part& part : parts_) {
    const TrafficProgress progress = part.engine->progress();
    sum.succeeded += progress.succeeded_count();
    sum.failed += progress.failed_count();
  }
  options_.on_progress(sum);
  next_progress_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
}

void ClusterRun::Collect(TestResult& result) {
  for (const Part& part : parts_) part.engine->Shutdown();
  for (size_t i = 0; i < parts_.size(); ++i) {
    CollectInstance(plan_.instances[i].name, parts_[i], result);
    // Of a million pairs, logs and recorders would not fit at the same time.
    parts_[i].engine = nullptr;
  }
  RunInfo& info = *result.mutable_run_info();
  const int64_t unix_offset_ns =
      simulator_.clock(0).UnixNs() - simulator_.clock(0).MonotonicNs();
  info.set_start_timestamp_ns(start_ns_ + unix_offset_ns);
  info.set_end_timestamp_ns(std::max(start_ns_, end_ns_) + unix_offset_ns);
  if (!failure_.ok()) info.set_failure(std::string(failure_.message()));
  if (absl::IsResourceExhausted(failure_)) info.set_overloaded(true);
  DescribeSimulation(*result.mutable_simulation());
}

void ClusterRun::CollectInstance(const std::string& name, Part& part,
                                 TestResult& result) {
  part.engine->Collect([&](ResultChunk chunk) {
    const absl::Status merged =
        results::MergeChunk(std::move(chunk), *result.mutable_service_logs());
    CHECK(merged.ok()) << merged;
  });
  const std::string& hostname = model_.host_names[part.host];
  ServiceEndpoint& endpoint =
      (*result.mutable_placement()->mutable_service_endpoints())[name];
  endpoint.set_endpoint_address(part.engine->address());
  endpoint.set_hostname(hostname);
  NodeResources& node = (*result.mutable_resource_usage_logs()
                              ->mutable_node_resources())[AliasOf(part.host)];
  node.mutable_host()->set_hostname(hostname);
  node.mutable_host()->set_cpu_count(model_.fabric.host().cpus());
  (*node.mutable_engine_usages())[name].set_user_cpu_time_seconds(
      part.used_until_end_ns / 1e9);
}

void ClusterRun::DescribeSimulation(SimulationFacts& facts) const {
  *facts.mutable_fabric() = model_.fabric;
  facts.mutable_fabric()->clear_stacks();
  for (const auto& [driver, costs] : placed_.costs) {
    *facts.mutable_fabric()->add_stacks() = costs.stack;
  }
  facts.set_host_count(model_.host_count);
  facts.set_event_count(simulator_.event_count());
  facts.set_simulated_seconds(
      static_cast<double>(std::max(start_ns_, end_ns_) - start_ns_) / 1e9);
}

}  // namespace

absl::Status CheckSimulatedTest(const DistributedSystemDescription& test,
                                const ClusterRunOptions& options) {
  return PlaceTest(test, options).status();
}

absl::StatusOr<TestResult> RunSimulatedTest(
    const DistributedSystemDescription& description,
    const ClusterRunOptions& options) {
  const absl::StatusOr<PlacedTest> placed = PlaceTest(description, options);
  if (!placed.ok()) return placed.status();
  const DistributedSystemDescription& test = placed->test;
  TestResult result;
  *result.mutable_traffic_config() = test;
  RunInfo& info = *result.mutable_run_info();
  info.set_version(std::string(base::ProgramVersion()));
  info.set_random_seed(test.random_seed());
  info.set_config_hash(config::ConfigHash(test));
  ClusterRun run(*placed, options);
  if (absl::Status set_up = run.SetUp(); !set_up.ok()) return set_up;
  run.RunTraffic();
  run.Collect(result);
  for (std::string& sentence : OutsideOfValidation(result)) {
    result.mutable_simulation()->add_outside_of_validation(std::move(sentence));
  }
  for (Finding& finding : report::Judge(result)) {
    *result.mutable_run_info()->add_findings() = std::move(finding);
  }
  for (std::string& line : report::SummarizeTest(result)) {
    result.add_log_summary(std::move(line));
  }
  return result;
}

}  // namespace distbench::simulation
