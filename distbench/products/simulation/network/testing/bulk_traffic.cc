#include "distbench/products/simulation/network/testing/bulk_traffic.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "distbench/products/simulation/network/testing/arrival_log.h"
#include "distbench/products/simulation/network/testing/hand_made_models.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kBulkMessageBytes = 20'000;

struct ArrivalCount : SimulatedEventHandler {
  void OnEvent(const SimulatedEvent& event) override { ++count; }
  int64_t count = 0;
};

// The client of an incast; its servers run in the same object, which does not
// matter on one thread.
class IncastClient : public SimulatedEventHandler {
 public:
  IncastClient(const IncastOptions& options, SimulatedNetwork& network)
      : options_(options), network_(network) {}

  void StartRound() {
    missing_ = options_.servers;
    ++rounds_;
    for (int server = 1; server <= options_.servers; ++server) {
      network_.Send({.from_host = 0,
                     .to_host = server,
                     .bytes = 100,
                     .connection = static_cast<uint64_t>(server),
                     .receiver = this,
                     .arrival = {.kind = kRequest, .value = server}});
    }
  }

  void OnEvent(const SimulatedEvent& event) override {
    if (event.kind == kRequest) {
      network_.Send({.from_host = static_cast<int>(event.value),
                     .to_host = 0,
                     .bytes = options_.bytes_per_server,
                     .connection = static_cast<uint64_t>(event.value),
                     .from_server = true,
                     .receiver = this,
                     .arrival = {.kind = kResponse}});
    } else if (--missing_ == 0 && !is_over()) {
      StartRound();
    }
  }

  bool is_over() const { return missing_ == 0 && rounds_ == options_.rounds; }

 private:
  enum Kind { kRequest, kResponse };

  const IncastOptions& options_;
  SimulatedNetwork& network_;
  int missing_ = 0;
  int rounds_ = 0;
};

}  // namespace

BulkFigures RunBulkFlows(const ClusterModel& model,
                         const BulkOptions& options) {
  Simulator simulator(OptionsFor(model, 1));
  PacketNetwork network(model, simulator, options.loss);
  std::deque<ArrivalCount> arrivals(options.flows.size());
  for (size_t i = 0; i < options.flows.size(); ++i) {
    const BulkFlow& flow = options.flows[i];
    const LinkModel& link = model.links[2 * flow.from_host];
    const auto messages = static_cast<int64_t>(
        link.bytes_per_ns * static_cast<double>(options.end_ns) /
        kBulkMessageBytes);
    for (int64_t k = 0; k <= messages; ++k) {
      network.Send({.from_host = flow.from_host,
                    .to_host = flow.to_host,
                    .bytes = kBulkMessageBytes,
                    .connection = flow.connection,
                    .receiver = &arrivals[i],
                    .arrival = {}});
    }
  }

  const auto run_until = [&](int64_t end_ns) {
    simulator.Run(end_ns, [] { return false; });
  };
  run_until(options.warmup_ns);
  for (ArrivalCount& arrival : arrivals) arrival.count = 0;
  BulkFigures figures;
  if (options.watched_link >= 0) {
    for (int64_t now_ns = options.warmup_ns; now_ns < options.end_ns;
         now_ns += 1000) {
      run_until(now_ns);
      figures.queue_bytes.push_back(
          network.backlog_bytes(options.watched_link, now_ns));
    }
    std::sort(figures.queue_bytes.begin(), figures.queue_bytes.end());
  }
  run_until(options.end_ns);

  const auto duration_ns =
      static_cast<double>(options.end_ns - options.warmup_ns);
  for (const ArrivalCount& arrival : arrivals) {
    figures.bytes_per_ns.push_back(
        static_cast<double>(arrival.count * kBulkMessageBytes) / duration_ns);
    figures.total_bytes_per_ns += figures.bytes_per_ns.back();
  }
  figures.counters = network.counters();
  return figures;
}

IncastFigures RunIncast(const ClusterModel& model,
                        const IncastOptions& options) {
  Simulator simulator(OptionsFor(model, 1));
  const auto network = MakeSimulatedNetwork(model, simulator);
  IncastClient client(options, *network);
  client.StartRound();
  simulator.Run(kEndOfTime, [&] { return client.is_over(); });
  const double bytes = static_cast<double>(options.servers) *
                       static_cast<double>(options.bytes_per_server) *
                       options.rounds;
  return {.bytes_per_ns = bytes / static_cast<double>(simulator.now_ns(0)),
          .counters = network->counters()};
}

}  // namespace distbench::simulation
