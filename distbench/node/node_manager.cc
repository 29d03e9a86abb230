// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/node_manager.h"

#include <glog/logging.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/base/grpc_calls.h"
#include "distbench/base/hosts.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/memory.h"
#include "distbench/base/protocol_versions.h"
#include "distbench/base/threads.h"
#include "distbench/base/version.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_program.h"
#include "distbench/metrics/metrics_server.h"
#include "distbench/node/backoff.h"
#include "distbench/node/control_session.h"
#include "distbench/node/control_stream.h"
#include "distbench/node/host_facts.h"
#include "distbench/node/test_part.h"
#include "distbench/node/traffic_metrics.h"
#include "distbench/numa/topology.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_diagnosis.h"
#include "proto/control.pb.h"

namespace distbench::node {
namespace {

// For a sequencer that accepts connections and then sends nothing. After the
// welcome, the sequencer's own timeout applies (NodeConfig).
constexpr absl::Duration kWelcomeTimeout = absl::Seconds(10);

// When a node that has never been registered says for the first time that it
// still tries; each of the next times comes this many times as late.
constexpr absl::Duration kFirstReport = absl::Seconds(3);
constexpr int kReportGrowth = 10;

// What the node says of its host, to which the registration adds the topology.
HostFacts AnnouncedFacts(const NodeManagerOptions& options) {
  HostFacts facts = ReadHostFacts("");
  facts.MergeFrom(options.lasting_facts);
  facts.clear_topology();
  return facts;
}

}  // namespace

NodeRegistration MakeRegistration(const NodeManagerOptions& options) {
  NodeRegistration registration;
  registration.set_hostname(base::Hostname());
  registration.set_boot_id(base::BootId(""));
  registration.set_control_port(options.port);
  for (const auto& [name, value] : options.attributes) {
    Attribute& attribute = *registration.add_attributes();
    attribute.set_name(name);
    attribute.set_value(value);
  }
  registration.set_preassigned_node_id(options.preassigned_id);
  if (!options.service_address.empty()) {
    registration.set_service_address(options.service_address);
  }
  registration.set_cpu_count(base::UsableCpuCount());
  *registration.mutable_topology() = numa::ReadHostTopology("");
  registration.set_version(std::string(base::ProgramVersion()));
  registration.set_control_protocol(base::kControlProtocol);
  if (options.engines != nullptr) {
    for (EngineProgram& engine : options.engines->programs()) {
      *registration.add_engines() = std::move(engine);
    }
  }
  *registration.mutable_host() = AnnouncedFacts(options);
  *registration.mutable_drivers() =
      std::move(*hosting::DescribeThisProgram().mutable_drivers());
  absl::BitGen random;
  registration.set_incarnation(
      absl::Uniform<uint64_t>(absl::IntervalClosed, random, 1, UINT64_MAX));
  return registration;
}

namespace {

NodeEnvironment MakeEnvironment(const NodeManagerOptions& options,
                                const NodeRegistration& registration,
                                TrafficMetrics& traffic_metrics) {
  NodeEnvironment environment{.engines = options.engines != nullptr
                                             ? *options.engines
                                             : hosting::InProcessEngines(),
                              .clock = base::RealClock(),
                              .hostname = registration.hostname(),
                              .attributes = {registration.attributes().begin(),
                                             registration.attributes().end()}};
  NodeSetup& setup = environment;
  setup = options;
  if (options.metrics_port.has_value()) {
    environment.traffic_metrics = &traffic_metrics;
  }
  return environment;
}

// Whether another attempt may succeed. A sequencer that lacks memory for the
// messages that it receives (--receive_memory), or that has its maximum number
// of nodes, may soon have room.
bool IsTemporary(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kUnimplemented:
      return false;
    default:
      return true;
  }
}

// Serves a node's health over gRPC, and its metrics over HTTP. Thread-safe.
class Endpoints {
 public:
  ~Endpoints() {
    if (health_ != nullptr) health_->Shutdown(std::chrono::system_clock::now());
  }

