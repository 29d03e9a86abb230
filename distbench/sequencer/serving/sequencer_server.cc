// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/sequencer_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/grpc_calls.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/memory.h"
#include "distbench/base/version.h"
#include "distbench/metrics/metrics_server.h"
#include "distbench/security/authorization.h"
#include "distbench/security/credentials.h"
#include "distbench/sequencer/execution/sequence_run.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "distbench/sequencer/nodes/unregistered_streams.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_queue.h"
#include "distbench/sequencer/runs/run_state.h"
#include "distbench/sequencer/serving/front_door.h"
#include "distbench/sequencer/serving/service.h"
#include "distbench/sequencer/serving/status.h"

namespace distbench::sequencer {
namespace {

// How long a connection may take to complete its handshake. Until then it costs
// some 30 KiB, whoever made it.
constexpr absl::Duration kHandshakeTimeout = absl::Seconds(10);

// How long a running test may take to stop and to hand over its measurements.
constexpr absl::Duration kCollectGrace = absl::Seconds(10);

// How long the disk may then take to store them.
constexpr absl::Duration kStoreGrace = absl::Seconds(10);

// How long ended calls may take to reach their clients.
constexpr std::chrono::seconds kShutdownGrace(1);
constexpr absl::Duration kNodesGrace = absl::Seconds(5);

// A connection must not break before the session of its node ends. At least,
// and as a multiple of the node's timeout.
constexpr absl::Duration kLeastGoneAfter = absl::Seconds(10);
constexpr absl::Duration kMostGoneAfter = absl::Hours(2);
constexpr int kTimeoutsUntilGone = 2;

constexpr int kMaxCallsPerConnection = 100;

// Enough for the summaries of most tests, even if no results are to be kept.
constexpr int64_t kLeastSummaryBytes = 32 << 20;

// How long a node waits at most before it tries again to register. While its
// earlier session has not timed out, another process of its name is refused.
constexpr absl::Duration kMostBetweenRegistrations = absl::Seconds(2);

// TCP retransmits at least this often within a node's timeout, so that one of
// the retransmissions follows a short cut of its link. A connection breaks
// after three times as many, so the node's timeout decides.
constexpr int kRetransmissionsPerTimeout = 5;

// How long a connection may have no calls.
constexpr absl::Duration kMaxIdle = absl::Minutes(1);

// How long a call in this process waits for the disk to find a run.
constexpr absl::Duration kFindTimeout = absl::Seconds(10);

constexpr char kServiceName[] = "distbench.DistBenchTestSequencer";

absl::Status ShutdownReason() {
  return absl::AbortedError("the test sequencer is shutting down");
}

// Any client can announce large messages, send most of them, and wait.
void LimitReceiveMemory(std::optional<int64_t> bytes,
                        grpc::ServerBuilder& builder) {
  const int64_t limit =
      bytes.has_value() ? *bytes : base::AllowedMemoryBytes(/*root=*/"") / 2;
  if (limit == 0) return;  // not known
  grpc::ResourceQuota quota("test_sequencer");
  quota.Resize(limit);
  builder.SetResourceQuota(quota);
}

void Configure(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             absl::ToInt64Milliseconds(kHandshakeTimeout));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             absl::ToInt64Milliseconds(kMaxIdle));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             kMaxCallsPerConnection);
  builder.SetMaxReceiveMessageSize(base::kMaxMessageToSequencerBytes);
  builder.SetMaxSendMessageSize(-1);
  // gRPC would ping a node for each of its heartbeats, to find out how much may
  // be on the way. Without, that is as much as the largest message of a node.
  // Without these pings, keepalive (front_door.h) and the search for deadlocks
  // of mutexes (base/process_setup.h), 3000 idle nodes use 10 % of a core, and
  // not 20 %.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // Clients may ping as often as they like, to detect a lost sequencer.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

SequencerOptions WithFilesForRuns(SequencerOptions options) {
  int& ended = options.run_limits.ended;
  ended = LimitEndedRuns(ended, MaxOpenFiles());
  return options;
}

