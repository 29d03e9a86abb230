// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/test_part.h"

#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/version.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/reading/unknown_fields.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/node/host_facts.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/recent_traffic.h"
#include "distbench/results/resource_usage.h"
#include "distbench/stats/interval_series.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::node {
namespace {

// A century. Times that are further apart are invalid.
constexpr int64_t kFarthestNs = int64_t{100} * 365 * 86'400 * 1'000'000'000;

// How long processes of engines may take to end, before products undo what they
// did for them.
constexpr absl::Duration kEndPatience = absl::Seconds(5);

security::InstanceLimits LimitsOf(const PrepareTest& request) {
  return {request.target_rates().begin(), request.target_rates().end()};
}

}  // namespace

TestPart::TestPart(PrepareTest request, const NodeEnvironment& environment,
                   FinishedHandler on_finished)
    : request_(std::move(request)),
      environment_(environment),
      on_finished_(std::move(on_finished)),
      clock_(environment.clock, request_.clock_offset_ns()),
      counted_(request_.config().traffic_config(), environment.traffic_metrics),
      connections_({.clock = &clock_,
                    .root = environment.system_root,
                    .engines = [this] { return Processes(); }}),
      resources_(
          {.clock = &clock_,
           .root = environment.system_root,
           .process_usage = [this] { return Usage(); },
           .engines = [this] { return Processes(); },
           .hardware_counters = [this] { return hardware_counting_.Read(); },
           .data_connections = [this] { return connections_.Sample(); },
           .group_use =
               [this] {
                 std::map<std::string, GroupUse> use;
                 for (const auto& part : extensions_)
                   use.merge(part->ReadUse());
                 return use;
               }}) {}

TestPart::~TestPart() { End(); }

absl::Status TestPart::Annotate(const std::string& instance,
                                const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(instance, ": ", status.message()));
}

// ---- Prepare ----------------------------------------------------------------

PrepareReply TestPart::Prepare() {
  PrepareReply reply;
  absl::Status status = CheckClockOffset();
  if (status.ok()) status = MakePlan();
  if (status.ok()) status = CheckGuards();
  if (status.ok()) status = CheckRequirements();
  if (status.ok()) status = BeginExtensions();
  if (status.ok()) status = PrepareInstances(reply);
  *reply.mutable_status() = hosting::ToCommandStatus(status);
  return reply;
}

// Rejects offsets with which sums of times could overflow.
absl::Status TestPart::CheckClockOffset() const {
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
absl::Status TestPart::MakePlan() {
  if (const std::string unknown = config::FirstUnknownField(test());
      !unknown.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the node runs distbench ", base::ProgramVersion(),
                     ", which does not know ", unknown,
                     " of the test; install the sequencer's version on it, or "
                     "leave that out"));
  }
  TestSequence sequence;
  *sequence.add_tests() = test();
  const absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sequencer sent a test that cannot be run: ",
                     checked.status().message()));
  }
  plan_ =
      std::make_shared<const config::Plan>(config::Compile(checked->tests(0)));
  for (int i = 0; i < plan_->instances.size(); ++i) {
    indices_[plan_->instances[i].name] = i;
  }
  bindings_.emplace(test(), environment_.system_root, environment_.binding);
  memory_limit_.emplace(plan_->max_memory_bytes, environment_.system_root);
  return absl::OkStatus();
}

// The sequencer has checked this too, by what its operator allows. The node's
// counts as well, because it is the node on which the test runs.
absl::Status TestPart::CheckGuards() const {
  const security::TestGuards& guards = environment_.guards;
  absl::Status status = guards.Check(test(), "node manager");
  if (!status.ok()) return status;
  const auto& instances = request_.config().services();
  return guards.CheckLimits(test(), {instances.begin(), instances.end()},
                            LimitsOf(request_));
}

// Products are only told the names of instances of the plan; PrepareInstances()
// refuses the others.
absl::Status TestPart::BeginExtensions() {
  std::vector<std::string> instances;
  for (const std::string& name : request_.config().services()) {
    if (indices_.contains(name)) instances.push_back(name);
  }
  for (const auto& [name, product] : environment_.extensions) {
    absl::StatusOr<std::unique_ptr<TestPartExtension>> part =
        product->TestBegins(environment_.site(), test(), instances);
    if (!part.ok()) return part.status();
    if (*part != nullptr) extensions_.push_back(*std::move(part));
  }
  return absl::OkStatus();
}

bool TestPart::PlacesProcesses() const {
  return absl::c_any_of(
      extensions_, [](const auto& part) { return part->places_processes(); });
}

