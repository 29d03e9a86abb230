// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/grpc_driver.h"

#include <grpc/grpc.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/base/host_port.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/grpc_transport.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"
#include "distbench/protocol/grpc/server/handler_pool.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/settings.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_diagnosis.h"

namespace distbench::protocol {
namespace {

constexpr absl::Duration kDiagnosisTimeout = absl::Seconds(2);

// For how long the end of a driver that nobody polls waits at one queue.
constexpr int64_t kUnpolledWaitNs = 1'000'000;

grpc_channel_args AsChannelArgs(std::vector<grpc_arg>& arguments) {
  return {.num_args = arguments.size(), .args = arguments.data()};
}

// The ingredients of a channel.
struct ChannelPlan {
  std::string target;
  ChannelArguments arguments;
};

absl::StatusOr<ChannelPlan> PlanChannel(const Peer& peer,
                                        const ChannelArguments& arguments) {
  if (peer.policy.empty()) return ChannelPlan{peer.addresses[0], arguments};
  absl::StatusOr<std::string> target = JoinTargets(peer.addresses);
  if (!target.ok()) return target.status();
  ChannelPlan plan = {*std::move(target), arguments};
  plan.arguments.Set(GRPC_ARG_LB_POLICY_NAME, peer.policy);
  // By default the authority is the whole target, sent with every request.
  plan.arguments.Set(GRPC_ARG_DEFAULT_AUTHORITY, std::string("localhost"));
  return plan;
}

Channel MakeChannel(const std::string& target,
                    const ChannelArguments& arguments,
                    const security::CoreChannelCredentials& credentials) {
  std::vector<grpc_arg> list = arguments.AsGrpc();
  const grpc_channel_args args = AsChannelArgs(list);
  return Channel(target, args, credentials.get());
}

std::vector<Channel> MakeChannels(
    const ChannelPlan& plan, int count,
    const security::CoreChannelCredentials& credentials) {
  std::vector<Channel> channels;
  for (int i = 0; i < count; ++i) {
    channels.push_back(MakeChannel(plan.target, plan.arguments, credentials));
  }
  return channels;
}

// Makes a channel to each server of the peers that have several. For a channel
// over several servers, gRPC tells only that one of them is connected.
std::vector<Channel> MakeProbes(
    const std::vector<Peer>& peers, const ChannelArguments& arguments,
    const security::CoreChannelCredentials& credentials) {
  std::vector<Channel> probes;
  for (const Peer& peer : peers) {
    if (peer.policy.empty()) continue;
    for (const std::string& address : peer.addresses) {
      probes.push_back(MakeChannel(address, arguments, credentials));
    }
  }
  return probes;
}

class GrpcDriver final : public ProtocolDriver {
 public:
  GrpcDriver(GrpcSettings settings, AddressPreference preference,
             DriverEnvironment environment, std::unique_ptr<WakeTimer> timer)
      : settings_(std::move(settings)),
        preference_(std::move(preference)),
        environment_(std::move(environment)),
        timer_(std::move(timer)) {
    if (settings_.uses_callbacks()) callbacks_.emplace();
  }

  ~GrpcDriver() override;

  absl::StatusOr<std::string> Listen(int worker_count) override;

  Transport& transport(int worker) override { return *transports_[worker]; }

  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time deadline) override;

  void AbortConnect() override { connect_aborted_ = true; }

  void Shutdown() override;

  std::vector<DriverCounter> Counters() const override;

 private:
  bool uses_tls() const { return environment_.tls != nullptr; }
  const CallbackQueue* callbacks() const {
    return callbacks_.has_value() ? &*callbacks_ : nullptr;
  }
  absl::Status ExplainByTls(const absl::Status& status,
                            const std::vector<Peer>& peers) const;
  absl::StatusOr<std::string> ListenAtUnixSocket(int worker_count);
  absl::Status MakePool();
  absl::Status MakeTransports(int worker_count);
  int Start(const std::string& address);
  std::unique_ptr<Listener> MakeListener();
  void ShutDownUnpolled();

