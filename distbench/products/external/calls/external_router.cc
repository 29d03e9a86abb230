// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_router.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/threads.h"
#include "distbench/products/external/calls/external_channel.h"
#include "distbench/products/external/calls/external_client.h"
#include "distbench/products/external/requests/descriptors.h"
#include "distbench/products/external/requests/message_source.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/streams.h"

namespace distbench::external {
namespace {

// A server that is not there is noticed at once, and is rarely just starting.
constexpr absl::Duration kRefusalPatience = absl::Seconds(3);

absl::Status InCall(const ExternalCall& call, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("the external call of ", call.method, ": ",
                                   status.message()));
}

// The peers of a driver, by the part that they belong to.
struct PeerTable {
  struct Place {
    bool is_external = false;
    int index = 0;  // among the peers of that part
  };

  std::vector<Place> places;  // by peer
  std::vector<int> inner;     // the peers of the inner driver
};

// The streams of both parts, whose events go to the worker directly. The peer
// of a call stays what the worker knows, but while the inner transport opens
// it.
class RoutedStreams final : public protocol::StreamTransport {
 public:
  // The inner transport may have none; it then has no calls that stream either.
  RoutedStreams(protocol::StreamTransport* inner, const PeerTable& peers)
      : inner_(inner), peers_(peers) {}

  void SetExternal(ExternalStreams& external) { external_ = &external; }
  bool any() const { return inner_ != nullptr || external_ != nullptr; }

  void Open(protocol::ClientCall* call) override {
    const int index = peers_.places[call->peer].index;
    if (IsExternal(*call)) return external_->Open(*call, index);
    const int peer = std::exchange(call->peer, index);
    inner_->Open(call);
    call->peer = peer;
  }
  int64_t Write(protocol::ClientCall& call, int64_t bytes, bool last) override {
    return IsExternal(call) ? external_->Write(call, bytes, last)
                            : inner_->Write(call, bytes, last);
  }
  void CancelStream(protocol::ClientCall& call) override {
    if (IsExternal(call)) return external_->Cancel(call);
    inner_->CancelStream(call);
  }
  int64_t Write(protocol::ServerCall& call, int64_t bytes) override {
    return inner_->Write(call, bytes);
  }
  void Finish(protocol::ServerCall* call, int64_t last_message_bytes,
              int64_t blocked_ns) override {
    inner_->Finish(call, last_message_bytes, blocked_ns);
  }

 private:
  bool IsExternal(const protocol::ClientCall& call) const {
    return peers_.places[call.peer].is_external;
  }

  protocol::StreamTransport* const inner_;
  ExternalStreams* external_ = nullptr;  // none without external peers
  const PeerTable& peers_;
};

// Polls the inner transport. The ends of external calls reach the worker in its
// turns. If they come on a thread of the client's, it runs a turn itself if the
// inner transport lets it, and otherwise wakes the worker.
class RoutedTransport final : public protocol::Transport,
                              private protocol::TransportEvents {
 public:
  explicit RoutedTransport(protocol::Transport& inner)
      : inner_(inner), streams_(inner.streams(), peers_) {}

  // For the driver, while the transport is not polled.
  void SetPeers(PeerTable peers) { peers_ = std::move(peers); }
  void SetClient(std::unique_ptr<ExternalClient> client) {
    client_ = std::move(client);
    streams_.SetExternal(client_->streams());
  }
  // May be called while the transport is polled.
  void BeginShutdown() {
    shutting_down_.store(true, std::memory_order_release);
    inner_.Wake();
  }
  void WaitUntilDrained() { drained_.WaitForNotification(); }
  int64_t held_back() const { return client_ ? client_->held_back() : 0; }

  bool Start(protocol::ClientCall* call) override {
    const int peer = call->peer;
    const PeerTable::Place& place = peers_.places[peer];
    call->peer = place.index;
    if (!place.is_external) {
      if (inner_.Start(call)) return true;
      call->peer = peer;
      return false;
    }
    const bool started = client_->Start(call);
    call->peer = started ? ExternalMark(peer) : peer;
    return started;
  }

  void Reply(protocol::ServerCall* call) override { inner_.Reply(call); }

