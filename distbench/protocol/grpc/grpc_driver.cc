#include "distbench/protocol/grpc/grpc_driver.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "distbench/protocol/grpc/channel.h"
#include "distbench/protocol/grpc/grpc_transport.h"
#include "distbench/protocol/grpc/settings.h"
#include "distbench/protocol/grpc/target.h"
#include "distbench/protocol/grpc/wake_timer.h"
#include "distbench/protocol/host_address.h"

namespace distbench {
namespace {

// gRPC, for as long as somebody uses it.
class GrpcLibrary {
 public:
  GrpcLibrary() { grpc_init(); }
  ~GrpcLibrary() { grpc_shutdown(); }
  GrpcLibrary(const GrpcLibrary&) = delete;
  GrpcLibrary& operator=(const GrpcLibrary&) = delete;
};

grpc_channel_args AsChannelArgs(std::vector<grpc_arg>& arguments) {
  return {.num_args = arguments.size(), .args = arguments.data()};
}

// What a channel is made of.
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
  // The default is all of the target, in every request.
  plan.arguments.Set(GRPC_ARG_DEFAULT_AUTHORITY, std::string("localhost"));
  return plan;
}

Channel MakeChannel(const std::string& target,
                    const ChannelArguments& arguments) {
  std::vector<grpc_arg> list = arguments.AsGrpc();
  const grpc_channel_args args = AsChannelArgs(list);
  return Channel(target, args);
}

// A channel to each server of the peers that have several. gRPC says of a
// channel over several servers only that one of them is connected.
std::vector<Channel> MakeProbes(const std::vector<Peer>& peers,
                                const ChannelArguments& arguments) {
  std::vector<Channel> probes;
  for (const Peer& peer : peers) {
    if (peer.policy.empty()) continue;
    for (const std::string& address : peer.addresses) {
      probes.push_back(MakeChannel(address, arguments));
    }
  }
  return probes;
}

// A gRPC server whose requests arrive at the queues of the transports.
class Server {
 public:
  explicit Server(const ChannelArguments& arguments) {
    std::vector<grpc_arg> list = arguments.AsGrpc();
    const grpc_channel_args args = AsChannelArgs(list);
    server_ = grpc_server_create(&args, nullptr);
  }

  // Requires that Shutdown() has completed, or that nothing was started.
  ~Server() { grpc_server_destroy(server_); }

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns the port, or 0 if the address is not available.
  int AddPort(const std::string& address) {
    grpc_server_credentials* credentials =
        grpc_insecure_server_credentials_create();
    const int port =
        grpc_server_add_http2_port(server_, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  void Start(std::vector<std::unique_ptr<GrpcTransport>>& transports) {
    for (auto& transport : transports) {
      grpc_server_register_completion_queue(server_, transport->queue().get(),
                                            nullptr);
    }
    // The message comes along with the call: one completion for both.
    void* method = grpc_server_register_method(
        server_, kGenericRpcMethod, nullptr,
        GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    grpc_server_start(server_);
    for (auto& transport : transports) transport->Serve(server_, method);
  }

  // Closes all connections. The completion is delivered to the queue.
  void Shutdown(EventQueue& queue) {
    grpc_server_shutdown_and_notify(server_, queue.get(),
                                    static_cast<Completion*>(&stopped_));
    grpc_server_cancel_all_calls(server_);
  }
  void WaitUntilStopped() { stopped_.notification.WaitForNotification(); }

 private:
  struct Stopped final : Completion {
    void OnComplete(bool, TransportEvents&) override { notification.Notify(); }
    absl::Notification notification;
  };

  grpc_server* server_;
  Stopped stopped_;
};

class GrpcDriver final : public ProtocolDriver {
 public:
  GrpcDriver(GrpcSettings settings, AddressPreference preference,
             std::string service_address)
      : settings_(std::move(settings)),
        preference_(std::move(preference)),
        service_address_(std::move(service_address)) {}

  ~GrpcDriver() override {
    if (server_ != nullptr && !shut_down_) {
      server_->Shutdown(transports_.front()->queue());
    }
    transports_.clear();
  }

  absl::StatusOr<std::string> Listen(int worker_count) override;

  Transport& transport(int worker) override { return *transports_[worker]; }

  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time deadline) override;

  void Shutdown() override;

 private:
  const GrpcLibrary library_;
  const GrpcSettings settings_;
  const AddressPreference preference_;
  const std::string service_address_;
  WakeTimer timer_;
  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<GrpcTransport>> transports_;
  bool shut_down_ = false;
};

absl::StatusOr<std::string> GrpcDriver::Listen(int worker_count) {
  const auto interfaces = ListInterfaceAddresses();
  if (!interfaces.ok()) return interfaces.status();
  const auto address =
      ChooseListenAddress(*interfaces, preference_, service_address_);
  if (!address.ok()) return address.status();

  auto server = std::make_unique<Server>(settings_.server);
  const std::string bind_address = JoinHostPort(address->bind_host, 0);
  const int port = server->AddPort(bind_address);
  if (port == 0) {
    return absl::UnavailableError(absl::StrCat(
        "can not listen on ", address->bind_host,
        "; check that it is an address of this host (netdev_name, ip_version, "
        "--service_address) and that ports are left"));
  }
  server_ = std::move(server);
  for (int i = 0; i < worker_count; ++i) {
    transports_.push_back(
        std::make_unique<GrpcTransport>(timer_, settings_.spin_ns));
  }
  server_->Start(transports_);
  return TargetOf(address->advertised_host, port);
}

absl::Status GrpcDriver::Connect(const std::vector<Peer>& peers,
                                 absl::Time deadline) {
  std::vector<std::vector<Channel>> channels(transports_.size());
  for (const Peer& peer : peers) {
    const auto plan = PlanChannel(peer, settings_.client);
    if (!plan.ok()) return plan.status();
    for (std::vector<Channel>& of_transport : channels) {
      of_transport.push_back(MakeChannel(plan->target, plan->arguments));
    }
  }
  const std::vector<Channel> probes = MakeProbes(peers, settings_.client);
  std::vector<const Channel*> all;
  for (const Channel& channel : probes) all.push_back(&channel);
  for (const std::vector<Channel>& of_transport : channels) {
    for (const Channel& channel : of_transport) all.push_back(&channel);
  }
  const absl::Status status = WaitForConnections(all, deadline);
  if (!status.ok()) return status;
  for (size_t i = 0; i < transports_.size(); ++i) {
    transports_[i]->SetChannels(std::move(channels[i]));
  }
  return absl::OkStatus();
}

void GrpcDriver::Shutdown() {
  if (server_ == nullptr || shut_down_) return;
  shut_down_ = true;
  server_->Shutdown(transports_.front()->queue());
  for (auto& transport : transports_) transport->BeginShutdown();
  for (auto& transport : transports_) transport->WaitUntilDrained();
  server_->WaitUntilStopped();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeGrpcDriver(
    const DriverOptions& options, const DriverEnvironment& environment) {
  absl::StatusOr<GrpcSettings> settings = ParseGrpcSettings(options);
  if (!settings.ok()) return settings.status();
  return std::make_unique<GrpcDriver>(
      *std::move(settings),
      AddressPreference{.netdev = options.netdev,
                        .ip_version = options.ip_version},
      environment.service_address);
}

}  // namespace distbench
