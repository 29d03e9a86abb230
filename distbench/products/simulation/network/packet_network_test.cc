#include "distbench/products/simulation/network/packet_network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

#include "distbench/base/work_random.h"
#include "distbench/products/simulation/network/testing/arrival_log.h"
#include "distbench/products/simulation/network/testing/bulk_traffic.h"
#include "distbench/products/simulation/network/testing/hand_made_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using Kind = SimulatedTransport::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

// 1 byte per ns, 10 us.
constexpr LinkModel kLink = {.bytes_per_ns = 1,
                             .delay_ns = 10'000,
                             .queue_bytes = 1'000'000,
                             .ecn_bytes = 100'000};

TEST(PacketNetworkTest, AnIdleNetworkCostsTransmissionAtEachLink) {
  ClusterModel model = SingleSwitchModel(2, kLink);
  UseTransport(SimulatedTransport::RENO, model);
  Simulator simulator(OptionsFor(model, 1));
  PacketNetwork network(model, simulator);
  ArrivalLog log(simulator, 1);
  const auto send = [&](int64_t bytes, int64_t value) {
    network.Send({.from_host = 0,
                  .to_host = 1,
                  .bytes = bytes,
                  .receiver = &log,
                  .arrival = {.value = value}});
  };
  send(1000, 1);
  send(0, 2);  // a segment of one byte
  RunToTheEnd(simulator);
  EXPECT_THAT(log.entries,
              ElementsAre(ArrivalLog::Entry{20'000 + 2 * 1090, 1},
                          ArrivalLog::Entry{20'000 + 2 * 1090 + 91, 2}));
  // Each segment was acknowledged by a packet of its own.
  EXPECT_EQ(network.counters().packets, 4);
  EXPECT_EQ(network.counters().timeouts, 0);
}

// What is cut into segments arrives with the last one, and acknowledgements
// neither hold it up nor are they needed within the initial window.
TEST(PacketNetworkTest, AMessageInTheInitialWindowTakesOneWay) {
  ClusterModel model = SingleSwitchModel(2, kLink);
  UseTransport(SimulatedTransport::DCTCP, model);
  Simulator simulator(OptionsFor(model, 1));
  PacketNetwork network(model, simulator);
  ArrivalLog log(simulator, 1);
  network.Send({.from_host = 0,
                .to_host = 1,
                .bytes = 10 * 1448,
                .receiver = &log,
                .arrival = {}});
  RunToTheEnd(simulator);
  ASSERT_EQ(log.entries.size(), 1);
  EXPECT_EQ(log.entries[0].time_ns, 20'000 + 11 * (1448 + 90));
}

// A host that sends to many at once is slow, but loses nothing; and all get
// their turns.
TEST(PacketNetworkTest, AHostWaitsForItsOwnLink) {
  constexpr int kPeers = 200;
  for (const int64_t queue_bytes : {1'000'000, 3'000, 1}) {
    ClusterModel model = SingleSwitchModel(kPeers + 1, kLink);
    model.links[0].queue_bytes = queue_bytes;
    UseTransport(SimulatedTransport::RENO, model);
    Simulator simulator(OptionsFor(model, 1));
    PacketNetwork network(model, simulator);
    std::deque<ArrivalLog> logs;
    for (int peer = 1; peer <= kPeers; ++peer) {
      logs.emplace_back(simulator, peer);
      network.Send({.from_host = 0,
                    .to_host = peer,
                    .bytes = 10 * 1448,
                    .connection = static_cast<uint64_t>(peer),
                    .receiver = &logs.back(),
                    .arrival = {}});
    }
    RunToTheEnd(simulator);
    for (const ArrivalLog& log : logs) ASSERT_EQ(log.entries.size(), 1);
    EXPECT_EQ(network.counters().dropped_packets, 0);
    EXPECT_EQ(network.counters().retransmissions, 0);
    EXPECT_NEAR(logs.back().entries[0].time_ns, kPeers * 10 * 1538 + 20'000,
                20'000);
    // Not one after the other.
    EXPECT_GT(logs[50].entries[0].time_ns, logs.back().entries[0].time_ns / 2);
  }
}

// Hosts that send messages of random sizes at random times, some of them as
// answers.
class RandomTraffic {
 public:
  RandomTraffic(const ClusterModel& model, SimulatedNetwork& network,
                Simulator& simulator, uint64_t seed)
      : network_(network), simulator_(simulator) {
    for (int i = 0; i < model.host_count; ++i)
      hosts_.emplace_back(*this, i, seed);
    sent_.resize(model.host_count * model.host_count * 2);
    for (int i = 0; i < model.host_count; ++i) {
      for (int k = 0; k < kMessagesPerHost; ++k) {
        const auto time_ns =
            static_cast<int64_t>(hosts_[i].random.Below(5'000'000));
        simulator.Schedule(i, i, time_ns, hosts_[i], {.kind = kSendOne});
      }
    }
  }

  // By host: when which message of which stream came.
  using Arrival = std::tuple<int64_t, int64_t, int64_t>;
  std::vector<std::vector<Arrival>> arrivals() const {
    std::vector<std::vector<Arrival>> arrivals;
    for (const Host& host : hosts_) arrivals.push_back(host.arrivals);
    return arrivals;
  }

  // What is wrong: streams of which messages came twice, late or never.
  std::vector<int> FaultyStreams() const {
    std::vector<int> received(sent_.size(), 0);
    std::vector<int> faulty;
    for (const Host& host : hosts_) {
      for (const auto& [time_ns, stream, number] : host.arrivals) {
        if (received[stream]++ != number) faulty.push_back(stream);
      }
    }
    for (size_t i = 0; i < sent_.size(); ++i) {
      if (received[i] != sent_[i]) faulty.push_back(static_cast<int>(i));
    }
    return faulty;
  }

 private:
  static constexpr int kMessagesPerHost = 100;
  enum Kinds { kSendOne, kArrived };

  struct Host : SimulatedEventHandler {
    Host(RandomTraffic& traffic, int index, uint64_t seed)
        : traffic(traffic), index(index), random(seed, index) {}

    void OnEvent(const SimulatedEvent& event) override {
      const int count = static_cast<int>(traffic.hosts_.size());
      if (event.kind == kSendOne) {
        const int to = (index + 1 + random.Below(count - 1)) % count;
        Send(to, 2 * (index * count + to));
        return;
      }
      const auto stream = event.value >> 32;
      arrivals.emplace_back(traffic.simulator_.now_ns(index), stream,
                            event.value & 0xffffffff);
      const bool is_request = stream % 2 == 0;
      if (is_request && random.Below(2) == 0) {
        Send(static_cast<int>(stream / 2 / count),
             static_cast<int>(stream) + 1);
      }
    }

    // An even stream is that of requests; its answers have the odd one after
    // it.
    void Send(int to, int stream) {
      const int64_t sizes[] = {0, 100, 1448, 20'000, 300'000};
      const int64_t number = traffic.sent_[stream]++;
      traffic.network_.Send(
          {.from_host = index,
           .to_host = to,
           .bytes = sizes[random.Below(5)],
           .connection = static_cast<uint64_t>(stream / 2),
           .from_server = stream % 2 == 1,
           .receiver = &traffic.hosts_[to],
           .arrival = {.kind = kArrived,
                       .value = (int64_t{stream} << 32) + number}});
    }

    RandomTraffic& traffic;
    const int index;
    base::WorkRandom random;
    std::vector<Arrival> arrivals;
  };

  SimulatedNetwork& network_;
  Simulator& simulator_;
  std::deque<Host> hosts_;
  std::vector<int> sent_;  // by stream: of one host's events only
};

// Queues so short that most windows overflow them.
ClusterModel TightFabric(Kind kind) {
  LinkModel link = kLink;
  link.delay_ns = 100'000;
  link.queue_bytes = 8'000;
  link.ecn_bytes = 4'000;
  ClusterModel model = LeafSpineModel(3, 4, 2, link, link);
  UseTransport(kind, model);
  model.fabric.mutable_transport()->set_min_retransmission_timeout_ns(
      2'000'000);
  return model;
}

class AnyTransportTest : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(, AnyTransportTest,
                         testing::Values(SimulatedTransport::MESSAGES,
                                         SimulatedTransport::RENO,
                                         SimulatedTransport::DCTCP));

TEST_P(AnyTransportTest, EveryNumberOfThreadsGivesTheSame) {
  const ClusterModel model = TightFabric(GetParam());
  std::vector<std::vector<RandomTraffic::Arrival>> expected;
  for (const int threads : {1, 2, 3}) {
    Simulator simulator(OptionsFor(model, threads));
    const auto network = MakeSimulatedNetwork(model, simulator);
    RandomTraffic traffic(model, *network, simulator, 1);
    RunToTheEnd(simulator);
    EXPECT_THAT(traffic.FaultyStreams(), IsEmpty());
    if (threads == 1) {
      expected = traffic.arrivals();
    } else {
      EXPECT_EQ(traffic.arrivals(), expected) << threads;
    }
    if (GetParam() == SimulatedTransport::MESSAGES) continue;
    EXPECT_GT(network->counters().dropped_packets, 500);
    EXPECT_GT(network->counters().timeouts, 10);
  }
}

// Whatever is lost, every message arrives once and in order.
TEST_P(AnyTransportTest, NothingIsLostForGood) {
  if (GetParam() == SimulatedTransport::MESSAGES) return;
  const ClusterModel model = TightFabric(GetParam());
  for (int seed = 0; seed < 6; ++seed) {
    Simulator simulator(OptionsFor(model, 1));
    PacketNetwork network(model, simulator,
                          {.data = 0.05 * seed,
                           .acknowledgements = 0.4 - 0.08 * seed,
                           .seed = static_cast<uint64_t>(seed)});
    RandomTraffic traffic(model, network, simulator, seed);
    RunToTheEnd(simulator);
    EXPECT_THAT(traffic.FaultyStreams(), IsEmpty()) << "seed " << seed;
    EXPECT_GT(network.counters().retransmissions, 100);
  }
}

}  // namespace

// The network of packets against theory and published measurements. The tables
// of docs/products/simulation_network.md have more cases (validation_table.cc).

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
