// How many messages, and RPCs with packets, a core simulates in a second.

#include <cstdint>
#include <deque>
#include <memory>

#include "benchmark/benchmark.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/products/simulation/network/testing/hand_made_models.h"

namespace distbench::simulation {
namespace {

// A host that answers whatever arrives, so that the messages in the network
// stay as many as were sent at the start.
class EchoHost : public SimulatedEventHandler {
 public:
  EchoHost(SimulatedNetwork& network, std::deque<EchoHost>& hosts, int self)
      : network_(network), hosts_(hosts), self_(self) {}

  // Starts connection `number` with the host.
  void Start(int peer, int64_t number) { Send(peer, number, false); }

  void OnEvent(const SimulatedEvent& event) override {
    ++received_;
    Send(event.kind, event.value, !from_server(event));
  }

  int64_t received() const { return received_; }

 private:
  static bool from_server(const SimulatedEvent& event) {
    return event.content != nullptr;
  }
  void Send(int peer, int64_t number, bool from_server) {
    network_.Send(
        {.from_host = self_,
         .to_host = peer,
         .bytes = 1000,
         .connection = static_cast<uint64_t>(number),
         .from_server = from_server,
         .receiver = &hosts_[peer],
         .arrival = {.kind = self_,
                     .value = number,
                     .content = from_server ? &hosts_[peer] : nullptr}});
  }

  SimulatedNetwork& network_;
  std::deque<EchoHost>& hosts_;
  const int self_;
  int64_t received_ = 0;
};

// Each host has `peers` connections with a message under way on each.
void BM_Echo(benchmark::State& state, SimulatedTransport::Kind kind) {
  const int host_count = static_cast<int>(state.range(0));
  const int peers = static_cast<int>(state.range(1));
  ClusterModel model = SingleSwitchModel(host_count, {.bytes_per_ns = 3.125,
                                                      .delay_ns = 1000,
                                                      .queue_bytes = 1'000'000,
                                                      .ecn_bytes = 100'000});
  UseTransport(kind, model);
  Simulator simulator(OptionsFor(model, 1));
  const auto network = MakeSimulatedNetwork(model, simulator);
  std::deque<EchoHost> hosts;
  for (int i = 0; i < host_count; ++i) hosts.emplace_back(*network, hosts, i);
  for (int i = 0; i < host_count; ++i) {
    for (int k = 1; k <= peers; ++k) {
      hosts[i].Start((i + k) % host_count, int64_t{i} * host_count + k);
    }
  }
  int64_t end_ns = 0;
  for (auto _ : state) {
    end_ns += 1'000'000;
    simulator.Run(end_ns, [] { return false; });
  }
  int64_t received = 0;
  for (const EchoHost& host : hosts) received += host.received();
  state.counters["messages"] = benchmark::Counter(static_cast<double>(received),
                                                  benchmark::Counter::kIsRate);
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(simulator.event_count()),
                         benchmark::Counter::kIsRate);
}

#define DISTBENCH_ECHO(NAME, KIND)                           \
  BENCHMARK_CAPTURE(BM_Echo, NAME, SimulatedTransport::KIND) \
      ->Args({10, 1})                                        \
      ->Args({100, 10})                                      \
      ->Args({1000, 100})                                    \
      ->Unit(benchmark::kMillisecond)

DISTBENCH_ECHO(messages, MESSAGES);
DISTBENCH_ECHO(reno, RENO);
DISTBENCH_ECHO(dctcp, DCTCP);

}  // namespace
}  // namespace distbench::simulation

BENCHMARK_MAIN();
