#include "distbench/node/hosted_test.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/thread_count.h"
#include "distbench/base/thread_room.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/command_status.h"
#include "distbench/node/host_facts.h"
#include "distbench/node/proc_files.h"
#include "distbench/node/thread_limits.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/resource_usage.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"

namespace distbench {
namespace {

// A century. Times that are further apart are invalid.
constexpr int64_t kFarthestNs = int64_t{100} * 365 * 86'400 * 1'000'000'000;

absl::Status Annotate(const std::string& instance, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(instance, ": ", status.message()));
}

}  // namespace

HostedTest::HostedTest(PrepareTest request, const NodeEnvironment& environment,
                       FinishedHandler on_finished)
    : request_(std::move(request)),
      environment_(environment),
      on_finished_(std::move(on_finished)),
      clock_(environment.clock, request_.clock_offset_ns()),
      resources_({.clock = &clock_,
                  .root = environment.system_root,
                  .process_usage = [this] { return Usage(); },
                  .engine_bytes = [this] { return EngineBytes(); },
                  .engine_processes = [this] { return EngineProcesses(); }}) {}

HostedTest::~HostedTest() { End(); }

// ---- Prepare ----------------------------------------------------------------

PrepareReply HostedTest::Prepare() {
  PrepareReply reply;
  absl::Status status = CheckClockOffset();
  if (status.ok()) status = MakePlan();
  if (status.ok()) status = PrepareInstances(reply);
  *reply.mutable_status() = ToCommandStatus(status);
  return reply;
}

// Rejects offsets with which sums of times could overflow.
absl::Status HostedTest::CheckClockOffset() const {
  const int64_t offset_ns = request_.clock_offset_ns();
  if (offset_ns >= -kFarthestNs && offset_ns <= kFarthestNs) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the sequencer says that the clock of this node is ahead by ", offset_ns,
      " ns, which is impossible"));
}

// The sequencer has checked the test. It is checked again because no sender
// must be able to crash a node.
absl::Status HostedTest::MakePlan() {
  TestSequence sequence;
  *sequence.add_tests() = request_.config().traffic_config();
  const absl::StatusOr<TestSequence> checked =
      CheckTestSequence(std::move(sequence));
  if (!checked.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sequencer sent a test that cannot be run: ",
                     checked.status().message()));
  }
  plan_ = std::make_shared<const Plan>(Compile(checked->tests(0)));
  bindings_.emplace(request_.config().traffic_config(),
                    environment_.system_root, environment_.binding);
  memory_limit_.emplace(plan_->max_memory_bytes, environment_.system_root);
  return absl::OkStatus();
}

absl::Status HostedTest::PrepareInstances(PrepareReply& reply) {
  environment_.engines.Expect(request_.config().services_size());
  absl::flat_hash_map<std::string, int> instances;
  for (int i = 0; i < plan_->instances.size(); ++i) {
    instances[plan_->instances[i].name] = i;
  }
  for (const std::string& name : request_.config().services()) {
    const auto it = instances.find(name);
    const absl::Status status =
        it == instances.end()
            ? absl::InvalidArgumentError("the test has no such instance")
            : PrepareInstance(name, it->second, reply);
    if (!status.ok()) return Annotate(name, status);
  }
  for (const std::string& peer : PeerNames()) reply.add_peers(peer);
  return absl::OkStatus();
}