  // Listens. The error says what is wrong with an address.
  absl::Status Start(const NodeManagerOptions& options) {
    if (options.port != 0) {
      absl::Status status = StartHealth(options);
      if (!status.ok()) return status;
    }
    if (!options.metrics_port.has_value()) return absl::OkStatus();
    auto metrics = metrics::MetricsServer::Start(options.listen_address,
                                                 *options.metrics_port,
                                                 [this] { return Metrics(); });
    if (!metrics.ok()) return metrics.status();
    metrics_ = *std::move(metrics);
    return absl::OkStatus();
  }

  // 0: no metrics.
  int metrics_port() const {
    return metrics_ == nullptr ? 0 : metrics_->port();
  }

  // A node is healthy while it is registered.
  void SetRegistered(bool registered) {
    if (health_ != nullptr) {
      health_->GetHealthCheckService()->SetServingStatus(registered);
    }
    registered_ = registered;
  }

  // The traffic that the metrics tell of.
  TrafficMetrics& traffic() { return traffic_; }

 private:
  absl::Status StartHealth(const NodeManagerOptions& options) {
    // Health requests are small.
    constexpr int kMaxMessageBytes = 1 << 20;
    constexpr int kHandshakeTimeoutMs = 5000;
    const absl::StatusOr<std::vector<std::string>> addresses =
        base::ListenAddresses(options.listen_address, options.port);
    if (!addresses.ok()) return addresses.status();
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                               kHandshakeTimeoutMs);
    for (const std::string& address : *addresses) {
      builder.AddListeningPort(
          address, security::MakeServerCredentials(options.tls.get()));
    }
    health_ = builder.BuildAndStart();
    if (health_ == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen at ", absl::StrJoin(*addresses, ", ")));
    }
    health_->GetHealthCheckService()->SetServingStatus(false);
    return absl::OkStatus();
  }

  std::vector<prometheus::MetricFamily> Metrics() {
    std::vector<prometheus::MetricFamily> families = traffic_.Collect();
    families.push_back(metrics::Gauge("distbench_registered",
                                      "1 while the sequencer knows the node",
                                      registered_ ? 1 : 0));
    return families;
  }

  std::atomic<bool> registered_ = false;
  TrafficMetrics traffic_;
  std::unique_ptr<grpc::Server> health_;
  std::unique_ptr<metrics::MetricsServer> metrics_;
};

class StartedNode final : public NodeManager {
 public:
  explicit StartedNode(NodeManagerOptions options)
      : options_(std::move(options)),
        registration_(MakeRegistration(options_)),
        environment_(
            MakeEnvironment(options_, registration_, endpoints_.traffic())),
        target_(options_.channel != nullptr ? "the sequencer of this process"
                                            : options_.sequencer) {}

  ~StartedNode() override { Shutdown(); }

  absl::Status Start() ABSL_LOCKS_EXCLUDED(mutex_) {
    StartExtensions();
    absl::Status status = endpoints_.Start(options_);
    if (!status.ok()) return status;
    absl::StatusOr<std::thread> thread =
        base::StartThread("the session with the sequencer", [this] { Loop(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(
          absl::Condition(this, &StartedNode::IsRegisteredOrOver),
          options_.register_timeout);
      if (!alias_.empty()) return absl::OkStatus();
      status = ExplainFailure();
    }
    Shutdown();
    return status;
  }

  std::string alias() const override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return alias_;
  }

  void Leave(absl::Duration patience) override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_ending_ = true;
    if (session_ != nullptr) session_->Leave("the node was told to end");
    mutex_.AwaitWithTimeout(absl::Condition(&is_over_), patience);
  }

  int metrics_port() const override { return endpoints_.metrics_port(); }