absl::Status TestPart::PrepareInstances(PrepareReply& reply) {
  if (!PlacesProcesses()) {
    environment_.engines.Expect(request_.config().services_size());
  }
  for (const std::string& name : request_.config().services()) {
    const auto it = indices_.find(name);
    const absl::Status status =
        it == indices_.end() || IsOutside(it->second)
            ? absl::InvalidArgumentError("the test has no such instance")
            : PrepareInstance(it->second, reply);
    if (!status.ok()) return Blame(name, status);
  }
  std::set<std::string> peers;
  for (const Hosted& instance : instances_) {
    for (const int peer : instance.engine->peers()) {
      if (!IsOutside(peer)) peers.insert(plan_->instances[peer].name);
    }
  }
  for (const std::string& peer : peers) reply.add_peers(peer);
  return absl::OkStatus();
}

absl::Status TestPart::PrepareInstance(int instance, PrepareReply& reply) {
  if (absl::Status status = CheckNotStopped(); !status.ok()) return status;
  Hosted hosted{.plan = &plan_->instances[instance]};
  const std::string& name = hosted.name();
  if (absl::Status status = bindings_->Resolve(*hosted.plan); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckRoom(*hosted.plan, instance); !status.ok()) {
    return status;
  }
  const int worker_count = WorkerCount(*hosted.plan);
  engine::EngineOptions options;
  options.plan = plan_;
  options.instance = instance;
  options.worker_count = worker_count;
  options.clock = &clock_;
  options.sample_memory_bytes = plan_->sample_memory_bytes /
                                std::max(1, request_.config().services_size());
  options.on_traffic_finished = [this] { OnEngineFinished(); };
  options.on_overload = [this, name](absl::Status status) {
    Interrupt(Annotate(name, status));
  };
  int group = -1;
  for (const auto& part : extensions_) {
    if (group < 0) group = part->GroupOf(name);
  }
  const absl::Status made = bindings_->RunBound(name, [&] {
    auto engine = environment_.engines.Make(
        {.test = test(),
         .options = std::move(options),
         .environment =
             {.service_address = ServiceAddress(DriverOf(*hosted.plan)),
              .listen_address = environment_.listen_address,
              .test_nonce = request_.test_nonce(),
              .tls = environment_.plain_traffic ? nullptr : environment_.tls,
              .has_spare_cpu = worker_count < CpuShare(*hosted.plan)},
         .limits = LimitsOf(request_),
         .clock_offset_ns = request_.clock_offset_ns(),
         .binding = bindings_->OwnBinding(name),
         .group = group});
    if (engine.ok()) hosted.engine = *std::move(engine);
    return engine.status();
  });
  if (!made.ok()) return made;
  if (hosted.engine->pid() != hosting::kThisProcess) {
    bindings_->LivesIn(name, hosted.engine->pid());
  }

  ServiceEndpoint& endpoint =
      (*reply.mutable_endpoints()->mutable_service_endpoints())[name];
  endpoint.set_endpoint_address(hosted.engine->address());
  endpoint.set_hostname(environment_.hostname);
  if (const std::string& engine = DriverOf(*hosted.plan).engine;
      !engine.empty()) {
    endpoint.set_engine(engine);
    engines_.insert(engine);
  }
  for (const Attribute& attribute : environment_.attributes) {
    *endpoint.add_attributes() = attribute;
  }
  {
    absl::MutexLock lock(&mutex_);
    instances_.push_back(std::move(hosted));
  }
  if (absl::Status status = CheckThreadCount(); !status.ok()) return status;
  return memory_limit_->Check(Processes());
}

// The number is set by the test, or by the node manager's flag; otherwise it is
// the sequencer's share of the host, limited by the CPUs of the instance.
int TestPart::WorkerCount(const config::InstancePlan& instance) const {
  if (plan_->workers_per_instance > 0) return plan_->workers_per_instance;
  if (environment_.workers_per_instance > 0) {
    return environment_.workers_per_instance;
  }
  return CpuShare(instance);
}

int TestPart::CpuShare(const config::InstancePlan& instance) const {
  const int count = std::max(1, request_.workers_per_instance());
  const int cpu_count = bindings_->CpuCount(instance);
  return cpu_count > 0 ? std::min(count, cpu_count) : count;
}