absl::Status HostedTest::PrepareInstance(const std::string& name, int instance,
                                         PrepareReply& reply) {
  if (absl::Status status = CheckNotStopped(); !status.ok()) return status;
  const InstancePlan& instance_plan = plan_->instances[instance];
  if (absl::Status status = bindings_->Resolve(instance_plan); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckRoom(instance); !status.ok()) return status;
  EngineOptions options;
  options.plan = plan_;
  options.instance = instance;
  options.worker_count = WorkerCount(instance_plan);
  options.clock = &clock_;
  options.sample_memory_bytes = plan_->sample_memory_bytes /
                                std::max(1, request_.config().services_size());
  options.on_traffic_finished = [this] { OnEngineFinished(); };
  options.on_overload = [this, name](absl::Status status) {
    Interrupt(Annotate(name, status));
  };
  const DriverOptions& driver = plan_->services[instance_plan.service].driver;
  std::unique_ptr<HostedEngine> engine;
  const absl::Status made = bindings_->RunBound(name, [&] {
    EngineRequest request{
        .test = request_.config().traffic_config(),
        .options = std::move(options),
        .environment = {.service_address = ServiceAddress(driver),
                        .listen_address = environment_.listen_address,
                        .test_nonce = request_.test_nonce(),
                        .tls = environment_.tls,
                        .has_spare_cpu = HasSpareCpu(instance_plan)},
        .clock_offset_ns = request_.clock_offset_ns()};
    if (const ResolvedBinding* binding = bindings_->OwnBinding(name)) {
      request.binding = *binding;
    }
    auto result = environment_.engines.Make(std::move(request));
    if (result.ok()) engine = *std::move(result);
    return result.status();
  });
  if (!made.ok()) return made;
  if (engine->pid() != kThisProcess) bindings_->LivesIn(name, engine->pid());

  ServiceEndpoint& endpoint =
      (*reply.mutable_endpoints()->mutable_service_endpoints())[name];
  endpoint.set_endpoint_address(engine->address());
  endpoint.set_hostname(environment_.hostname);
  for (const Attribute& attribute : environment_.attributes) {
    *endpoint.add_attributes() = attribute;
  }
  {
    absl::MutexLock lock(&mutex_);
    engines_.push_back(std::move(engine));
  }
  if (absl::Status status = CheckThreadCount(); !status.ok()) return status;
  return CheckMemory();
}

// A process that runs out of files or threads while it makes an instance may be
// aborted.
absl::Status HostedTest::CheckRoom(int instance) const {
  const std::string& root = environment_.system_root;
  const EngineLimits limits = environment_.engines.limits();
  const int workers = WorkerCount(plan_->instances[instance]);
  SocketLimits files = ReadSocketLimits(root);
  if (limits.max_files > 0) files.max_open_files = limits.max_files;
  const ThreadNeeds threads = CountThreads(*plan_, instance, workers);
  absl::Status status = CheckWorkerFiles(workers, files);
  if (status.ok()) status = CheckThreadCount(threads.total());
  if (status.ok() && !environment_.engines.disturbs_engines()) {
    status = CheckThreads(threads, ReadThreadRoom(root), limits.max_threads);
  }
  return status;
}

// The number is set by the test, or by the node manager's flag; otherwise it is
// the sequencer's share of the host, limited by the CPUs of the instance.
int HostedTest::WorkerCount(const InstancePlan& instance) const {
  if (plan_->workers_per_instance > 0) return plan_->workers_per_instance;
  if (environment_.workers_per_instance > 0) {
    return environment_.workers_per_instance;
  }
  return CpuShare(instance);
}

bool HostedTest::HasSpareCpu(const InstancePlan& instance) const {
  return WorkerCount(instance) < CpuShare(instance);
}

int HostedTest::CpuShare(const InstancePlan& instance) const {
  const int count = std::max(1, request_.workers_per_instance());
  const int cpu_count = bindings_->CpuCount(instance);
  return cpu_count > 0 ? std::min(count, cpu_count) : count;
}

absl::Status HostedTest::CheckThreadCount(int64_t more) const {
  int64_t count = ProcessThreadCount();
  for (const pid_t pid : EngineProcesses()) count += ProcessThreadCount(pid);
  if (count + more <= plan_->max_threads) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too many threads running: ", count,
      more > 0 ? absl::StrCat(" before ", more, " more are started") : "",
      ", but the test's overload_limits allow ", plan_->max_threads,
      "; raise max_threads, or place fewer instances on the node"));
}

