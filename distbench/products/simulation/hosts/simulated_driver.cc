// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/simulated_driver.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/object_pool.h"
#include "distbench/base/work_random.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// With this many unanswered calls, a peer's send queue counts as full.
constexpr int kMaxCallsOut = 1 << 17;

// What a turn costs that neither sends nor receives. Without it, an engine that
// is always busy would stop time.
constexpr double kIdleTurnNs = 100;

// Likewise, instances of one host that send each other messages without costs
// or delays.
constexpr double kLeastReceivingNs = 1;

// Messages that are received as one batch, at most: as the tcp driver does
// (max_batch).
constexpr int kMaxBatch = 64;

constexpr uint64_t kNoConnection = static_cast<uint64_t>(-1);

// The size of what tells a client that its connection is broken.
constexpr int64_t kResetBytes = 60;

constexpr char kGivenUp[] = "CANCELLED: the caller gave up";
constexpr char kTooLate[] = "DEADLINE_EXCEEDED: no answer in time";
constexpr char kReset[] = "UNAVAILABLE: the server has broken the connection";

// The serving_position of a call whose connection is broken.
constexpr size_t kNotServed = static_cast<size_t>(-1);

}  // namespace

// A call on its way between two transports. It belongs to the client's, which
// alone touches the client's fields. At any time one of both has the rest.
struct SimulatedCall final : protocol::ServerCall {
  SimulatedMessage message;  // the request, then the reply
  SimulatedWorker* client_worker = nullptr;
  std::string trace_bytes;  // the memory of trace_context
  std::string error;
  int64_t arrived_ns = 0;  // the request, at the server's host
  int64_t queue_ns = protocol::kNotReported;
  int64_t handler_ns = protocol::kNotReported;
  bool is_reply = false;
  size_t serving_position = 0;
  SimulatedCall* next = nullptr;  // among those that have arrived
  SimulatedMessage reset;  // tells the client that the connection is broken

  // The client's. `client` is null once the call has been given up; the reply
  // is then dropped.
  protocol::ClientCall* client = nullptr;
  bool has_reply = false;  // at the client's host, read or not
  int64_t generation = 0;
  size_t position = 0;
  int peer = 0;
};

namespace {

// Removes a call from a list in which each knows its position.
void Remove(size_t SimulatedCall::*position, SimulatedCall& call,
            std::vector<SimulatedCall*>& list) {
  list[call.*position] = list.back();
  list[call.*position]->*position = call.*position;
  list.pop_back();
}

}  // namespace

