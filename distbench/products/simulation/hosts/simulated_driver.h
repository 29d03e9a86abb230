// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The protocol driver of engines on simulated hosts, and its workers: their
// threads, and their transports.
//
// A worker's loop, in which every step but the turns takes CPU time:
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

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "distbench/base/object_pool.h"
#include "distbench/base/work_random.h"
#include "distbench/engine/engine.h"
#include "distbench/products/simulation/hosts/costs.h"
#include "distbench/products/simulation/hosts/cpus.h"
#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/protocol/driver.h"

namespace distbench::simulation {

class SimulatedDirectory;
class SimulatedWorker;

// What the workers of an instance have in common.
struct DriverParts {
  Simulator* simulator;
  SimulatedNetwork* network;
  SimulatedCpus* cpus;  // of the instance's host
  int node;             // the host
  SimulatedDirectory* directory;
  const RpcCosts* costs;
  double* used_ns;  // the CPU time of all workers is added to it
  uint64_t seed = 0;
  bool measures_time_parts = false;
};

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

class SimulatedWorker final : public protocol::Transport,
                              private SimulatedThread,
                              private SimulatedEventHandler {
 public:
  // The id is unique in the simulation. What `parts` points to must outlive
  // this.
  SimulatedWorker(const DriverParts& parts, int id);

  // The engine whose turns this runs, and which of its workers. Before Run() of
  // the simulator.
  void Attach(engine::Engine& engine, int worker);

  // Adds a peer: with several servers, round_robin takes them in turn;
  // otherwise the first takes all.
  void AddPeer(const std::vector<SimulatedWorker*>& servers, bool round_robin);

  bool Start(protocol::ClientCall* call) override;
  void Reply(protocol::ServerCall* call) override;
  void Poll(int64_t deadline_ns, protocol::TransportEvents& events) override;
  void Wake() override;
  bool Cancel(protocol::ClientCall& call) override;
  void CancelCalls() override;
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
  bool NeedsTurn(int64_t now_ns) const;
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
  SimulatedWorker& Choose(Target& target);

  const DriverParts parts_;
  const RpcCosts& costs_;
  const StackCosts& stack_;  // of costs_
  const int id_;
  base::WorkRandom random_;
  engine::Worker* worker_ = nullptr;  // once attached

  Phase phase_ = Phase::kIdle;
  SimulatedCall* first_arrived_ = nullptr;
  SimulatedCall* last_arrived_ = nullptr;
  SimulatedCall* receiving_ = nullptr;  // a batch
  SimulatedCall* received_ = nullptr;   // a batch for the next turn
  std::vector<SimulatedCall*> sends_;   // of the last turn
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
  std::vector<Ended> delivering_;  // keeps its memory
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<Deadline>>
      deadlines_;
  int64_t connection_count_ = 0;  // of clients to this
};

// The protocol driver of engines on simulated hosts. It stands for any of the
// real drivers: StackCosts say which.

class SimulatedDriver;

// The drivers of a simulation, by address, so that they find each other.
// Addresses are not reused. One thread at a time.
class SimulatedDirectory {
 public:
  std::string Add(SimulatedDriver& driver);
  SimulatedDriver* Find(const std::string& address) const;  // null: none
  int NextTransportId() { return next_transport_id_++; }

 private:
  absl::flat_hash_map<std::string, SimulatedDriver*> drivers_;
  int next_transport_id_ = 0;
};

class SimulatedDriver final : public protocol::ProtocolDriver {
 public:
  // What `parts` points to must outlive this.
  explicit SimulatedDriver(const DriverParts& parts) : parts_(parts) {}

  // The engine that uses the driver, after Engine::Create().
  void Attach(engine::Engine& engine);

  absl::StatusOr<std::string> Listen(int worker_count) override;
  protocol::Transport& transport(int worker) override {
    return *transports_[worker];
  }
  absl::Status Connect(const std::vector<protocol::Peer>& peers,
                       absl::Time deadline) override;
  void Shutdown() override {}

 private:
  const DriverParts parts_;
  int id_of_first_ = 0;
  std::vector<std::unique_ptr<SimulatedWorker>> transports_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_
