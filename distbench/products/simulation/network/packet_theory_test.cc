// The network of packets against theory and published measurements. The tables
// of docs/products/simulation_network.md have more cases (validation_table.cc).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "distbench/products/simulation/network/testing/bulk_traffic.h"
#include "distbench/products/simulation/network/testing/hand_made_models.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

constexpr double kPayloadShare = 1448.0 / 1538;
constexpr double kGbit = 1.0 / 8;  // bytes per ns

std::vector<BulkFlow> FlowsIntoHost0(int senders) {
  std::vector<BulkFlow> flows;
  for (int i = 1; i <= senders; ++i) {
    flows.push_back({i, 0, static_cast<uint64_t>(i)});
  }
  return flows;
}

TEST(PacketTheoryTest, ALongFlowFillsItsLink) {
  for (const auto kind :
       {SimulatedTransport::RENO, SimulatedTransport::DCTCP}) {
    ClusterModel model = SingleSwitchModel(2, {.bytes_per_ns = 10 * kGbit,
                                               .delay_ns = 1000,
                                               .queue_bytes = 1'000'000,
                                               .ecn_bytes = 100'000});
    UseTransport(kind, model);
    const BulkFigures figures = RunBulkFlows(model, {.flows = FlowsIntoHost0(1),
                                                     .loss = {},
                                                     .warmup_ns = 1'000'000,
                                                     .end_ns = 21'000'000});
    EXPECT_NEAR(figures.total_bytes_per_ns / (10 * kGbit * kPayloadShare), 1,
                0.01);
    EXPECT_EQ(figures.counters.retransmissions, 0);
  }
}

// Mathis, Semke, Mahdavi, Ott: "The Macroscopic Behavior of the TCP Congestion
// Avoidance Algorithm", 1997.
TEST(PacketTheoryTest, RandomLossGivesTheRateOfMathis) {
  for (const double loss : {0.001, 0.01}) {
    ClusterModel model = SingleSwitchModel(2, {.bytes_per_ns = 10 * kGbit,
                                               .delay_ns = 2'500'000,
                                               .queue_bytes = 1 << 30});
    UseTransport(SimulatedTransport::RENO, model);
    model.fabric.mutable_transport()->set_max_window_bytes(1 << 30);
    const BulkFigures figures =
        RunBulkFlows(model, {.flows = {{0, 1, 1}},
                             .loss = {.data = loss},
                             .warmup_ns = 5'000'000'000,
                             .end_ns = 100'000'000'000});
    const double formula = 1448 / 10e6 * std::sqrt(1.5 / loss);
    EXPECT_NEAR(figures.total_bytes_per_ns / formula, 1, 0.15) << loss;
  }
}

TEST(PacketTheoryTest, FlowsShareALinkFairly) {
  for (const auto kind :
       {SimulatedTransport::RENO, SimulatedTransport::DCTCP}) {
    ClusterModel model = SingleSwitchModel(3, {.bytes_per_ns = kGbit,
                                               .delay_ns = 25'000,
                                               .queue_bytes = 100'000,
                                               .ecn_bytes = 30'000});
    UseTransport(kind, model);
    const BulkFigures figures = RunBulkFlows(model, {.flows = FlowsIntoHost0(2),
                                                     .loss = {},
                                                     .warmup_ns = 500'000'000,
                                                     .end_ns = 10'000'000'000});
    EXPECT_GT(figures.total_bytes_per_ns, 0.97 * kGbit * kPayloadShare);
    const double share = figures.bytes_per_ns[0] / figures.total_bytes_per_ns;
    EXPECT_NEAR(share, 0.5, 0.1) << SimulatedTransport::Kind_Name(kind);
  }
}

// Alizadeh et al., "Data Center TCP (DCTCP)", 2010, section 3.3: N synchronised
// flows have a queue of K + N packets at most, and
// sqrt(2 N (C RTT + K)) / 2 less at least.
TEST(PacketTheoryTest, DctcpKeepsTheQueueAtItsThreshold) {
  constexpr double kPacket = 1538;
  constexpr double kRate = 10 * kGbit;
  for (const int flows : {2, 10}) {
    const double threshold = 40;
    ClusterModel model = SingleSwitchModel(
        flows + 1, {.bytes_per_ns = kRate,
                    .delay_ns = 25'000,
                    .queue_bytes = 4'000'000,
                    .ecn_bytes = static_cast<int64_t>(threshold * kPacket)});
    UseTransport(SimulatedTransport::DCTCP, model);
    const BulkFigures figures =
        RunBulkFlows(model, {.flows = FlowsIntoHost0(flows),
                             .loss = {},
                             .warmup_ns = 100'000'000,
                             .end_ns = 200'000'000,
                             .watched_link = 1});
    const auto packets = [&](double share) {
      const size_t index = static_cast<size_t>(
          share * static_cast<double>(figures.queue_bytes.size()));
      return figures.queue_bytes[index] / kPacket;
    };
    const double most = threshold + flows;
    const double pipe = kRate * 100'000 / kPacket;
    const double least = most - std::sqrt(2 * flows * (pipe + threshold)) / 2;
    EXPECT_GT(packets(0.01), least - 8) << flows;
    EXPECT_NEAR(packets(0.5), (least + most) / 2, 8) << flows;
    EXPECT_LT(packets(0.99), most + 5) << flows;
    EXPECT_EQ(figures.counters.dropped_packets, 0);
    EXPECT_GT(figures.total_bytes_per_ns, 0.99 * kRate * kPayloadShare);
  }
}

// Mbit/s of an incast over 1 Gbit/s, with the initial window of 2010.
double IncastRate(int servers, int64_t bytes_per_server, int64_t queue_bytes,
                  SimulatedTransport::Kind kind, int64_t min_timeout_ns) {
  ClusterModel model =
      SingleSwitchModel(servers + 1, {.bytes_per_ns = kGbit,
                                      .delay_ns = 25'000,
                                      .queue_bytes = queue_bytes,
                                      .ecn_bytes = 30'000});
  UseTransport(kind, model);
  model.fabric.mutable_transport()->set_min_retransmission_timeout_ns(
      min_timeout_ns);
  model.fabric.mutable_transport()->set_initial_window_segments(2);
  const IncastFigures figures =
      RunIncast(model, {.servers = servers,
                        .bytes_per_server = bytes_per_server,
                        .rounds = 100});
  return figures.bytes_per_ns / kGbit * 1000;
}

// Phanishayee et al., "Measurement and Analysis of TCP Throughput Collapse in
// Cluster-based Storage Systems", 2008, and Vasudevan et al., "Safe and
// Effective Fine-grained TCP Retransmissions for Datacenter Communication",
// 2009: goodput falls by an order of magnitude, more servers need more buffer,
// and timeouts of 1 ms prevent it.
TEST(PacketTheoryTest, AnIncastCollapsesAndFineTimeoutsPreventIt) {
  const auto rate = [](int servers, int64_t queue_bytes, int64_t timeout_ns) {
    return IncastRate(servers, 256 * 1024, queue_bytes,
                      SimulatedTransport::RENO, timeout_ns);
  };
  EXPECT_GT(rate(1, 64'000, 200'000'000), 800);
  EXPECT_LT(rate(16, 64'000, 200'000'000), 200);
  EXPECT_GT(rate(16, 1'000'000, 200'000'000), 500);
  EXPECT_GT(rate(16, 64'000, 1'000'000), 700);
}

// Alizadeh et al., section 4.2.1: 1 MB / N from each of N servers. DCTCP has no
// timeouts until not even two packets of each fit into the buffer.
TEST(PacketTheoryTest, DctcpEndsTheIncastOfSmallResponses) {
  const auto rate = [](int servers, SimulatedTransport::Kind kind) {
    return IncastRate(servers, 1'000'000 / servers, 150'000, kind, 200'000'000);
  };
  EXPECT_GT(rate(30, SimulatedTransport::DCTCP), 700);
  EXPECT_LT(rate(30, SimulatedTransport::RENO), 400);
}

TEST(PacketTheoryTest, FlowsOnTheSameSpineShareIt) {
  const LinkModel link = {.bytes_per_ns = 10 * kGbit,
                          .delay_ns = 1000,
                          .queue_bytes = 1'000'000,
                          .ecn_bytes = 60'000};
  ClusterModel model = LeafSpineModel(2, 2, 2, link, link);
  UseTransport(SimulatedTransport::DCTCP, model);
  // The connections of the second flow that share the first one's spine do so
  // in half of the cases.
  int collisions = 0;
  for (uint64_t connection = 100; connection < 110; ++connection) {
    std::vector<int> first;
    std::vector<int> second;
    model.paths->Find(0, 2, 1, first);
    model.paths->Find(1, 3, connection, second);
    const bool collide = first[1] == second[1];
    collisions += collide ? 1 : 0;
    const BulkFigures figures =
        RunBulkFlows(model, {.flows = {{0, 2, 1}, {1, 3, connection}},
                             .loss = {},
                             .warmup_ns = 5'000'000,
                             .end_ns = 10'000'000});
    EXPECT_NEAR(figures.total_bytes_per_ns / (10 * kGbit * kPayloadShare),
                collide ? 1 : 2, 0.03)
        << connection;
  }
  EXPECT_GT(collisions, 0);
  EXPECT_LT(collisions, 10);
}

}  // namespace
}  // namespace distbench::simulation