// A worker: its thread, and its transport.
//
// In its loop, every step but the turns takes CPU time:
//
//   idle ── something arrives ──▶ wakes up ──▶ receives one batch ──▶ a turn
//     ▲                                             ▲                    │
//     └── nothing left ── sends, one by one ◀───────┼────────────────────┘
//                              └── more arrived ────┘
//
// A batch is one message or, with a driver whose costs have batches, all that
// have arrived. A turn (Engine::RunOnce) takes no simulated time: what the
// engine sends in it is queued here, and leaves when its CPU time has passed.
// Messages on the same connection that follow each other share the costs of a
// batch.
class SimulatedWorker final : public protocol::Transport,
                              private SimulatedThread,
                              private SimulatedEventHandler {
 public:
  // The id is unique in the simulation. What `parts` points to must outlive
  // this.
  SimulatedWorker(const DriverParts& parts, int id);

  // Whose turns this runs. Before Run() of the simulator.
  void Attach(engine::Worker& worker) { worker_ = &worker; }

  // Adds a peer: with several servers, round_robin takes them in turn;
  // otherwise the first takes all.
  void AddPeer(const std::vector<SimulatedWorker*>& servers, bool round_robin);

  bool Start(protocol::ClientCall* call) override;
  void Reply(protocol::ServerCall* call) override;
  void Poll(int64_t deadline_ns, protocol::TransportEvents& events) override;
  void Wake() override;
  bool Cancel(protocol::ClientCall& call) override {
    // Null if it has ended already.
    auto* const active = static_cast<SimulatedCall*>(call.transport_state);
    if (active != nullptr) GiveUp(*active, kGivenUp);
    return true;
  }
  void CancelCalls() override {
    while (!active_.empty()) GiveUp(*active_.back(), kGivenUp);
  }
  int64_t BreakConnections() override;

 private:
  enum class Phase { kIdle, kWakingUp, kReceiving, kSending, kSent, kFrozen };
  enum EventKind { kArrived, kBroken, kDue, kAwake };

  struct Target {
    int first_server = 0;  // index into servers_
    int server_count = 1;
    int next = 0;  // with round robin
    int out = 0;   // calls that are not back, including those given up
    bool round_robin = false;
  };
  struct Deadline {
    int64_t due_ns;
    int64_t generation;
    SimulatedCall* call;
    bool operator>(const Deadline& other) const {
      return due_ns > other.due_ns;
    }
  };
  // A call that ends here.
  struct Ended {
    protocol::ClientCall* client;
    const char* error;
  };

  // SimulatedEventHandler and SimulatedThread
  void OnEvent(const SimulatedEvent& event) override;
  void OnCpuDone() override;

  void Accept(SimulatedCall& call);
  void BeginWork();
  void Proceed();
  bool NeedsTurn() const {
    return batch_ != nullptr || !ended_.empty() || next_due_ns() <= now_ns();
  }
  bool TakeTurn();
  void BeginReceiving();
  void BeginSending();
  void SendOut(SimulatedMessage& message);
  void Rest(Phase phase, int64_t due_ns);
  int64_t next_due_ns() const;
  int64_t now_ns() const { return parts_.simulator->now_ns(parts_.node); }

  void DeliverRequest(SimulatedCall& call, protocol::TransportEvents& events);
  void DeliverReply(SimulatedCall& call, protocol::TransportEvents& events);
  void DeliverEnded(protocol::TransportEvents& events);
  void ExpireDeadlines();
  void GiveUp(SimulatedCall& call, const char* error);

  const DriverParts parts_;
  const RpcCosts& costs_;
  const StackCosts& stack_;  // of costs_
  const int id_;
  base::WorkRandom random_;
  engine::Worker* worker_ = nullptr;  // once attached

  Phase phase_ = Phase::kIdle;
  SimulatedCall* first_arrived_ = nullptr;
  SimulatedCall* last_arrived_ = nullptr;
  SimulatedCall* batch_ = nullptr;     // is received, for the next turn
  std::vector<SimulatedCall*> sends_;  // of the last turn
  size_t next_send_ = 0;
  size_t send_end_ = 0;       // of those that are being sent
  uint64_t last_connection_;  // of those that have been sent
  double after_ns_ = 0;       // work left when the message has left
  Alarms alarms_;             // events of kind kDue

  std::vector<SimulatedWorker*> servers_;
  std::vector<Target> targets_;  // by peer
  base::ObjectPool<SimulatedCall> calls_;
  std::vector<SimulatedCall*> active_;   // those with a client
  std::vector<SimulatedCall*> serving_;  // those that the engine has
  std::vector<Ended> ended_;
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<Deadline>>
      deadlines_;
  int64_t connection_count_ = 0;  // of clients to this
};

SimulatedWorker::SimulatedWorker(const DriverParts& parts, int id)
    : SimulatedThread(*parts.used_ns),
      parts_(parts),
      costs_(*parts.costs),
      stack_(costs_.stack),
      id_(id),
      random_(parts.seed, id, /*part=*/2),
      last_connection_(kNoConnection) {}

void SimulatedWorker::AddPeer(const std::vector<SimulatedWorker*>& servers,
                              bool round_robin) {
  targets_.push_back({.first_server = static_cast<int>(servers_.size()),
                      .server_count = static_cast<int>(servers.size()),
                      .round_robin = round_robin});
  servers_.insert(servers_.end(), servers.begin(), servers.end());
  for (SimulatedWorker* server : servers) ++server->connection_count_;
}

// ---- The worker's loop ------------------------------------------------------

void SimulatedWorker::OnEvent(const SimulatedEvent& event) {
  switch (event.kind) {
    case kArrived:
      Accept(*static_cast<SimulatedCall*>(event.content));
      break;
    case kBroken: {
      SimulatedCall& call = *static_cast<SimulatedCall*>(event.content);
      if (call.client == nullptr || call.generation != event.value) return;
      GiveUp(call, kReset);
      if (phase_ == Phase::kIdle) BeginWork();
      break;
    }
    case kDue:
      alarms_.OnEvent();
      if (phase_ == Phase::kIdle && NeedsTurn()) {
        BeginWork();
      } else if (phase_ == Phase::kIdle || phase_ == Phase::kFrozen) {
        Proceed();
      }
      break;
    case kAwake:
      BeginWork();
      break;
  }
}