absl::Status HostedTest::CheckEngineThreads() const {
  const int64_t max_threads = environment_.engines.limits().max_threads;
  if (max_threads == 0) return absl::OkStatus();
  for (size_t i = 0; i < engines_.size(); ++i) {
    const pid_t pid = engines_[i]->pid();
    if (pid == kThisProcess) continue;
    const absl::Status status =
        CheckThreadsOfEngine(ProcessThreadCount(pid), max_threads);
    if (!status.ok()) return Annotate(request_.config().services(i), status);
  }
  return absl::OkStatus();
}

absl::Status HostedTest::CheckMemory() const {
  return memory_limit_->Check(EngineBytes());
}

std::set<pid_t> HostedTest::EngineProcesses() const {
  std::set<pid_t> processes;
  for (const auto& engine : engines_) {
    if (engine->pid() != kThisProcess) processes.insert(engine->pid());
  }
  return processes;
}

int64_t HostedTest::EngineBytes() const {
  int64_t bytes = 0;
  for (const pid_t pid : EngineProcesses()) {
    bytes += ReadPrivateBytes(environment_.system_root, pid);
  }
  return bytes;
}

RUsage HostedTest::Usage() const {
  RUsage usage = ProcessUsage();
  for (const pid_t pid : EngineProcesses()) {
    AddUsage(ReadUsage(environment_.system_root, pid), usage);
  }
  return usage;
}

std::set<std::string> HostedTest::PeerNames() const {
  std::set<std::string> names;
  for (const auto& engine : engines_) {
    for (int peer : engine->peers()) names.insert(plan_->instances[peer].name);
  }
  return names;
}

std::string HostedTest::ServiceAddress(const DriverOptions& options) const {
  // A device in the config takes precedence: it may differ from that of the
  // node's address.
  if (!options.netdev.empty()) return "";
  if (!environment_.service_address.empty()) {
    return environment_.service_address;
  }
  if (!environment_.listen_address.empty()) return "";
  if (!request_.use_loopback()) return "";
  return options.ip_version == 6 ? "::1" : "127.0.0.1";
}

// ---- Connect ----------------------------------------------------------------

CommandStatus HostedTest::Connect(const ConnectPeers& request) {
  // End before the sequencer's timeout, whose message would name no address.
  const absl::Time deadline =
      absl::Now() + 0.9 * absl::Nanoseconds(request.timeout_ns());
  if (absl::Status status = CheckNeededSockets(); !status.ok()) {
    return ToCommandStatus(status);
  }
  for (int i = 0; i < engines_.size(); ++i) {
    const std::string& name = request_.config().services(i);
    const absl::Status status = bindings_->RunBound(
        name, [&] { return ConnectEngine(*engines_[i], request, deadline); });
    if (!status.ok()) {
      return ToCommandStatus(ExplainBySockets(
          Annotate(name, status), ReadSocketLimits(environment_.system_root,
                                                   engines_[i]->pid())));
    }
  }
  return ToCommandStatus(absl::OkStatus());
}

// Files are limited per process, ports for all processes together.
absl::Status HostedTest::CheckNeededSockets() const {
  std::vector<ConnectingInstance> all;
  std::map<pid_t, std::vector<ConnectingInstance>> by_process;
  for (int i = 0; i < engines_.size(); ++i) {
    all.push_back(Connecting(i));
    by_process[engines_[i]->pid()].push_back(all.back());
  }
  const std::string& root = environment_.system_root;
  absl::Status status;
  for (const auto& [pid, instances] : by_process) {
    status.Update(
        CheckSockets(CountSockets(instances), ReadSocketLimits(root, pid)));
  }
  SocketLimits of_host = ReadSocketLimits(root);
  of_host.max_open_files = 0;
  status.Update(CheckSockets(CountSockets(all), of_host));
  return status;
}

ConnectingInstance HostedTest::Connecting(int index) const {
  const auto instance =
      absl::c_find_if(plan_->instances, [&](const InstancePlan& plan) {
        return plan.name == request_.config().services(index);
      });
  ConnectingInstance connecting{
      .driver = &plan_->services[instance->service].driver,
      .worker_count = WorkerCount(*instance)};
  for (int peer : engines_[index]->peers()) {
    connecting.peers.push_back(plan_->instances[peer].name);
  }
  return connecting;
}