  const GrpcLibrary library_;
  const GrpcSettings settings_;
  const AddressPreference preference_;
  const DriverEnvironment environment_;
  std::optional<CallbackQueue> callbacks_;  // if the settings use it
  const std::unique_ptr<WakeTimer> timer_;
  StreamCounts stream_counts_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<GrpcTransport>> transports_;
  std::unique_ptr<HandlerPool> pool_;  // null if requests are handled inline
  bool listening_ = false;             // and not shut down
  std::atomic<bool> connect_aborted_ = false;
};

GrpcDriver::~GrpcDriver() {
  if (listening_) ShutDownUnpolled();
  // The pool's threads may be about to leave requests of the transports.
  pool_.reset();
  transports_.clear();
}

absl::StatusOr<std::string> GrpcDriver::Listen(int worker_count) {
  if (settings_.uses_unix_socket) return ListenAtUnixSocket(worker_count);
  const auto interfaces = ListInterfaceAddresses();
  if (!interfaces.ok()) return interfaces.status();
  const auto address = ChooseListenAddress(*interfaces, preference_,
                                           environment_.service_address);
  if (!address.ok()) return address.status();
  if (absl::Status made = MakePool(); !made.ok()) return made;
  if (absl::Status made = MakeTransports(worker_count); !made.ok()) return made;
  const int port = Start(base::JoinHostPort(address->bind_host, 0));
  if (port == 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot listen on ", address->bind_host,
        "; check that it is an address of this host (netdev_name, ip_version, "
        "--service_address) and that there are free ports"));
  }
  return AnnounceTls(TargetOf(address->advertised_host, port), uses_tls());
}

absl::StatusOr<std::string> GrpcDriver::ListenAtUnixSocket(int worker_count) {
  absl::StatusOr<std::string> address = NewUnixAddress(uses_tls());
  if (!address.ok()) return address.status();
  if (absl::Status made = MakePool(); !made.ok()) return made;
  if (absl::Status made = MakeTransports(worker_count); !made.ok()) return made;
  if (Start(*address) == 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot listen on ", *address,
        "; check that file descriptors are left, or use transport \"tcp\""));
  }
  return address;
}

absl::Status GrpcDriver::MakePool() {
  if (settings_.server_type == ServerType::kInline) return absl::OkStatus();
  auto pool = HandlerPool::Make(settings_.pool_kind, settings_.pool_size);
  if (!pool.ok()) return pool.status();
  pool_ = *std::move(pool);
  return absl::OkStatus();
}

absl::Status GrpcDriver::MakeTransports(int worker_count) {
  std::vector<std::unique_ptr<WakeTimer::Alarm>> alarms;
  for (int i = 0; i < worker_count; ++i) {
    auto alarm = timer_->NewAlarm();
    if (!alarm.ok()) return alarm.status();
    alarms.push_back(*std::move(alarm));
  }
  listener_ = MakeListener();
  for (auto& alarm : alarms) {
    auto transport = std::make_unique<GrpcTransport>(
        std::move(alarm), settings_, callbacks(), stream_counts_);
    transport->SetServerSide(
        listener_->MakeServerSide(*transport->grpc_queue()));
    transports_.push_back(std::move(transport));
  }
  return absl::OkStatus();
}

// Returns the port, or 0 on failure.
int GrpcDriver::Start(const std::string& address) {
  const int port = listener_->Start(address);
  listening_ = port != 0;
  if (!listening_) transports_.clear();
  return port;
}

std::unique_ptr<Listener> GrpcDriver::MakeListener() {
  ListenerSecurity security = {.test_nonce = environment_.test_nonce,
                               .tls = environment_.tls};
  const bool timed = environment_.measures_time_parts;
  if (settings_.streams.has_value()) {
    return MakeStreamListener(settings_.server, std::move(security), timed,
                              settings_.streams->send_queue_messages,
                              stream_counts_);
  }
  PoolUse pool_use = {.pool = pool_.get()};
  if (!settings_.pool_for_all) {
    pool_use.immediate_rpcs = environment_.immediate_rpcs;
  }
  const bool by_callback = settings_.server_type == ServerType::kHandoff;
  return MakeUnaryListener(settings_.server, std::move(pool_use),
                           by_callback ? callbacks() : nullptr,
                           std::move(security), timed);
}