  void Shutdown() override ABSL_LOCKS_EXCLUDED(mutex_, shutdown_mutex_) {
    absl::MutexLock shutdown_lock(&shutdown_mutex_);
    {
      absl::MutexLock lock(&mutex_);
      is_ending_ = true;
      if (session_ != nullptr) session_->Cancel();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void StartExtensions() const {
    for (const auto& [name, product] : environment_.extensions) {
      product->NodeStarts(environment_.site());
    }
  }

  bool IsRegisteredOrOver() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !alias_.empty() || is_over_;
  }

  // Runs sessions until one was the last.
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_) {
    Backoff backoff(environment_.clock);
    for (;;) {
      backoff.Begin();
      const SessionEnd end = RunSession();
      if (const std::optional<absl::Status> last = AfterSession(end)) {
        return Finish(*last);
      }
      if (!Pause(backoff.Next(end.was_welcome)))
        return Finish(absl::OkStatus());
    }
  }

  SessionEnd RunSession() ABSL_LOCKS_EXCLUDED(mutex_) {
    try {
      return TryRunSession();
    } catch (const std::system_error& error) {  // by its first thread
      return {.status =
                  base::NoThreadError("the session with the sequencer", error)};
    }
  }

  SessionEnd TryRunSession() ABSL_LOCKS_EXCLUDED(mutex_) {
    auto session = std::make_shared<ControlSession>(
        options_.channel != nullptr
            ? options_.channel
            : MakeNodeChannel(options_.sequencer, options_.tls.get()),
        registration_, environment_,
        options_.channel != nullptr ? absl::InfiniteDuration()
                                    : kWelcomeTimeout,
        [this](const NodeConfig& config) { OnWelcome(config); });
    {
      absl::MutexLock lock(&mutex_);
      session_ = session;
      if (is_ending_) session->Cancel();
    }
    const SessionEnd end = session->Run();
    endpoints_.SetRegistered(false);
    {
      absl::MutexLock lock(&mutex_);
      session_ = nullptr;
    }
    // Also destroys the session's test.
    session = nullptr;
    base::ReturnFreedMemory();
    return end;
  }