  void Poll(int64_t deadline_ns, protocol::TransportEvents& events) override {
    events_ = &events;
    if (client_ == nullptr) {
      NoticeShutdown();
      return inner_.Poll(deadline_ns, *this);
    }
    const bool delivered = DeliverExternal();
    // What was delivered may have changed what the worker waits for.
    const int64_t until_ns = delivered || client_->has_events()
                                 ? 0
                                 : std::min(deadline_ns, client_->retry_ns());
    inner_.Poll(until_ns, *this);
    DeliverExternal();
    client_->ForgetRetry();
  }

  bool Cancel(protocol::ClientCall& call) override {
    if (!IsMarkedExternal(call)) return inner_.Cancel(call);
    client_->Cancel(call);
    return true;
  }
  int64_t BreakConnections() override { return inner_.BreakConnections(); }

  void Wake() override { inner_.Wake(); }
  void RunTurnOrWake() override { inner_.RunTurnOrWake(); }

  void CancelCalls() override {
    if (client_ != nullptr) client_->CancelAll();
    inner_.CancelCalls();
  }

  protocol::StreamTransport* streams() override {
    return streams_.any() ? &streams_ : nullptr;
  }

 private:
  // While a call is in flight, its peer says which part has it: of an external
  // call it is negative, of another one the inner driver's.
  static int ExternalMark(int peer) { return -1 - peer; }
  static bool IsMarkedExternal(const protocol::ClientCall& call) {
    return call.peer < 0;
  }

  // TransportEvents of both parts.
  void OnDone(protocol::ClientCall* call) override {
    call->peer = IsMarkedExternal(*call) ? ExternalMark(call->peer)
                                         : peers_.inner[call->peer];
    events_->OnDone(call);
  }
  void OnRequest(protocol::ServerCall* call) override {
    events_->OnRequest(call);
  }
  protocol::StreamEvents* stream_events() override {
    return events_->stream_events();
  }
  bool LendsTurns() const override { return events_->LendsTurns(); }
  int64_t EndBorrowedTurn() override {
    if (client_ == nullptr) return events_->EndBorrowedTurn();
    DeliverExternal();
    const int64_t deadline_ns = events_->EndBorrowedTurn();
    // The worker itself does what is left.
    if (client_->has_events()) return 0;
    return std::min(deadline_ns, client_->retry_ns());
  }

  bool DeliverExternal() {
    NoticeShutdown();
    const bool delivered = client_->Deliver(*this);
    NoticeDrained();
    return delivered;
  }

  void NoticeShutdown() {
    if (closed_ || !shutting_down_.load(std::memory_order_acquire)) return;
    closed_ = true;
    if (client_ != nullptr) client_->Close();
    NoticeDrained();
  }

  void NoticeDrained() {
    const bool idle = client_ == nullptr || client_->is_idle();
    if (closed_ && idle && !drained_.HasBeenNotified()) drained_.Notify();
  }

  protocol::Transport& inner_;
  PeerTable peers_;
  RoutedStreams streams_;
  std::unique_ptr<ExternalClient> client_;       // null without external peers
  protocol::TransportEvents* events_ = nullptr;  // during Poll()
  std::atomic<bool> shutting_down_ = false;
  bool closed_ = false;
  absl::Notification drained_;
};

class ExternalRouter final : public protocol::ProtocolDriver {
 public:
  ExternalRouter(std::unique_ptr<protocol::ProtocolDriver> inner,
                 ExternalCalls calls)
      : calls_(std::move(calls)), inner_(std::move(inner)) {}

  absl::StatusOr<std::string> Listen(int worker_count) override;

  protocol::Transport& transport(int worker) override {
    return *transports_[worker];
  }

  absl::Status Connect(const std::vector<protocol::Peer>& peers,
                       absl::Time deadline) override;

  void AbortConnect() override {
    connect_aborted_ = true;
    inner_->AbortConnect();
  }

  void Shutdown() override;

  std::vector<protocol::DriverCounter> Counters() const override;

  std::vector<protocol::ConnectionReadings> NetworkReadings() const override {
    return inner_->NetworkReadings();
  }