void SimulatedWorker::Accept(SimulatedCall& call) {
  call.next = nullptr;
  if (call.is_reply) {
    call.has_reply = true;
  } else {
    call.arrived_ns = now_ns();
  }
  (first_arrived_ == nullptr ? first_arrived_ : last_arrived_->next) = &call;
  last_arrived_ = &call;
  if (phase_ != Phase::kIdle) return;
  const double delay_ns = parts_.cpus->has_idle_cpu()
                              ? stack_.wakeup_ns() * parts_.cpus->slowness()
                              : 0;
  // What arrives at the same time shares a batch, also without a wake-up.
  if (delay_ns <= 0 && !costs_.has_batches) {
    BeginWork();
    return;
  }
  phase_ = Phase::kWakingUp;
  parts_.simulator->Schedule(parts_.node, parts_.node,
                             now_ns() + std::llround(delay_ns), *this,
                             {.kind = kAwake});
}

// Wakes up. What arrives meanwhile is received together with what has arrived.
// Even if that costs nothing, it needs a CPU: on a host that is busy or stalls,
// timers are late.
void SimulatedWorker::BeginWork() {
  phase_ = Phase::kWakingUp;
  parts_.cpus->Submit(*this,
                      stack_.wakeup_cpu_ns() * costs_.variation.Draw(random_));
}

void SimulatedWorker::OnCpuDone() {
  if (phase_ == Phase::kSending && next_send_ < sends_.size()) {
    while (next_send_ < send_end_) SendOut(sends_[next_send_++]->message);
    if (after_ns_ > 0) {
      phase_ = Phase::kSent;
      parts_.cpus->Submit(*this, std::exchange(after_ns_, 0));
      return;
    }
  }
  Proceed();
}

// Begins what comes next.
void SimulatedWorker::Proceed() {
  while (true) {
    if (worker_->is_frozen()) {
      Rest(Phase::kFrozen, worker_->next_due_ns());
      return;
    }
    if (next_send_ < sends_.size()) {
      BeginSending();
      return;
    }
    sends_.clear();
    next_send_ = 0;
    last_connection_ = kNoConnection;
    if (NeedsTurn()) {
      if (TakeTurn()) continue;
      phase_ = Phase::kSending;
      parts_.cpus->Submit(*this, kIdleTurnNs);
      return;
    }
    if (first_arrived_ != nullptr) {
      BeginReceiving();
      return;
    }
    Rest(Phase::kIdle, next_due_ns());
    return;
  }
}

// Returns whether the turn has been paid for, or is going to be.
bool SimulatedWorker::TakeTurn() {
  const bool has_received = batch_ != nullptr;
  worker_->RunOnce();
  return has_received || !sends_.empty();
}

void SimulatedWorker::BeginReceiving() {
  phase_ = Phase::kReceiving;
  batch_ = first_arrived_;
  const int most = costs_.has_batches ? kMaxBatch : 1;
  uint64_t connection = kNoConnection;
  double work_ns = 0;
  SimulatedCall* last = nullptr;
  for (int i = 0; i < most && first_arrived_ != nullptr; ++i) {
    last = first_arrived_;
    first_arrived_ = last->next;
    const StackCosts::Cost& cost =
        last->is_reply ? stack_.client_receive() : stack_.server_receive();
    const double own_ns = WorkNs(cost, last->message.bytes);
    const bool shares = last->message.connection == connection;
    connection = last->message.connection;
    work_ns += (own_ns + (shares ? 0 : cost.batch_ns())) *
               costs_.variation.Draw(random_);
  }
  last->next = nullptr;
  parts_.cpus->Submit(*this, std::max(work_ns, kLeastReceivingNs));
}

// Messages whose own costs are less than those of a batch leave together, as
// those that a driver gathers into one write.
void SimulatedWorker::BeginSending() {
  phase_ = Phase::kSending;
  const SimulatedCall& first = *sends_[next_send_];
  const uint64_t connection = first.message.connection;
  const StackCosts::Cost& cost =
      first.is_reply ? stack_.server_send() : stack_.client_send();
  const double batch_ns = connection == last_connection_ ? 0 : cost.batch_ns();
  last_connection_ = connection;
  double own_ns = 0;
  double work_ns = 0;
  for (send_end_ = next_send_; send_end_ < sends_.size(); ++send_end_) {
    SimulatedCall& call = *sends_[send_end_];
    const double next_ns = WorkNs(cost, call.message.bytes);
    const bool is_first = send_end_ == next_send_;
    if (!is_first && (call.message.connection != connection ||
                      own_ns + next_ns > cost.batch_ns())) {
      break;
    }
    own_ns += next_ns;
    work_ns +=
        (next_ns + (is_first ? batch_ns : 0)) * costs_.variation.Draw(random_);
    if (!call.is_reply && call.client != nullptr) {
      call.client->sent_ns = now_ns();
    }
  }
  after_ns_ = std::min(cost.after_ns(), work_ns);
  parts_.cpus->Submit(*this, work_ns - after_ns_);
}