  void OnWelcome(const NodeConfig& config) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (!alias_.empty()) {
      LOG(WARNING) << alias_ << " has registered with " << target_
                   << " again, as " << config.node_alias();
    }
    endpoints_.SetRegistered(true);
    alias_ = config.node_alias();
    node_id_ = config.node_id();
  }

  // Prepares for the next session. Returns the status with which the node ends
  // if there is to be none.
  std::optional<absl::Status> AfterSession(const SessionEnd& end)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (is_ending_ || end.is_shutdown) return absl::OkStatus();
    // Logged once instead of at every attempt.
    LOG_IF(WARNING, absl::IsResourceExhausted(end.status) &&
                        last_error_.code() != end.status.code())
        << "cannot register with " << target_ << " for now ("
        << end.status.message() << "); will keep trying";
    last_error_ = end.status;
    if (end.was_welcome) {
      lost_ns_ = environment_.clock.MonotonicNs();
      LOG(WARNING) << alias_ << " has lost " << target_ << " ("
                   << end.status.message() << "); trying to reach it again";
      registration_.set_preassigned_node_id(node_id_);
      return std::nullopt;
    }
    if (IsTemporary(end.status)) {
      ReportSilence();
      return IfLostForTooLong();
    }
    const bool may_change_alias =
        options_.preassigned_id < 0 && registration_.preassigned_node_id() >= 0;
    if (absl::IsAlreadyExists(end.status) && may_change_alias) {
      registration_.set_preassigned_node_id(-1);
      return std::nullopt;
    }
    return ExplainFailure();
  }

  // Says now and then that no sequencer has answered yet.
  void ReportSilence() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!alias_.empty() || absl::IsResourceExhausted(last_error_)) return;
    const absl::Duration silent =
        absl::Nanoseconds(environment_.clock.MonotonicNs() - began_ns_);
    if (silent < next_report_) return;
    next_report_ = kReportGrowth * silent;
    LOG(WARNING) << "no test sequencer has answered at " << target_ << " for "
                 << absl::Floor(silent, absl::Seconds(1)) << WhyNoAnswer()
                 << "; will keep trying for " << options_.register_timeout
                 << " in all";
  }

  // Returns the status with which the node ends if the sequencer has been away
  // for reconnect_timeout.
  std::optional<absl::Status> IfLostForTooLong() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!lost_ns_.has_value()) return std::nullopt;
    const absl::Duration away =
        absl::Nanoseconds(environment_.clock.MonotonicNs() - *lost_ns_);
    if (away < options_.reconnect_timeout) return std::nullopt;
    return absl::UnavailableError(
        absl::StrCat(alias_, " has lost ", target_, " for ",
                     absl::FormatDuration(absl::Floor(away, absl::Seconds(1))),
                     ", and ends (", last_error_.message(), ")"));
  }

  absl::Status ExplainFailure() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (absl::IsUnimplemented(last_error_)) {
      return absl::UnimplementedError(base::NoSuchCalls(target_));
    }
    if (!last_error_.ok() && !IsTemporary(last_error_)) {
      return absl::Status(
          last_error_.code(),
          absl::StrCat("the test sequencer at ", target_,
                       " refused the node: ", last_error_.message()));
    }
    if (absl::IsResourceExhausted(last_error_)) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the node could not be registered with the test sequencer at ",
          target_, " within ", absl::FormatDuration(options_.register_timeout),
          ": ", last_error_.message()));
    }
    return absl::UnavailableError(absl::StrCat(
        "no test sequencer answered at ", target_, " within ",
        absl::FormatDuration(options_.register_timeout), WhyNoAnswer()));
  }

  std::string WhyNoAnswer() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return absl::StrCat(
        "; is it running there, and is this its port? (",
        last_error_.ok() ? "no answer at all" : last_error_.message(), ")",
        ExplainByTls());
  }

  // Explains the problem if TLS is the cause; may be empty.
  std::string ExplainByTls() const {
    constexpr absl::Duration kTimeout = absl::Seconds(2);
    if (options_.channel != nullptr) return "";
    if (options_.tls == nullptr) {
      return security::WantsTls(options_.sequencer, kTimeout)
                 ? "; it wants TLS: give --tls_ca, --tls_cert and --tls_key"
                 : "";
    }
    const std::string problem =
        security::DiagnoseTls(options_.sequencer, options_.tls->files(),
                              security::ServerName::kChecked, kTimeout);
    return problem.empty() ? "" : absl::StrCat("; ", problem);
  }

  // Returns false if the node was shut down meanwhile.
  bool Pause(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return !mutex_.AwaitWithTimeout(absl::Condition(&is_ending_), duration);
  }

  void Finish(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      absl::MutexLock lock(&mutex_);
      is_over_ = true;
      // No report for a node that was never registered, or that its owner shut
      // down.
      if (alias_.empty() || is_ending_) return;
    }
    options_.on_ended(status);
  }

  const NodeManagerOptions options_;
  Endpoints endpoints_;
  NodeRegistration registration_;  // used by the thread
  const NodeEnvironment environment_;
  const std::string target_;
  const int64_t began_ns_ = environment_.clock.MonotonicNs();

  mutable absl::Mutex mutex_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;  // by its owner
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::string alias_ ABSL_GUARDED_BY(mutex_);  // empty: never registered
  int node_id_ ABSL_GUARDED_BY(mutex_) = -1;
  absl::Status last_error_ ABSL_GUARDED_BY(mutex_);
  // The time since began_ns_ of the next report that nobody answers.
  absl::Duration next_report_ ABSL_GUARDED_BY(mutex_) = kFirstReport;
  // When the last session with the sequencer ended; absent before.
  std::optional<int64_t> lost_ns_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<ControlSession> session_ ABSL_GUARDED_BY(mutex_);

  absl::Mutex shutdown_mutex_;  // serializes Shutdown()
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NodeManager>> NodeManager::Start(
    NodeManagerOptions options) {
  auto node = std::make_unique<StartedNode>(std::move(options));
  if (absl::Status status = node->Start(); !status.ok()) return status;
  return node;
}

}  // namespace distbench::node