 private:
  absl::Status ConnectExternal(const std::vector<protocol::Peer>& peers,
                               absl::Time deadline);
  absl::Status ExplainByTls(const absl::Status& status) const;
  absl::Status FindDescriptors(const std::vector<protocol::Peer>& peers,
                               absl::Time deadline);
  absl::StatusOr<std::string> AskServersOf(
      const ExternalCall& call, const std::vector<protocol::Peer>& peers,
      absl::Time deadline) const;
  absl::Status ParseAllDescriptors();
  absl::StatusOr<RequestMakers> MakeMakers();
  absl::StatusOr<std::unique_ptr<ExternalClient>> MakeClient(
      protocol::Transport& inner, std::vector<ExternalPeer> peers,
      RequestMakers makers);
  absl::StatusOr<ExternalPeer> MakePeer(const protocol::Peer& peer);
  std::vector<RateLimiter*> LimitersOf(const protocol::Peer& peer);

  const protocol::GrpcLibrary library_;
  ExternalCalls calls_;
  std::map<int, std::shared_ptr<const Descriptors>> descriptors_;  // by RPC
  std::map<int, std::atomic<int64_t>> next_numbers_;               // by RPC
  std::map<std::string, RateLimiter> limiters_;                    // by address
  MessageCounts counts_;
  std::atomic<bool> connect_aborted_ = false;
  bool listening_ = false;  // and not shut down
  std::unique_ptr<protocol::WakeTimer> timer_;  // if clients have threads
  const std::unique_ptr<protocol::ProtocolDriver> inner_;
  std::vector<std::unique_ptr<RoutedTransport>> transports_;
};

absl::StatusOr<std::string> ExternalRouter::Listen(int worker_count) {
  absl::StatusOr<std::string> address = inner_->Listen(worker_count);
  if (!address.ok()) return address;
  for (int i = 0; i < worker_count; ++i) {
    transports_.push_back(
        std::make_unique<RoutedTransport>(inner_->transport(i)));
  }
  listening_ = true;
  return address;
}

absl::Status ExternalRouter::Connect(const std::vector<protocol::Peer>& peers,
                                     absl::Time deadline) {
  PeerTable table;
  std::vector<protocol::Peer> inner_peers;
  std::vector<protocol::Peer> external_peers;
  for (size_t i = 0; i < peers.size(); ++i) {
    const bool is_external = IsExternal(peers[i]);
    std::vector<protocol::Peer>& part =
        is_external ? external_peers : inner_peers;
    table.places.push_back({is_external, static_cast<int>(part.size())});
    if (!is_external) table.inner.push_back(static_cast<int>(i));
    part.push_back(peers[i]);
  }
  for (const auto& transport : transports_) transport->SetPeers(table);
  if (!external_peers.empty()) {
    absl::Status connected = ConnectExternal(external_peers, deadline);
    if (!connected.ok()) return connected;
  }
  return inner_->Connect(inner_peers, deadline);
}

absl::Status ExternalRouter::ConnectExternal(
    const std::vector<protocol::Peer>& peers, absl::Time deadline) {
  std::vector<std::vector<ExternalPeer>> of_transports(transports_.size());
  // See MakeProbes() of the driver grpc. A server whose certificate has another
  // name than the first one's must not pass: calls would never reach it.
  std::vector<protocol::Channel> probes;
  for (const protocol::Peer& peer : peers) {
    const size_t servers = HostPortsOf(peer, calls_).size();
    for (size_t i = 0; i < servers; ++i) {
      absl::StatusOr<protocol::Channel> probe =
          MakeExternalChannel(peer, calls_, ChannelUse::kProbe, i);
      if (!probe.ok()) return probe.status();
      probes.push_back(*std::move(probe));
    }
    for (std::vector<ExternalPeer>& of_transport : of_transports) {
      absl::StatusOr<ExternalPeer> made = MakePeer(peer);
      if (!made.ok()) return made.status();
      of_transport.push_back(*std::move(made));
    }
  }
  std::vector<const protocol::Channel*> all;
  for (const protocol::Channel& probe : probes) all.push_back(&probe);
  for (const std::vector<ExternalPeer>& of_transport : of_transports) {
    for (const ExternalPeer& peer : of_transport) {
      for (const auto& channel : peer.channels()) all.push_back(&channel);
    }
  }
  absl::Status status = protocol::WaitForConnections(
      all, deadline, connect_aborted_, kRefusalPatience);
  if (!status.ok()) return ExplainByTls(status);
  status = FindDescriptors(peers, deadline);
  if (!status.ok()) return status;
  status = ParseAllDescriptors();
  if (!status.ok()) return status;
  try {
    for (size_t i = 0; i < transports_.size(); ++i) {
      absl::StatusOr<RequestMakers> makers = MakeMakers();
      if (!makers.ok()) return makers.status();
      absl::StatusOr<std::unique_ptr<ExternalClient>> client =
          MakeClient(inner_->transport(static_cast<int>(i)),
                     std::move(of_transports[i]), *std::move(makers));
      if (!client.ok()) return client.status();
      transports_[i]->SetClient(*std::move(client));
    }
  } catch (const std::system_error& error) {
    return base::NoThreadError("the client of external servers", error);
  }
  return absl::OkStatus();
}

// Throws std::system_error if its thread cannot be started.
absl::StatusOr<std::unique_ptr<ExternalClient>> ExternalRouter::MakeClient(
    protocol::Transport& inner, std::vector<ExternalPeer> peers,
    RequestMakers makers) {
  if (protocol::EventQueue* const queue = inner.grpc_queue()) {
    return std::make_unique<ExternalClient>(*queue, std::move(peers),
                                            std::move(makers), counts_);
  }
  if (timer_ == nullptr) {
    absl::StatusOr<std::unique_ptr<protocol::WakeTimer>> timer =
        protocol::WakeTimer::Make();
    if (!timer.ok()) return timer.status();
    timer_ = *std::move(timer);
  }
  auto alarm = timer_->NewAlarm();
  if (!alarm.ok()) return alarm.status();
  return std::make_unique<ExternalClient>(
      std::make_unique<PollingThread>(*std::move(alarm),
                                      [&inner] { inner.RunTurnOrWake(); }),
      std::move(peers), std::move(makers), counts_);
}

// Adds what else can be wrong with TLS.
absl::Status ExternalRouter::ExplainByTls(const absl::Status& status) const {
  for (const auto& [address, server] : calls_.servers) {
    if (!server.uses_tls) continue;
    // The server does not say why it ended the handshake.
    const absl::string_view of_client =
        server.client_certificates.empty()
            ? "; if it asks for a certificate of its clients, give "
              "client_certificate_file"
            : ", and that it trusts the client's certificate";
    if (server.skips_verification) {
      return absl::Status(
          status.code(),
          absl::StrCat(status.message(), "; check that the server uses TLS",
                       of_client));
    }
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(),
                     "; of a server with TLS, check also that its certificate "
                     "is signed by the CA and has the server's name; all "
                     "addresses of a service need one name: set server_name, "
                     "or make a service of each",
                     of_client));
  }
  return status;
}