std::string TestPart::ServiceAddress(
    const config::DriverOptions& options) const {
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

CommandStatus TestPart::Connect(const ConnectPeers& request) {
  // End before the sequencer's timeout, whose message would name no address.
  const absl::Time deadline =
      absl::Now() + 0.9 * absl::Nanoseconds(request.timeout_ns());
  if (absl::Status status = CheckNeededSockets(); !status.ok()) {
    return hosting::ToCommandStatus(status);
  }
  for (const Hosted& instance : instances_) {
    const absl::Status status = bindings_->RunBound(instance.name(), [&] {
      return ConnectEngine(*instance.engine, request, deadline);
    });
    if (!status.ok()) {
      return hosting::ToCommandStatus(ExplainBySockets(
          Blame(instance.name(), status),
          ReadSocketLimits(environment_.system_root, instance.engine->pid())));
    }
  }
  // Not when the traffic starts, because it takes a while.
  connections_.Start();
  return hosting::ToCommandStatus(absl::OkStatus());
}

absl::Status TestPart::ConnectEngine(hosting::HostedEngine& engine,
                                     const ConnectPeers& request,
                                     absl::Time deadline) {
  if (absl::Status status = CheckNotStopped(); !status.ok()) return status;
  std::vector<std::string> addresses;
  for (int peer : engine.peers()) {
    const std::string& name = plan_->instances[peer].name;
    if (IsOutside(peer)) {
      addresses.emplace_back();
      continue;
    }
    const auto it = request.endpoints().service_endpoints().find(name);
    if (it == request.endpoints().service_endpoints().end()) {
      return absl::InternalError(
          absl::StrCat("the sequencer gave no endpoint of ", name));
    }
    // Only the config has such addresses, and they have been checked.
    if (absl::StartsWith(it->second.endpoint_address(),
                         config::kOutsidePrefix)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the sequencer gave an address outside of the test for ", name));
    }
    addresses.push_back(it->second.endpoint_address());
  }
  return NamePeers(engine.Connect(addresses, deadline), engine, addresses);
}

absl::Status TestPart::NamePeers(
    const absl::Status& error, const hosting::HostedEngine& engine,
    const std::vector<std::string>& addresses) const {
  if (error.ok()) return error;
  std::vector<std::string> names;
  for (size_t i = 0; i < addresses.size(); ++i) {
    // Drivers leave out the prefix of an address.
    absl::string_view address = addresses[i];
    absl::ConsumePrefix(&address, "tls:");
    if (address.empty()) continue;  // outside: the driver names it itself
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

StartReply TestPart::Start(const StartTraffic& request) {
  StartReply reply;
  usage_at_start_ = Usage();
  resources_.Start();
  if (bindings_) bindings_->Start();
  const int64_t now_ns = clock_.MonotonicNs();
  const int64_t lead_ns =
      base::SaturatingSubtract(request.start_timestamp_ns(), clock_.UnixNs());
  if (lead_ns < 0) reply.set_lateness_ns(base::SaturatingSubtract(0, lead_ns));
  const int64_t start_ns =
      base::SaturatingAdd(now_ns, std::max<int64_t>(lead_ns, 0));
  stop_deadline_ns_ = base::SaturatingAdd(start_ns, request.timeout_ns());

  absl::Status status = CheckNotStopped();
  if (status.ok() && instances_.empty()) {
    status = absl::FailedPreconditionError("no instance was prepared");
  }
  if (status.ok() && lead_ns > kFarthestNs) {
    status = absl::InvalidArgumentError(
        absl::StrCat("the sequencer says that the start is ", lead_ns,
                     " ns ahead, which is impossible"));
  }
  *reply.mutable_status() = hosting::ToCommandStatus(status);
  if (!status.ok()) return reply;

  // One too many, so that the first instances cannot end the traffic before the
  // others have started.
  running_instances_ = instances_.size() + 1;
  {
    absl::MutexLock lock(&mutex_);
    is_started_ = true;
  }
  for (const auto& part : extensions_) part->TrafficBegins(clock_, start_ns);
  for (const Hosted& instance : instances_) instance.engine->Start(start_ns);
  // An engine that was stopped before it started may not have noticed.
  if (absl::Status stopped = CheckNotStopped(); !stopped.ok()) {
    Stop(stopped.message());
  }
  OnEngineFinished();
  return reply;
}

void TestPart::OnEngineFinished() {
  if (--running_instances_ > 0) return;
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    status = interruption_;
    has_finished_ = true;
  }
  on_finished_(status, TakeProgress());
}

void TestPart::Interrupt(const absl::Status& status) {
  bool must_tell = false;
  {
    absl::MutexLock lock(&mutex_);
    if (!interruption_.ok()) return;
    interruption_ = status;
    must_tell = has_finished_ && !instances_.empty();
  }
  // Instances say an overload as those that find it by themselves do.
  const bool is_overload = absl::IsResourceExhausted(status);
  Stop(is_overload ? status.ToString() : std::string(status.message()));
  if (must_tell) on_finished_(status, TakeProgress());
}

void TestPart::Stop(absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  if (stop_reason_.empty()) stop_reason_ = std::string(reason);
  for (const Hosted& instance : instances_) instance.engine->Stop(reason);
}

void TestPart::StopIfOverdue() {
  if (is_running() && clock_.MonotonicNs() > stop_deadline_ns_) {
    Stop("the sequencer did not end the traffic in time");
  }
}

absl::Status TestPart::CheckNotStopped() const {
  absl::MutexLock lock(&mutex_);
  if (!interruption_.ok()) return interruption_;
  if (stop_reason_.empty()) return absl::OkStatus();
  return absl::CancelledError(absl::StrCat("stopped: ", stop_reason_));
}

absl::Status TestPart::Blame(const std::string& instance,
                             const absl::Status& error) const {
  absl::MutexLock lock(&mutex_);
  return interruption_.ok() ? Annotate(instance, error) : interruption_;
}

// ---- End --------------------------------------------------------------------

void TestPart::End() {
  environment_.engines.Expect(0);
  // Destroying engines shuts them down, without waiting for engine processes.
  TakeInstances().clear();
  counted_.CountRest();
  for (const Finding& finding : UndoExtensions()) {
    LOG(ERROR) << finding.message();
  }
}

std::vector<Finding> TestPart::UndoExtensions() {
  if (PlacesProcesses()) environment_.engines.AwaitEnds(kEndPatience);
  std::vector<Finding> findings;
  for (const auto& part : extensions_) {
    if (auto finding = part->Undo()) findings.push_back(*std::move(finding));
  }
  return findings;
}

std::vector<TestPart::Hosted> TestPart::TakeInstances() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(instances_, {});
}

// What a node's part of a test has measured: progress, resources and results.

TrafficProgress TestPart::TakeProgress() {
  TrafficProgress sum;
  stats::SeriesByRpc measured;
  absl::MutexLock lock(&mutex_);
  for (const Hosted& instance : instances_) {
    results::AddProgress(instance.engine->progress(), sum);
    instance.engine->TakeRecent(measured);
  }
  counted_.CountRecent(measured, sum.in_flight_count());
  results::RecentTraffic recent;
  recent.Add(test(), measured);
  recent.TakeInto(sum);
  return sum;
}

void TestPart::SampleResources() {
  resources_.Sample();
  counted_.CountCpu(
      results::UsageBetween(usage_at_start_, Usage()).rusage_diff());
  if (bindings_) bindings_->Sample();
}

CollectReply TestPart::Collect(
    absl::FunctionRef<void(ResultChunk chunk)> emit) {
  CollectReply reply;
  for (const auto& part : extensions_) part->TrafficEnded();
  *reply.mutable_node_usage() = results::UsageBetween(usage_at_start_, Usage());
  counted_.CountCpu(reply.node_usage().rusage_diff());
  // The current interval may extend beyond the traffic; it is used only if
  // there is no other.
  if (resources_.samples().empty()) resources_.Finish();
  NodeResources& resources = *reply.mutable_node_resources();
  // Soon, because peers may already be closing their connections.
  connections_.Finish(resources);
  *resources.mutable_host() = ReadFacts();
  if (!hardware_counting_.problem().empty()) {
    resources.mutable_host()->set_hardware_counters_problem(
        hardware_counting_.problem());
  }
  for (const ResourceSample& sample : resources_.samples()) {
    *resources.add_samples() = sample;
  }
  if (bindings_) bindings_->Finish(resources);
  std::vector<Hosted> instances = TakeInstances();
  for (const Hosted& instance : instances) instance.engine->Shutdown();
  const auto count_and_emit = [&](ResultChunk chunk) {
    counted_.AddResults(chunk);
    emit(std::move(chunk));
  };
  absl::Status status;
  for (Hosted& instance : instances) {
    status.Update(
        Annotate(instance.name(), instance.engine->Collect(count_and_emit)));
    if (const auto usage = instance.engine->process_usage()) {
      (*resources.mutable_engine_usages())[instance.name()] = *usage;
    }
    // Frees its memory early.
    instance.engine = nullptr;
  }
  counted_.CountRest();
  *reply.mutable_status() = hosting::ToCommandStatus(status);
  for (Finding& finding : UndoExtensions()) {
    *reply.add_findings() = std::move(finding);
  }
  for (const auto& part : extensions_) part->AddResults(resources);
  for (EngineProgram& engine : environment_.engines.programs()) {
    if (engines_.contains(engine.name())) {
      *resources.add_engines() = std::move(engine);
    }
  }
  if (environment_.engines.disturbs_engines()) {
    Finding& finding = *reply.add_findings();
    finding.set_severity(Finding::NOTE);
    finding.set_code("one_process");
    finding.set_message(
        "all services ran in one process, together with the control plane: "
        "latencies and rates mean little");
    finding.set_advice(
        "Run the test on a cluster (distbench run_tests) to measure them.");
  }
  return reply;
}

}  // namespace distbench::node