class StartedServer final : public SequencerServer {
 public:
  explicit StartedServer(SequencerOptions options)
      : options_(WithFilesForRuns(std::move(options))),
        registry_(LimitNodes(options_.max_nodes, options_.run_limits.ended,
                             MaxOpenFiles())),
        environment_{.registry = registry_,
                     .status = status_,
                     .clock = base::RealClock(),
                     .timeouts = {},
                     .revision = options_.revision,
                     .on_shutdown_request = options_.on_shutdown_request,
                     .guards = options_.guards,
                     .summary_bytes = std::max(kLeastSummaryBytes,
                                               options_.results_memory_bytes),
                     .patience = {.until_back = options_.node_silence_timeout +
                                                kMostBetweenRegistrations}},
        book_(options_.run_limits, environment_.clock),
        unregistered_(options_.node_silence_timeout),
        service_(environment_, queue_, book_,
                 {.silence_timeout = options_.node_silence_timeout,
                  .clock = environment_.clock,
                  .registry = registry_,
                  .unregistered = unregistered_}) {}

  ~StartedServer() override { Shutdown(); }

  absl::Status Start() {
    if (options_.disk != nullptr) {
      book_.OpenDisk(options_.disk);
    } else if (!options_.results_dir.empty()) {
      absl::Status status = book_.OpenDirectory(options_.results_dir);
      if (!status.ok()) return status;
    } else if (absl::Status status = CheckTemporaryFolder(); !status.ok()) {
      return status;
    }
    absl::Status status =
        options_.port == 0 ? ListenAtAnyPort() : Listen(options_.port);
    if (!status.ok()) return status;
    heartbeat_.emplace(
        options_.node_silence_timeout / NodeSession::kBeatsPerTimeout,
        registry_, unregistered_);
    return StartMetrics();
  }

  int metrics_port() const override {
    return metrics_ == nullptr ? 0 : metrics_->port();
  }

  int port() const override { return port_; }

  const std::vector<RunDescription>& interrupted_runs() const override {
    return book_.interrupted_runs();
  }

  std::shared_ptr<grpc::Channel> InProcessChannel() override {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    return server_->InProcessChannel(arguments);
  }

  GetStatusResponse Status() const override {
    return DescribeStatus(registry_, status_, queue_, environment_.clock);
  }
  std::vector<RunDescription> UnfinishedRuns() const override {
    return book_.Unfinished();
  }
  bool IsTestRunning() const override { return status_.Get().has_value(); }

  absl::Status CancelRun(const std::string& run_id,
                         const std::string& who) override {
    struct Answer {
      absl::Notification is_known;
      absl::Status status;
    };
    const auto answer = std::make_shared<Answer>();
    const absl::Status reason =
        absl::CancelledError(absl::StrCat("the run was cancelled by ", who));
    book_.Find(run_id, [answer, reason](const RunBook::RunOrError& run) {
      answer->status = run.ok() ? (*run)->Cancel(reason) : run.status();
      answer->is_known.Notify();
    });
    if (answer->is_known.WaitForNotificationWithTimeout(kFindTimeout)) {
      return answer->status;
    }
    return absl::UnavailableError(
        "the disk with the runs is too slow to find this one; try again");
  }

  void EndRuns() override {
    book_.OnSequencerEnds();
    queue_.Close(ShutdownReason());
    queue_.AwaitIdle(kCollectGrace);
    book_.AwaitStored(kStoreGrace);
  }

  bool EndNodes(absl::Duration patience) override {
    registry_.ShutDownNodes();
    return registry_.AwaitEmpty(patience);
  }

  void Shutdown() override ABSL_LOCKS_EXCLUDED(shutdown_mutex_) {
    absl::MutexLock lock(&shutdown_mutex_);
    if (is_shut_down_) return;
    is_shut_down_ = true;
    registry_.Close();
    EndRuns();
    door_ = nullptr;
    heartbeat_.reset();
    // A node that loses its stream before it has read that it should end would
    // try to reach the sequencer again, for ever.
    registry_.AwaitEmptyIfTold(kNodesGrace);
    // Runs that are still going on end as soon as they have no nodes.
    for (const auto& node : registry_.Nodes()) {
      node->Disconnect(ShutdownReason().message());
    }
    metrics_.reset();
    if (server_ != nullptr) {
      server_->GetHealthCheckService()->Shutdown();
      server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
    }
  }

 private:
  // Another process may take a port after it was found and before it is used.
  absl::Status ListenAtAnyPort() {
    constexpr int kAttempts = 10;
    absl::Status status;
    for (int i = 0; i < kAttempts; ++i) {
      const absl::StatusOr<int> port =
          base::FindFreePort(options_.listen_address);
      if (!port.ok()) return port.status();
      status = Listen(*port);
      if (status.ok()) break;
    }
    return status;
  }