// Fills in the descriptors of calls that have none.
absl::Status ExternalRouter::FindDescriptors(
    const std::vector<protocol::Peer>& peers, absl::Time deadline) {
  for (auto& [rpc, call] : calls_.calls) {
    if (!call.descriptors.empty() || !NeedsDescriptors(call)) continue;
    absl::StatusOr<std::string> found = AskServersOf(call, peers, deadline);
    if (!found.ok()) return found.status();
    call.descriptors = *std::move(found);
  }
  return absl::OkStatus();
}

// Returns the last error.
absl::StatusOr<std::string> ExternalRouter::AskServersOf(
    const ExternalCall& call, const std::vector<protocol::Peer>& peers,
    absl::Time deadline) const {
  absl::StatusOr<std::string> answer = absl::NotFoundError(absl::StrCat(
      "nothing here calls the servers of ", call.method, " to ask them"));
  for (const protocol::Peer& peer : peers) {
    if (!call.servers.empty() && TargetsOf(peer) != call.servers) continue;
    if (connect_aborted_) {
      return absl::CancelledError("connecting was aborted");
    }
    absl::StatusOr<protocol::Channel> channel =
        MakeExternalChannel(peer, calls_, ChannelUse::kReflection);
    if (!channel.ok()) return channel.status();
    answer = AskForDescriptors(*std::move(channel), call.method, deadline,
                               connect_aborted_);
    if (answer.ok()) break;
  }
  return answer;
}