absl::Status HostedTest::ConnectEngine(HostedEngine& engine,
                                       const ConnectPeers& request,
                                       absl::Time deadline) {
  if (absl::Status status = CheckNotStopped(); !status.ok()) return status;
  std::vector<std::string> addresses;
  for (int peer : engine.peers()) {
    const std::string& name = plan_->instances[peer].name;
    const auto it = request.endpoints().service_endpoints().find(name);
    if (it == request.endpoints().service_endpoints().end()) {
      return absl::InternalError(
          absl::StrCat("the sequencer gave no endpoint of ", name));
    }
    addresses.push_back(it->second.endpoint_address());
  }
  return NamePeers(engine.Connect(addresses, deadline), engine, addresses);
}

absl::Status HostedTest::NamePeers(
    const absl::Status& error, const HostedEngine& engine,
    const std::vector<std::string>& addresses) const {
  if (error.ok()) return error;
  std::vector<std::string> names;
  for (size_t i = 0; i < addresses.size(); ++i) {
    // Drivers leave out the prefix of an address.
    absl::string_view address = addresses[i];
    absl::ConsumePrefix(&address, "tls:");
    if (!absl::StrContains(error.message(), address)) continue;
    const std::string& name = plan_->instances[engine.peers()[i]].name;
    names.push_back(absl::StrCat(name, " at ", addresses[i]));
  }
  if (names.empty()) return error;
  return absl::Status(
      error.code(),
      absl::StrCat(error.message(), " (", absl::StrJoin(names, ", "), ")"));
}

// ---- Traffic ----------------------------------------------------------------

StartReply HostedTest::Start(const StartTraffic& request) {
  StartReply reply;
  usage_at_start_ = Usage();
  resources_.Start();
  if (bindings_) bindings_->Start();
  const int64_t now_ns = clock_.MonotonicNs();
  const int64_t lead_ns =
      SaturatingSubtract(request.start_timestamp_ns(), clock_.UnixNs());
  if (lead_ns < 0) reply.set_lateness_ns(SaturatingSubtract(0, lead_ns));
  const int64_t start_ns =
      SaturatingAdd(now_ns, std::max<int64_t>(lead_ns, 0));
  stop_deadline_ns_ = SaturatingAdd(start_ns, request.timeout_ns());

  absl::Status status = CheckNotStopped();
  if (status.ok() && engines_.empty()) {
    status = absl::FailedPreconditionError("no instance was prepared");
  }
  if (status.ok() && lead_ns > kFarthestNs) {
    status = absl::InvalidArgumentError(absl::StrCat(
        "the sequencer says that the start is ", lead_ns,
        " ns ahead, which is impossible"));
  }
  *reply.mutable_status() = ToCommandStatus(status);
  if (!status.ok()) return reply;

  // One too many, so that the first instances cannot end the traffic before the
  // others have started.
  running_instances_ = engines_.size() + 1;
  {
    absl::MutexLock lock(&mutex_);
    is_started_ = true;
  }
  for (const auto& engine : engines_) engine->Start(start_ns);
  // An engine that was stopped before it started may not have noticed.
  if (absl::Status stopped = CheckNotStopped(); !stopped.ok()) {
    Stop(stopped.message());
  }
  OnEngineFinished();
  return reply;
}

void HostedTest::OnEngineFinished() {
  if (--running_instances_ > 0) return;
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    status = interruption_;
    has_finished_ = true;
  }
  on_finished_(status, TakeProgress());
}

void HostedTest::Interrupt(const absl::Status& status) {
  bool must_tell = false;
  {
    absl::MutexLock lock(&mutex_);
    if (!interruption_.ok()) return;
    interruption_ = status;
    must_tell = has_finished_ && !engines_.empty();
  }
  Stop(status.message());
  if (must_tell) on_finished_(status, TakeProgress());
}

void HostedTest::Stop(absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  if (stop_reason_.empty()) stop_reason_ = std::string(reason);
  for (const auto& engine : engines_) engine->Stop(reason);
}