  // Listens on all addresses that listen_address stands for, or on none.
  absl::Status Listen(int port) {
    const absl::StatusOr<std::vector<std::string>> addresses =
        base::ListenAddresses(options_.listen_address, port);
    if (!addresses.ok()) return addresses.status();
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    Configure(builder);
    LimitReceiveMemory(options_.receive_memory_bytes, builder);
    const auto credentials =
        security::MakeServerCredentials(options_.tls.get());
    if (options_.tls != nullptr) {
      credentials->SetAuthMetadataProcessor(
          security::MakeAccessControl(options_.access));
    }
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        credentials);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::InternalError("gRPC cannot start a server");
    }
    server_->GetHealthCheckService()->SetServingStatus(kServiceName, true);
    port_ = port;
    absl::Status status = OpenDoor(*std::move(addresses));
    if (!status.ok()) server_ = nullptr;
    return status;
  }

  absl::Status OpenDoor(std::vector<std::string> addresses) {
    FrontDoor::Options options;
    options.addresses = std::move(addresses);
    options.expect_tls = options_.tls != nullptr;
    options.max_retransmission_interval =
        options_.node_silence_timeout / kRetransmissionsPerTimeout;
    options.gone_after =
        std::clamp(kTimeoutsUntilGone * options_.node_silence_timeout,
                   kLeastGoneAfter, kMostGoneAfter);
    options.on_guest = [this](int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
          connection;
      connection.fd = fd;
      acceptor_->HandleNewConnection(&connection);
    };
    auto door = FrontDoor::Open(std::move(options));
    if (!door.ok()) return door.status();
    door_ = *std::move(door);
    return absl::OkStatus();
  }

  absl::Status StartMetrics() {
    if (!options_.metrics_port.has_value()) return absl::OkStatus();
    auto metrics = metrics::MetricsServer::Start(
        options_.listen_address, *options_.metrics_port, [this] {
          return SequencerMetrics(registry_, queue_, book_, status_,
                                  environment_.outcomes);
        });
    if (!metrics.ok()) return metrics.status();
    metrics_ = *std::move(metrics);
    return absl::OkStatus();
  }

  const SequencerOptions options_;
  NodeRegistry registry_;
  RunStatus status_;
  RunEnvironment environment_;
  RunBook book_;
  RunQueue queue_;
  UnregisteredStreams unregistered_;
  SequencerService service_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<FrontDoor> door_;
  int port_ = 0;
  std::optional<Heartbeat> heartbeat_;
  std::unique_ptr<metrics::MetricsServer> metrics_;

  absl::Mutex shutdown_mutex_;
  bool is_shut_down_ ABSL_GUARDED_BY(shutdown_mutex_) = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SequencerServer>> SequencerServer::Start(
    SequencerOptions options) {
  auto server = std::make_unique<StartedServer>(std::move(options));
  if (absl::Status status = server->Start(); !status.ok()) return status;
  return server;
}

int LimitEndedRuns(int max_runs, int64_t max_open_files) {
  return static_cast<int>(std::min<int64_t>(max_runs, max_open_files / 4));
}

NodeLimit LimitNodes(int max_nodes, int64_t files_of_runs,
                     int64_t max_open_files) {
  const int64_t others = kFilesBesidesNodes + files_of_runs;
  const int64_t by_files = std::max<int64_t>(1, max_open_files - others);
  if (max_nodes <= by_files) {
    return {.count = max_nodes,
            .remedy =
                "give test_sequencer a larger --max_nodes, or all "
                "processes of the job the same --size"};
  }
  return {.count = static_cast<int>(by_files),
          .remedy = absl::StrCat(
              "it may have only ", max_open_files,
              " files open and needs one for each node; to take --max_nodes=",
              max_nodes, ", start it where ulimit -Hn is at least ",
              max_nodes + kFilesBesidesNodes + RunLimits().ended,
              " (LimitNOFILE of a service of systemd)")};
}

int64_t MaxOpenFiles() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::numeric_limits<int64_t>::max();
  }
  return static_cast<int64_t>(
      std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int64_t>::max()));
}

}  // namespace distbench::sequencer