// All workers, and RPCs of the same files, share their types.
absl::Status ExternalRouter::ParseAllDescriptors() {
  std::map<absl::string_view, std::shared_ptr<const Descriptors>> parsed;
  for (const auto& [rpc, call] : calls_.calls) {
    if (call.descriptors.empty()) continue;  // it needs none
    std::shared_ptr<const Descriptors>& types = parsed[call.descriptors];
    if (types == nullptr) {
      auto made = ParseDescriptors(call);
      if (!made.ok()) return InCall(call, made.status());
      types = *std::move(made);
    }
    descriptors_[rpc] = types;
  }
  return absl::OkStatus();
}

// Makes those of a worker.
absl::StatusOr<RequestMakers> ExternalRouter::MakeMakers() {
  RequestMakers makers;
  const auto instance = static_cast<uint64_t>(calls_.instance_number);
  for (const auto& [rpc, call] : calls_.calls) {
    auto source = MessageSource::Make(
        call, descriptors_[rpc],
        {.seed = calls_.seed ^ static_cast<uint64_t>(rpc) << 32 ^ instance,
         .instance = calls_.instance_name,
         .first_row = calls_.instance_number,
         .next_number = &next_numbers_[rpc]});
    if (!source.ok()) return InCall(call, source.status());
    makers[rpc] =
        std::make_unique<RequestMaker>(call, *std::move(source), counts_);
  }
  return makers;
}

absl::StatusOr<ExternalPeer> ExternalRouter::MakePeer(
    const protocol::Peer& peer) {
  const ExternalServer server = ServerOf(peer, calls_);
  std::vector<protocol::Channel> channels;
  for (int i = 0; i < server.connections; ++i) {
    absl::StatusOr<protocol::Channel> channel =
        MakeExternalChannel(peer, calls_, ChannelUse::kTraffic);
    if (!channel.ok()) return channel.status();
    channels.push_back(*std::move(channel));
  }
  return ExternalPeer(std::move(channels), LimitersOf(peer), server);
}

// gRPC does not tell which of several servers gets a call. So a call counts for
// each of them, and none gets more than its rate.
std::vector<RateLimiter*> ExternalRouter::LimitersOf(
    const protocol::Peer& peer) {
  std::vector<RateLimiter*> limiters;
  const auto add = [&](const std::string& address, double max_rate) {
    if (max_rate <= 0) return;
    RateLimiter& limiter =
        limiters_.try_emplace(address, max_rate).first->second;
    if (!absl::c_linear_search(limiters, &limiter)) {
      limiters.push_back(&limiter);
    }
  };
  for (const std::string& target : TargetsOf(peer)) {
    const auto server = calls_.servers.find(target);
    if (server == calls_.servers.end()) continue;
    add(target, server->second.max_rate);
    for (const auto& [address, rate] : server->second.pinned) {
      add(address, rate);
    }
  }
  return limiters;
}

void ExternalRouter::Shutdown() {
  if (!listening_) return;
  listening_ = false;
  for (const auto& transport : transports_) transport->BeginShutdown();
  for (const auto& transport : transports_) transport->WaitUntilDrained();
  inner_->Shutdown();
}

std::vector<protocol::DriverCounter> ExternalRouter::Counters() const {
  std::vector<protocol::DriverCounter> counters = inner_->Counters();
  int64_t held_back = 0;
  for (const auto& transport : transports_) held_back += transport->held_back();
  counters.push_back({"held_back_by_rate", held_back});
  const auto add = [&counters](const char* name, int64_t count) {
    if (count > 0) counters.push_back({name, count});
  };
  add(kTooLongResponses, counts_.too_long_responses);
  add(kRequestBytes, counts_.request_bytes);
  add(kCompressedRequestBytes, counts_.compressed_request_bytes);
  add(kResponseBytes, counts_.response_bytes);
  add(kCompressedResponseBytes, counts_.compressed_response_bytes);
  return counters;
}

}  // namespace

std::unique_ptr<protocol::ProtocolDriver> MakeExternalRouter(
    std::unique_ptr<protocol::ProtocolDriver> inner, ExternalCalls calls) {
  return std::make_unique<ExternalRouter>(std::move(inner), std::move(calls));
}

}  // namespace distbench::external
