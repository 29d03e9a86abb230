// Prints the tables of docs/products/simulation_network.md.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "distbench/products/simulation/network/testing/bulk_traffic.h"
#include "distbench/products/simulation/network/testing/hand_made_models.h"

namespace distbench::simulation {
namespace {

using Transport = SimulatedTransport;

constexpr double kGbps = 1.0 / 8;  // bytes per ns

const char* NameOf(Transport::Kind kind) {
  return kind == Transport::DCTCP ? "DCTCP" : "RENO";
}

// Senders 1 to n, receiver 0, whose link is link 1.
std::vector<BulkFlow> FlowsToHost0(int senders) {
  std::vector<BulkFlow> flows;
  for (int i = 1; i <= senders; ++i) {
    flows.push_back({i, 0, static_cast<uint64_t>(i)});
  }
  return flows;
}

void PrintLongFlows() {
  std::printf("| flows | transport | Mbit/s | smallest, largest |\n");
  std::printf("|---|---|---|---|\n");
  for (const auto kind : {Transport::RENO, Transport::DCTCP}) {
    for (const int flows : {1, 2, 8, 32}) {
      ClusterModel model = SingleSwitchModel(flows + 1, {.bytes_per_ns = kGbps,
                                                         .delay_ns = 25'000,
                                                         .queue_bytes = 100'000,
                                                         .ecn_bytes = 30'000});
      UseTransport(kind, model);
      const BulkFigures figures =
          RunBulkFlows(model, {.flows = FlowsToHost0(flows),
                               .loss = {},
                               .warmup_ns = 1'000'000'000,
                               .end_ns = 11'000'000'000});
      double smallest = 1e9;
      double largest = 0;
      for (const double rate : figures.bytes_per_ns) {
        smallest = std::min(smallest, rate);
        largest = std::max(largest, rate);
      }
      std::printf("| %d | %s | %.0f | %.0f, %.0f |\n", flows, NameOf(kind),
                  1000 * figures.total_bytes_per_ns / kGbps,
                  1000 * smallest / kGbps, 1000 * largest / kGbps);
    }
  }
  std::printf("(most that headers leave: %.0f)\n\n", 1000.0 * 1448 / 1538);
}

void PrintMathis() {
  std::printf("| loss | simulated Mbit/s | formula | ratio |\n");
  std::printf("|---|---|---|---|\n");
  for (const double loss : {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2}) {
    ClusterModel model = SingleSwitchModel(2, {.bytes_per_ns = 10 * kGbps,
                                               .delay_ns = 2'500'000,
                                               .queue_bytes = 1 << 30});
    UseTransport(Transport::RENO, model);
    model.fabric.mutable_transport()->set_max_window_bytes(1 << 30);
    const BulkFigures figures =
        RunBulkFlows(model, {.flows = {{0, 1, 1}},
                             .loss = {.data = loss},
                             .warmup_ns = 10'000'000'000,
                             .end_ns = 200'000'000'000});
    const double formula = 1448 / 10e6 * std::sqrt(1.5) / std::sqrt(loss);
    std::printf("| %g | %.2f | %.2f | %.2f |\n", loss,
                figures.total_bytes_per_ns / kGbps * 1000,
                formula / kGbps * 1000, figures.total_bytes_per_ns / formula);
  }
  std::printf("\n");
}

void PrintDctcpQueue() {
  std::printf(
      "| flows | K (packets) | queue p1, p50, p99 (packets) | theory: least, "
      "most | of the line rate |\n|---|---|---|---|---|\n");
  constexpr double kPacket = 1538;
  for (const int threshold : {40, 65}) {
    for (const int flows : {2, 4, 10, 20, 40}) {
      const double rate = 10 * kGbps;
      ClusterModel model = SingleSwitchModel(
          flows + 1, {.bytes_per_ns = rate,
                      .delay_ns = 25'000,
                      .queue_bytes = 4'000'000,
                      .ecn_bytes = static_cast<int64_t>(threshold * kPacket)});
      UseTransport(Transport::DCTCP, model);
      const BulkFigures figures =
          RunBulkFlows(model, {.flows = FlowsToHost0(flows),
                               .loss = {},
                               .warmup_ns = 300'000'000,
                               .end_ns = 600'000'000,
                               .watched_link = 1});
      const auto queue = [&](double share) {
        return figures.queue_bytes[static_cast<size_t>(
                   share *
                   static_cast<double>(figures.queue_bytes.size() - 1))] /
               kPacket;
      };
      const double pipe = 100'000 * rate / kPacket;
      const double most = threshold + flows;
      const double least = most - std::sqrt(2 * flows * (pipe + threshold)) / 2;
      std::printf("| %d | %d | %.0f, %.0f, %.0f | %.0f, %.0f | %.1f %% |\n",
                  flows, threshold, queue(0.01), queue(0.5), queue(0.99),
                  std::max(least, 0.0), most,
                  100 * figures.total_bytes_per_ns / (rate * 1448 / 1538));
    }
  }
  std::printf("\n");
}

struct IncastVariant {
  std::string name;
  Transport::Kind kind;
  int64_t min_timeout_ns;
};

void PrintIncast(int64_t fixed_bytes, int64_t shared_bytes) {
  const std::vector<IncastVariant> variants = {
      {"RENO, 200 ms", Transport::RENO, 200'000'000},
      {"RENO, 10 ms", Transport::RENO, 10'000'000},
      {"RENO, 1 ms", Transport::RENO, 1'000'000},
      {"DCTCP, 200 ms", Transport::DCTCP, 200'000'000},
      {"DCTCP, 10 ms", Transport::DCTCP, 10'000'000}};
  std::printf("| servers |");
  for (const IncastVariant& variant : variants) {
    std::printf(" %s |", variant.name.c_str());
  }
  std::printf("\n|---|---|---|---|---|---|\n");
  for (const int servers : {1, 2, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64}) {
    std::printf("| %d |", servers);
    for (const IncastVariant& variant : variants) {
      ClusterModel model = SingleSwitchModel(
          servers + 1, {.bytes_per_ns = 1 * kGbps,
                        .delay_ns = 25'000,
                        .queue_bytes = fixed_bytes > 0 ? 64'000 : 150'000,
                        .ecn_bytes = 30'000});
      UseTransport(variant.kind, model);
      model.fabric.mutable_transport()->set_initial_window_segments(2);
      model.fabric.mutable_transport()->set_min_retransmission_timeout_ns(
          variant.min_timeout_ns);
      const IncastFigures figures = RunIncast(
          model, {.servers = servers,
                  .bytes_per_server =
                      fixed_bytes > 0 ? fixed_bytes : shared_bytes / servers,
                  .rounds = 100});
      std::printf(" %.0f |", figures.bytes_per_ns / kGbps * 1000);
    }
    std::printf("\n");
  }
  std::printf("\n");
}

// How much buffer how many servers need.
void PrintIncastBuffers() {
  const std::vector<int> buffers = {32, 64, 128, 256, 512, 1024};
  std::printf("| servers |");
  for (const int buffer : buffers) std::printf(" %d KB |", buffer);
  std::printf("\n|---|---|---|---|---|---|---|\n");
  for (const int servers : {1, 2, 4, 8, 16, 32, 64}) {
    std::printf("| %d |", servers);
    for (const int buffer : buffers) {
      ClusterModel model =
          SingleSwitchModel(servers + 1, {.bytes_per_ns = 1 * kGbps,
                                          .delay_ns = 25'000,
                                          .queue_bytes = buffer * 1024});
      UseTransport(Transport::RENO, model);
      const IncastFigures figures = RunIncast(
          model,
          {.servers = servers, .bytes_per_server = 256 * 1024, .rounds = 100});
      std::printf(" %.0f |", figures.bytes_per_ns / kGbps * 1000);
    }
    std::printf("\n");
  }
  std::printf("\n");
}

void PrintEcmp() {
  constexpr int kSpines = 8;
  constexpr int kTrials = 40;
  double sum = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const LinkModel link = {.bytes_per_ns = 10 * kGbps,
                            .delay_ns = 1000,
                            .queue_bytes = 1'000'000,
                            .ecn_bytes = 100'000};
    ClusterModel model = LeafSpineModel(2, kSpines, kSpines, link, link);
    UseTransport(Transport::DCTCP, model);
    std::vector<BulkFlow> flows;
    for (int i = 0; i < kSpines; ++i) {
      flows.push_back(
          {i, kSpines + i, static_cast<uint64_t>(trial * 1000 + i)});
    }
    sum += RunBulkFlows(model, {.flows = flows,
                                .loss = {},
                                .warmup_ns = 10'000'000,
                                .end_ns = 30'000'000})
               .total_bytes_per_ns;
  }
  const double line = kSpines * 10 * kGbps * 1448 / 1538;
  std::printf(
      "%d flows over %d spines: %.1f %% of the rate, expected %.1f %%\n",
      kSpines, kSpines, 100 * sum / kTrials / line,
      100 * (1 - std::pow(1 - 1.0 / kSpines, kSpines)));
}

}  // namespace
}  // namespace distbench::simulation

int main() {
  distbench::simulation::PrintLongFlows();
  distbench::simulation::PrintMathis();
  distbench::simulation::PrintDctcpQueue();
  distbench::simulation::PrintIncast(256 * 1024, 0);
  distbench::simulation::PrintIncast(0, 1'000'000);
  distbench::simulation::PrintIncastBuffers();
  distbench::simulation::PrintEcmp();
}