absl::Status GrpcDriver::Connect(const std::vector<Peer>& announced,
                                 absl::Time deadline) {
  const absl::StatusOr<std::vector<Peer>> dialled =
      PeersToDial(announced, uses_tls());
  if (!dialled.ok()) return dialled.status();
  const std::vector<Peer>& peers = *dialled;
  const security::CoreChannelCredentials credentials =
      security::PeerChannelCredentials(environment_.tls.get());
  std::vector<ChannelMaker> makers;  // by peer
  // Indexed by transport and peer.
  std::vector<std::vector<std::vector<Channel>>> channels(transports_.size());
  for (const Peer& peer : peers) {
    const auto plan = PlanChannel(peer, settings_.client);
    if (!plan.ok()) return plan.status();
    makers.push_back([this, plan = *plan] {
      return MakeChannel(
          plan.target, plan.arguments,
          security::PeerChannelCredentials(environment_.tls.get()));
    });
    for (std::vector<std::vector<Channel>>& of_transport : channels) {
      of_transport.push_back(
          MakeChannels(*plan, settings_.channels, credentials));
    }
  }
  const std::vector<Channel> probes =
      MakeProbes(peers, settings_.client, credentials);
  std::vector<const Channel*> all;
  std::vector<const Channel*> to_one_server;
  for (const Channel& channel : probes) {
    all.push_back(&channel);
    to_one_server.push_back(&channel);
  }
  for (const std::vector<std::vector<Channel>>& of_transport : channels) {
    for (size_t i = 0; i < peers.size(); ++i) {
      for (const Channel& channel : of_transport[i]) {
        all.push_back(&channel);
        if (peers[i].policy.empty()) to_one_server.push_back(&channel);
      }
    }
  }
  absl::Status status = WaitForConnections(all, deadline, connect_aborted_);
  if (!status.ok()) return ExplainByTls(status, peers);
  status = VerifyPeers(to_one_server, environment_.test_nonce, deadline,
                       connect_aborted_);
  if (!status.ok()) return status;
  for (size_t i = 0; i < transports_.size(); ++i) {
    transports_[i]->SetChannels(std::move(channels[i]));
    if (settings_.calls_per_connection > 0) {
      transports_[i]->LimitChannels(settings_.calls_per_connection, makers);
    }
  }
  return absl::OkStatus();
}

// Adds TLS to a connection error if it is the cause.
absl::Status GrpcDriver::ExplainByTls(const absl::Status& status,
                                      const std::vector<Peer>& peers) const {
  if (!uses_tls()) return status;
  for (const Peer& peer : peers) {
    for (const std::string& target : peer.addresses) {
      if (!absl::StrContains(status.message(), target)) continue;
      const std::string problem =
          security::DiagnoseTls(HostPortOf(target), environment_.tls->files(),
                                security::ServerName::kAny, kDiagnosisTimeout);
      if (problem.empty()) continue;
      return absl::Status(status.code(),
                          absl::StrCat(status.message(), "; ", problem));
    }
  }
  return status;
}

void GrpcDriver::Shutdown() {
  if (!listening_) return;
  listening_ = false;
  listener_->Shutdown(*transports_.front()->grpc_queue());
  for (auto& transport : transports_) transport->BeginShutdown();
  for (auto& transport : transports_) transport->WaitUntilDrained();
  listener_->WaitUntilStopped();
}

std::vector<DriverCounter> GrpcDriver::Counters() const {
  std::vector<DriverCounter> counters = stream_counts_.List();
  if (pool_ != nullptr) {
    counters.push_back({"handler_threads", pool_->most_threads()});
  }
  if (settings_.calls_per_connection > 0) {
    int64_t renewed = 0;
    for (const auto& transport : transports_) {
      renewed += transport->renewed_channels();
    }
    counters.push_back({"renewed_connections", renewed});
  }
  return counters;
}

// Does what Shutdown() does, without others that poll. The transports wait for
// events at each other's queues.
void GrpcDriver::ShutDownUnpolled() {
  listener_->Shutdown(*transports_.front()->grpc_queue());
  for (auto& transport : transports_) transport->Abandon();
  NoEvents nobody;
  const auto is_over = [&] {
    return listener_->stopped() &&
           absl::c_all_of(transports_, [](const auto& transport) {
             return transport->NothingInFlight();
           });
  };
  while (!is_over()) {
    for (auto& transport : transports_) {
      transport->Poll(base::NowNs() + kUnpolledWaitNs, nobody);
    }
  }
}

absl::StatusOr<std::unique_ptr<ProtocolDriver>> Make(
    GrpcSettings settings, const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  absl::StatusOr<std::unique_ptr<WakeTimer>> timer = WakeTimer::Make();
  if (!timer.ok()) return timer.status();
  return std::make_unique<GrpcDriver>(
      std::move(settings),
      AddressPreference{.netdev = options.netdev,
                        .ip_version = options.ip_version,
                        .listen_address = environment.listen_address},
      environment, *std::move(timer));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeGrpcDriver(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  return Make(ReadGrpcSettings(options), options, environment);
}

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeGrpcStreamDriver(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  return Make(ReadGrpcStreamSettings(options), options, environment);
}

}  // namespace distbench::protocol