void SimulatedWorker::SendOut(SimulatedMessage& message) {
  if (message.to_host != parts_.node) {
    parts_.network->Send(message);
  } else {
    parts_.simulator->Schedule(parts_.node, parts_.node,
                               now_ns() + stack_.same_host_delay_ns(),
                               *message.receiver, message.arrival);
  }
}

void SimulatedWorker::Rest(Phase phase, int64_t due_ns) {
  phase_ = phase;
  if (due_ns == kNever) return;
  due_ns = std::max(due_ns, now_ns());
  if (!alarms_.Add(due_ns)) return;
  parts_.simulator->Schedule(parts_.node, parts_.node, due_ns, *this,
                             {.kind = kDue});
}

int64_t SimulatedWorker::next_due_ns() const {
  const int64_t due_ns = worker_->next_due_ns();
  return deadlines_.empty() ? due_ns
                            : std::min(due_ns, deadlines_.top().due_ns);
}

void SimulatedWorker::Wake() {
  if (worker_ == nullptr) return;
  // Nothing but a stop ends a freeze early.
  if (phase_ == Phase::kIdle || phase_ == Phase::kFrozen) {
    Rest(phase_, now_ns());
  }
}

// ---- Calls ------------------------------------------------------------------

bool SimulatedWorker::Start(protocol::ClientCall* client) {
  Target& target = targets_[client->peer];
  if (target.out == kMaxCallsOut) return false;
  ++target.out;
  SimulatedWorker& server = *servers_[target.first_server + target.next];
  if (target.round_robin) target.next = (target.next + 1) % target.server_count;
  client->sent_bytes =
      payload::LayOutMessage(protocol::HeaderOf(*client), client->request_bytes)
          .total_bytes();
  client->sent_ns = now_ns();
  SimulatedCall& call = *calls_.Get();
  call.client_worker = this;
  call.message = {
      .from_host = parts_.node,
      .to_host = server.parts_.node,
      .bytes = client->sent_bytes,
      .connection = (uint64_t{static_cast<uint32_t>(id_)} << 32) |
                    static_cast<uint32_t>(server.id_),
      .receiver = &server,
      .arrival = {.kind = kArrived, .content = &call},
  };
  call.is_reply = false;
  call.error.clear();
  call.trace_bytes.assign(client->trace_context.data(),
                          client->trace_context.size());
  static_cast<protocol::ServerCall&>(call) = {
      .rpc_index = client->rpc_index,
      .server_instance = client->server_instance,
      .warmup = client->warmup,
      .request_bytes = client->sent_bytes,
      .response_bytes = client->response_bytes,
      .processing_ns = client->processing_ns,
      .trace_context = call.trace_bytes,
      .reply_instance = protocol::kNoInstance};
  call.peer = client->peer;
  call.client = client;
  call.has_reply = false;
  call.generation += 1;
  call.position = active_.size();
  active_.push_back(&call);
  client->transport_state = &call;
  if (client->deadline_ns != 0) {
    deadlines_.push({client->deadline_ns, call.generation, &call});
  }
  sends_.push_back(&call);
  return true;
}

void SimulatedWorker::Reply(protocol::ServerCall* server) {
  auto& call = static_cast<SimulatedCall&>(*server);
  if (call.serving_position != kNotServed) {
    Remove(&SimulatedCall::serving_position, call, serving_);
  }
  call.error.assign(server->reply_error.data(), server->reply_error.size());
  if (parts_.measures_time_parts) {
    call.queue_ns = server->begun_ns - call.arrived_ns;
    call.handler_ns = now_ns() - server->begun_ns;
  }
  const payload::ResponseHeader header = {
      .server_instance = server->reply_instance, .error_message = call.error};
  SimulatedMessage& reply = call.message;
  std::swap(reply.from_host, reply.to_host);
  reply.bytes =
      payload::LayOutMessage(header, server->reply_bytes).total_bytes();
  reply.receiver = call.client_worker;
  call.is_reply = true;
  sends_.push_back(&call);
}

void SimulatedWorker::Poll(int64_t /*deadline_ns*/,
                           protocol::TransportEvents& events) {
  ExpireDeadlines();
  DeliverEnded(events);
  SimulatedCall* next = std::exchange(batch_, nullptr);
  while (next != nullptr) {
    SimulatedCall& call = *std::exchange(next, next->next);
    if (call.is_reply) {
      DeliverReply(call, events);
    } else {
      DeliverRequest(call, events);
    }
  }
}