void HostedTest::StopIfOverdue() {
  if (is_running() && clock_.MonotonicNs() > stop_deadline_ns_) {
    Stop("the sequencer did not end the traffic in time");
  }
}

void HostedTest::StopIfOverloaded() {
  absl::Status status = CheckThreadCount();
  if (status.ok()) status = CheckEngineThreads();
  if (status.ok()) status = CheckMemory();
  if (!status.ok()) Interrupt(status);
}

TrafficProgress HostedTest::TakeProgress() {
  TrafficProgress sum;
  SeriesByRpc recent;
  LogHistogram service_time_ns;
  LogHistogram response_time_ns;
  absl::MutexLock lock(&mutex_);
  for (const auto& engine : engines_) {
    const EngineProgress part = engine->progress();
    sum.set_succeeded_count(sum.succeeded_count() + part.succeeded_count);
    sum.set_failed_count(sum.failed_count() + part.failed_count);
    sum.set_in_flight_count(sum.in_flight_count() + part.in_flight_count);
    sum.set_offered_count(sum.offered_count() + part.offered_count);
    sum.set_open_loop_ended_count(sum.open_loop_ended_count() +
                                  part.open_loop_ended_count);
    engine->TakeRecent(recent);
  }
  for (const auto& [rpc, series] : recent) {
    IntervalSeries::ForEach({&series}, [&](const IntervalSeries::View& view) {
      service_time_ns.Merge(view.service_time_ns);
      response_time_ns.Merge(view.response_time_ns);
    });
  }
  if (service_time_ns.count() > 0) {
    EncodeHistogram(service_time_ns, *sum.mutable_recent_service_time_ns());
  }
  if (response_time_ns.count() > 0) {
    EncodeHistogram(response_time_ns, *sum.mutable_recent_response_time_ns());
  }
  return sum;
}

absl::Status HostedTest::CheckNotStopped() const {
  absl::MutexLock lock(&mutex_);
  if (stop_reason_.empty()) return absl::OkStatus();
  return absl::CancelledError(absl::StrCat("stopped: ", stop_reason_));
}

void HostedTest::SampleResources() {
  resources_.Sample();
  if (bindings_) bindings_->Sample();
}

// ---- Results ----------------------------------------------------------------

CollectReply HostedTest::Collect(
    absl::FunctionRef<void(ResultChunk chunk)> emit) {
  CollectReply reply;
  *reply.mutable_node_usage() = UsageBetween(usage_at_start_, Usage());
  // The current interval may extend beyond the traffic; it is used only if
  // there is no other.
  if (resources_.samples().empty()) resources_.Finish();
  NodeResources& resources = *reply.mutable_node_resources();
  *resources.mutable_host() = ReadHostFacts(environment_.system_root);
  for (const ResourceSample& sample : resources_.samples()) {
    *resources.add_samples() = sample;
  }
  if (bindings_) bindings_->Finish(resources);
  Engines engines = TakeEngines();
  for (const auto& engine : engines) engine->Shutdown();
  absl::Status status;
  for (size_t i = 0; i < engines.size(); ++i) {
    const std::string& name = request_.config().services(i);
    status.Update(Annotate(name, engines[i]->Collect(emit)));
    if (const std::optional<RUsage> usage = engines[i]->process_usage()) {
      (*resources.mutable_engine_usages())[name] = *usage;
    }
    // Frees its memory early.
    engines[i].reset();
  }
  *reply.mutable_status() = ToCommandStatus(status);
  if (environment_.engines.disturbs_engines()) {
    Finding& finding = *reply.add_findings();
    finding.set_severity(Finding::NOTE);
    finding.set_code("one_process");
    finding.set_message(
        "all services ran in one process, together with the control plane: "
        "latencies and rates mean little; run the test on a cluster for real "
        "ones");
  }
  return reply;
}

void HostedTest::End() {
  environment_.engines.Expect(0);
  // Destroying engines shuts them down, without waiting for engine processes.
  TakeEngines().clear();
}

HostedTest::Engines HostedTest::TakeEngines() {
  absl::MutexLock lock(&mutex_);
  return std::move(engines_);
}

}  // namespace distbench