void SimulatedWorker::DeliverRequest(SimulatedCall& call,
                                     protocol::TransportEvents& events) {
  call.serving_position = serving_.size();
  serving_.push_back(&call);
  call.received_ns = now_ns();
  events.OnRequest(&call);
}

void SimulatedWorker::DeliverReply(SimulatedCall& call,
                                   protocol::TransportEvents& events) {
  --targets_[call.peer].out;
  protocol::ClientCall* const client = std::exchange(call.client, nullptr);
  if (client != nullptr) {
    Remove(&SimulatedCall::position, call, active_);
    client->transport_state = nullptr;
    client->done_ns = now_ns();
    client->received_bytes = call.message.bytes;
    client->responding_instance = call.reply_instance;
    client->error = call.error;
    if (parts_.measures_time_parts) {
      client->server_queue_ns = call.queue_ns;
      client->server_handler_ns = call.handler_ns;
    }
    events.OnDone(client);
  }
  calls_.Put(&call);
}

void SimulatedWorker::DeliverEnded(protocol::TransportEvents& events) {
  for (const auto& [client, error] : std::exchange(ended_, {})) {
    client->done_ns = now_ns();
    client->received_bytes = 0;
    client->responding_instance = protocol::kNoInstance;
    client->error = error;
    events.OnDone(client);
  }
}

// Also forgets the first deadlines if their calls have ended. A worker that has
// stood still does not blame the server for an answer that it has not read yet.
void SimulatedWorker::ExpireDeadlines() {
  while (!deadlines_.empty()) {
    const auto [due_ns, generation, call] = deadlines_.top();
    const bool awaits = call->client != nullptr && !call->has_reply &&
                        call->generation == generation;
    if (awaits && due_ns > now_ns()) return;
    deadlines_.pop();
    if (awaits) GiveUp(*call, kTooLate);
  }
}

// Ends the call for its client. It comes back with the reply.
void SimulatedWorker::GiveUp(SimulatedCall& call, const char* error) {
  Remove(&SimulatedCall::position, call, active_);
  call.client->transport_state = nullptr;
  ended_.push_back({std::exchange(call.client, nullptr), error});
}

// Clients learn of it when the reset arrives. Requests that are still on their
// way, or in the queue of what has arrived, are served as over new connections.
int64_t SimulatedWorker::BreakConnections() {
  for (SimulatedCall* call : serving_) {
    call->serving_position = kNotServed;
    SimulatedWorker& client = *call->client_worker;
    call->reset = {
        .from_host = parts_.node,
        .to_host = client.parts_.node,
        .bytes = kResetBytes,
        .connection = call->message.connection,
        .receiver = &client,
        .arrival = {
            .kind = kBroken, .value = call->generation, .content = call}};
    SendOut(call->reset);
  }
  serving_.clear();
  return connection_count_;
}

// ---- The driver -------------------------------------------------------------

SimulatedDriver::SimulatedDriver(const DriverParts& parts) : parts_(parts) {}

SimulatedDriver::~SimulatedDriver() = default;

protocol::Transport& SimulatedDriver::transport(int worker) {
  return *workers_[worker];
}

void SimulatedDriver::Attach(engine::Engine& engine) {
  for (size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->Attach(engine.worker(static_cast<int>(i)));
  }
}

absl::StatusOr<std::string> SimulatedDriver::Listen(int worker_count) {
  SimulatedDirectory& directory = *parts_.directory;
  id_of_first_ = directory.worker_count;
  directory.worker_count += worker_count;
  for (int i = 0; i < worker_count; ++i) {
    workers_.push_back(
        std::make_unique<SimulatedWorker>(parts_, id_of_first_ + i));
  }
  std::string address = absl::StrCat("simulated:", directory.drivers.size());
  directory.drivers[address] = this;
  return address;
}

// Clients spread over the workers of a server.
absl::Status SimulatedDriver::Connect(const std::vector<protocol::Peer>& peers,
                                      absl::Time /*deadline*/) {
  for (const protocol::Peer& peer : peers) {
    for (size_t i = 0; i < workers_.size(); ++i) {
      std::vector<SimulatedWorker*> servers;
      for (const std::string& address : peer.addresses) {
        const auto& all = parts_.directory->drivers.at(address)->workers_;
        servers.push_back(all[(id_of_first_ + i) % all.size()].get());
      }
      workers_[i]->AddPeer(servers, peer.policy == config::kRoundRobinPolicy);
    }
  }
  return absl::OkStatus();
}

}  // namespace distbench::simulation
