// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Follows all bytes of collectives through simulated ranks, which do what the
// expanded config says, in a random order.
//
// A rank's data are blocks, one for each rank of its group, each of as many
// cells as there are chunks. Who has added his own to a cell is a set of ranks.
// Nothing here knows how the schedule was made: which cells a message has is
// what the algorithm demands of that step.

#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
namespace {

using testing::HasSubstr;

constexpr int64_t kCellBytes = 3;  // with an odd size, nothing fits by chance

using Ranks = std::bitset<32>;

struct Setup {
  std::string operation;
  std::string algorithm;
  int ranks = 2;  // of a group
  int groups = 1;
  int chunks = 1;

  std::string Name() const {
    return absl::StrCat(operation, " ", algorithm, " ", ranks, "x", groups,
                        " in ", chunks, " chunks");
  }
};

// What a message has: cells of its sender's data, which the receiver adds to
// its own, or takes in place of them.
struct Content {
  bool is_sum = false;
  std::map<std::pair<int, int>, Ranks> cells;  // by block and chunk
};

struct Message {
  int iteration = 0;
  Content content;
};

// An RPC of the config.
struct Rpc {
  config::FanoutPlan fanout;
  const PayloadSpec* payload = nullptr;
  std::set<int> called;  // ranks
};

// A rank on its way through its list.
struct Rank {
  int iteration = 0;
  std::set<int> done;  // actions of the list
  std::map<std::string, int> sent;
  std::map<std::pair<int, int>, Ranks> cells;
  std::map<std::string, std::deque<Message>> arrived;  // by RPC
  std::vector<std::string> computed;
};

class RankSystem {
 public:
  RankSystem(const Setup& setup, const DistributedSystemDescription& test,
             int iterations, uint32_t seed)
      : setup_(setup),
        iterations_(iterations),
        random_(seed),
        ranks_(setup.ranks * setup.groups) {
    std::map<std::string, const PayloadSpec*> payloads;
    for (const PayloadSpec& payload : test.payload_descriptions()) {
      payloads[payload.name()] = &payload;
    }
    for (const RpcSpec& rpc : test.rpc_descriptions()) {
      const auto fanout = config::ParseFanoutFilter(rpc.fanout_filter());
      EXPECT_TRUE(fanout.ok()) << fanout.status();
      rpcs_[rpc.name()] = {
          *fanout, payloads.at(rpc.request_payload_name()), {}};
      for (int rank = 0; rank < std::ssize(ranks_); ++rank) {
        const std::optional<int> target = TargetOf(rpc.name(), rank);
        if (target.has_value()) rpcs_[rpc.name()].called.insert(*target);
      }
    }
    std::map<std::string, const Action*> actions;
    for (const Action& action : test.actions()) {
      actions[action.name()] = &action;
    }
    for (const ActionList& list : test.action_lists()) {
      if (list.name() != setup.operation) continue;
      for (const std::string& name : list.action_names()) {
        numbers_[name] = static_cast<int>(list_.size());
        list_.push_back(actions.at(name));
      }
    }
    for (int rank = 0; rank < std::ssize(ranks_); ++rank) Begin(rank);
  }

  // Runs all ranks, one action of one rank or the arrival of one message after
  // the other.
  void Run() {
    bool goes_on = true;
    while (goes_on && !::testing::Test::HasFailure()) {
      const int places = static_cast<int>(ranks_.size() + links_.size());
      const int first = static_cast<int>(random_() % places);
      goes_on = false;
      for (int i = 0; i < places && !goes_on; ++i) {
        goes_on = GoesOnAt((first + i) % places);
      }
    }
    for (int rank = 0; rank < std::ssize(ranks_); ++rank) {
      EXPECT_EQ(ranks_[rank].iteration, iterations_)
          << "rank " << rank << " waits for ever; " << setup_.Name();
    }
  }

 private:
  // Messages of one RPC from one rank to another arrive in order.
  struct Link {
    std::string rpc;
    int from;
    int to;
    std::deque<Message> messages;
  };

  int InGroup(int rank) const { return rank % setup_.ranks; }

  // Does something at a rank or a link, unless nothing is to be done.
  bool GoesOnAt(int place) {
    const int rank_count = static_cast<int>(ranks_.size());
    if (place >= rank_count) {
      Link& link = links_[place - rank_count];
      if (link.messages.empty()) return false;
      Deliver(link);
      return true;
    }
    std::vector<int> possible;
    for (int i = 0; i < std::ssize(list_); ++i) {
      if (MayDo(place, i)) possible.push_back(i);
    }
    if (possible.empty()) return false;
    Do(place, possible[random_() % possible.size()]);
    return true;
  }

  // What a rank has before an operation.
  void Begin(int rank) {
    Rank& state = ranks_[rank];
    state.done.clear();
    state.sent.clear();
    state.cells.clear();
    state.computed.clear();
    const int own = InGroup(rank);
    for (int block = 0; block < setup_.ranks; ++block) {
      const bool has = setup_.operation == "all_reduce" ||
                       setup_.operation == "reduce_scatter" ||
                       setup_.operation == "all_to_all" ||
                       (setup_.operation == "all_gather" && block == own) ||
                       (setup_.operation == "broadcast" && own == 0);
      if (!has) continue;
      // In an exchange, what goes to others is no longer here.
      if (setup_.operation == "all_to_all" && block != own) continue;
      for (int chunk = 0; chunk < setup_.chunks; ++chunk) {
        state.cells[{block, chunk}].set(own);
      }
    }
  }

  // What a rank must have after it.
  void CheckEnd(int rank) {
    Rank& state = ranks_[rank];
    const int own = InGroup(rank);
    const std::string where =
        absl::StrCat("rank ", rank, " of ", setup_.Name());
    if (setup_.operation == "pipeline") {
      EXPECT_EQ(state.computed.size(), 2 * setup_.chunks) << where;
      return;
    }
    Ranks everyone;
    for (int i = 0; i < setup_.ranks; ++i) everyone.set(i);
    for (int block = 0; block < setup_.ranks; ++block) {
      for (int chunk = 0; chunk < setup_.chunks; ++chunk) {
        Ranks wanted;
        if (setup_.operation == "all_reduce") {
          wanted = everyone;
        } else if (setup_.operation == "reduce_scatter") {
          // A ring leaves the sum of the next block, halving that of its own.
          const int kept =
              setup_.algorithm == "ring" ? (own + 1) % setup_.ranks : own;
          if (block != kept) continue;
          wanted = everyone;
        } else if (setup_.operation == "broadcast") {
          wanted.set(0);
        } else {
          wanted.set(block);
        }
        EXPECT_EQ((state.cells[{block, chunk}]), wanted)
            << where << ", block " << block << ", chunk " << chunk;
      }
    }
  }

  bool MayDo(int rank, int index) {
    Rank& state = ranks_[rank];
    if (state.iteration == iterations_ || state.done.contains(index)) {
      return false;
    }
    for (const std::string& dependency : list_[index]->dependencies()) {
      if (!state.done.contains(numbers_.at(dependency))) return false;
    }
    // Actions that may begin do so in the order of the list.
    for (int earlier = 0; earlier < index; ++earlier) {
      if (list_[index]->has_rpc_name() &&
          list_[earlier]->rpc_name() == list_[index]->rpc_name() &&
          !state.done.contains(earlier)) {
        return false;
      }
    }
    if (!list_[index]->has_receive_rpc_name()) return true;
    const std::string& rpc = list_[index]->receive_rpc_name();
    return !IsCalled(rpc, rank) || !state.arrived[rpc].empty();
  }

  void Do(int rank, int index) {
    Rank& state = ranks_[rank];
    const Action& action = *list_[index];
    if (action.has_rpc_name()) {
      Send(rank, action.rpc_name());
    } else if (action.has_receive_rpc_name()) {
      Receive(rank, action.receive_rpc_name());
    } else {
      state.computed.push_back(action.name());
    }
    state.done.insert(index);
    if (std::ssize(state.done) < std::ssize(list_)) return;
    CheckEnd(rank);
    ++state.iteration;
    if (state.iteration < iterations_) Begin(rank);
  }

  std::optional<int> TargetOf(const std::string& rpc, int rank) const {
    const config::FanoutPlan& fanout = rpcs_.at(rpc).fanout;
    const int size = setup_.ranks;
    const int own = InGroup(rank);
    int target = -1;
    switch (fanout.kind) {
      case config::FanoutPlan::Kind::kRing:
        target = (own + fanout.distance) % size;
        break;
      case config::FanoutPlan::Kind::kLinear:
        target = own + fanout.distance;
        break;
      case config::FanoutPlan::Kind::kXor:
        target = own ^ fanout.distance;
        break;
      case config::FanoutPlan::Kind::kChild:
        target = 2 * own + fanout.distance;
        break;
      case config::FanoutPlan::Kind::kParent:
        // The tree from the other side.
        for (int parent = 0; parent < size; ++parent) {
          if (2 * parent + fanout.distance == own) target = parent;
        }
        break;
      default:
        ADD_FAILURE() << rpc;
    }
    if (target < 0 || target >= size || target == own) return std::nullopt;
    return rank - own + target;
  }

  bool IsCalled(const std::string& rpc, int rank) const {
    return rpcs_.at(rpc).called.contains(rank);
  }

  void Send(int rank, const std::string& rpc) {
    Rank& state = ranks_[rank];
    const int number = state.sent[rpc]++;
    const std::optional<int> target = TargetOf(rpc, rank);
    if (!target.has_value()) return;
    const Content content = ContentOf(rank, rpc, number);
    EXPECT_EQ(rpcs_.at(rpc).payload->size(),
              kCellBytes * std::ssize(content.cells))
        << rpc << ": bytes of a message; " << setup_.Name();
    for (Link& link : links_) {
      if (link.rpc != rpc || link.from != rank) continue;
      link.messages.push_back({state.iteration, content});
      return;
    }
    links_.push_back({rpc, rank, *target, {{state.iteration, content}}});
  }

  void Deliver(Link& link) {
    ranks_[link.to].arrived[link.rpc].push_back(link.messages.front());
    link.messages.pop_front();
  }

  void Receive(int rank, const std::string& rpc) {
    Rank& state = ranks_[rank];
    if (!IsCalled(rpc, rank)) return;
    const Message message = state.arrived[rpc].front();
    state.arrived[rpc].pop_front();
    EXPECT_EQ(message.iteration, state.iteration)
        << "rank " << rank << " takes what belongs to another iteration; "
        << setup_.Name();
    for (const auto& [cell, ranks] : message.content.cells) {
      Ranks& own = state.cells[cell];
      if (message.content.is_sum) {
        EXPECT_TRUE((own & ranks).none())
            << "rank " << rank << " adds twice; " << setup_.Name();
        own |= ranks;
      } else {
        own = ranks;
      }
    }
  }

  // What the algorithm demands of a rank's message number `number` of an RPC.
  Content ContentOf(int rank, const std::string& rpc, int number) {
    absl::string_view what = rpc;
    EXPECT_TRUE(
        absl::ConsumePrefix(&what, absl::StrCat(setup_.operation, "_")));
    const int size = setup_.ranks;
    const int own = InGroup(rank);
    const int step = number / setup_.chunks;
    const int chunk = number % setup_.chunks;
    int first = 0;  // the blocks
    int count = size;
    Content content;
    if (what == "reduce") {
      content.is_sum = true;
      first = own - step + size;
      count = 1;
    } else if (what == "gather") {
      first = own - step + size + (setup_.operation == "all_reduce" ? 1 : 0);
      count = 1;
    } else if (absl::ConsumePrefix(&what, "halve_")) {
      content.is_sum = true;
      EXPECT_TRUE(absl::SimpleAtoi(what, &count));
      first = (own ^ count) / count * count;
    } else if (absl::ConsumePrefix(&what, "double_")) {
      EXPECT_TRUE(absl::SimpleAtoi(what, &count));
      first = own / count * count;
    } else if (absl::StartsWith(what, "up_")) {
      content.is_sum = true;
    } else if (setup_.operation == "all_to_all") {
      int distance = 0;
      EXPECT_TRUE(absl::SimpleAtoi(what, &distance));
      // The receiver files it under its sender.
      content.cells[{own, chunk}].set(own);
      return content;
    }
    for (int i = 0; i < count; ++i) {
      const std::pair<int, int> cell = {(first + i) % size, chunk};
      content.cells[cell] = ranks_[rank].cells[cell];
    }
    return content;
  }

  const Setup setup_;
  const int iterations_;
  std::mt19937 random_;
  std::map<std::string, Rpc> rpcs_;
  std::vector<const Action*> list_;
  std::map<std::string, int> numbers_;  // in the list, by name
  std::vector<Rank> ranks_;
  std::deque<Link> links_;
};

void Follow(const Setup& setup, uint32_t seed) {
  const int64_t size = kCellBytes * setup.ranks * setup.chunks;
  const auto traffic =
      BuildPattern("collective", {{"operation", setup.operation},
                                  {"algorithm", setup.algorithm},
                                  {"ranks", absl::StrCat(setup.ranks)},
                                  {"groups", absl::StrCat(setup.groups)},
                                  {"chunks", absl::StrCat(setup.chunks)},
                                  {"size", absl::StrCat(size)}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  RankSystem(setup, traffic->body, /*iterations=*/3, seed).Run();
}

struct Way {
  const char* operation;
  const char* algorithm;
};

class FollowBytesTest : public testing::TestWithParam<Way> {};

TEST_P(FollowBytesTest, EachRankHasWhatItShouldInTheEnd) {
  for (const int ranks : {2, 3, 4, 5, 8, 16}) {
    if (GetParam().algorithm == std::string("halving_doubling") &&
        (ranks & (ranks - 1)) != 0) {
      continue;
    }
    for (const int chunks : {1, 3}) {
      for (uint32_t seed = 1; seed <= (ranks == 16 ? 1 : 3); ++seed) {
        Follow({.operation = GetParam().operation,
                .algorithm = GetParam().algorithm,
                .ranks = ranks,
                .groups = seed == 1 ? 2 : 1,
                .chunks = chunks},
               seed);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, FollowBytesTest,
    testing::Values(Way{"all_reduce", "ring"}, Way{"all_reduce", "tree"},
                    Way{"all_reduce", "halving_doubling"},
                    Way{"all_gather", "ring"},
                    Way{"all_gather", "halving_doubling"},
                    Way{"reduce_scatter", "ring"},
                    Way{"reduce_scatter", "halving_doubling"},
                    Way{"all_to_all", "pairwise"}, Way{"all_to_all", "direct"},
                    Way{"broadcast", "tree"}, Way{"broadcast", "ring"},
                    Way{"pipeline", "gpipe"}),
    [](const auto& info) {
      return absl::StrCat(info.param.operation, "_", info.param.algorithm);
    });

TEST(CollectiveTest, SaysWhatItIs) {
  const auto traffic = BuildPattern(
      "collective", {{"operation", "all_gather"}, {"size", "4096"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->alias, "collective_all_gather_ring_8x1x4096x1");
  for (const Action& action : traffic->body.actions()) {
    EXPECT_EQ(action.has_collective(), action.name() == "all_gather");
    if (!action.has_collective()) continue;
    EXPECT_TRUE(action.record_iterations());
    EXPECT_EQ(action.collective().operation(), "all_gather");
    EXPECT_EQ(action.collective().algorithm(), "ring");
    EXPECT_EQ(action.collective().size(), 4096);
    EXPECT_EQ(action.collective().axis(), "x");
  }
}

TEST(CollectiveTest, ComputesBeforeEachOperation) {
  const auto traffic = BuildPattern(
      "collective", {{"compute_us", "200"}, {"compute_spread_percent", "25"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DataPoint& time =
      traffic->body.delay_distribution_configs(0).pmf_points(0).data_points(0);
  EXPECT_EQ(time.lower(), 150'000);
  EXPECT_EQ(time.upper(), 250'000);
}

TEST(CollectiveTest, AStageComputesOneMicroBatchAtATime) {
  const auto traffic = BuildPattern(
      "collective",
      {{"operation", "pipeline"}, {"chunks", "3"}, {"compute_us", "10"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  std::vector<std::string> waits;
  for (const Action& action : traffic->body.actions()) {
    if (action.has_delay_distribution_name()) {
      waits.push_back(absl::StrCat(action.name(), " after ",
                                   action.dependencies().empty()
                                       ? ""
                                       : *action.dependencies().rbegin()));
    }
  }
  EXPECT_THAT(waits, testing::ElementsAre(
                         "compute_forward_0 after receive_pipeline_forward_0",
                         "compute_forward_1 after compute_forward_0",
                         "compute_forward_2 after compute_forward_1",
                         "compute_backward_0 after compute_forward_2",
                         "compute_backward_1 after compute_backward_0",
                         "compute_backward_2 after compute_backward_1"));
}

TEST(CollectiveTest, OnlyADirectExchangeDoesAllStepsAtOnce) {
  for (const auto& [algorithm, awaited] :
       {std::pair("pairwise", "receive_all_to_all_1_0"),
        std::pair("direct", "")}) {
    const auto traffic =
        BuildPattern("collective", {{"operation", "all_to_all"},
                                    {"ranks", "4"},
                                    {"algorithm", algorithm}});
    ASSERT_TRUE(traffic.ok()) << traffic.status();
    for (const Action& action : traffic->body.actions()) {
      if (action.name() != "send_all_to_all_2_0") continue;
      EXPECT_EQ(absl::StrJoin(action.dependencies(), " "), awaited);
    }
  }
}

TEST(CollectiveTest, PopularRanksGetMore) {
  const auto traffic = BuildPattern("collective", {{"operation", "all_to_all"},
                                                   {"ranks", "4"},
                                                   {"size", "25000"},
                                                   {"skew", "1"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  // In proportion to 1, 1/2, 1/3 and 1/4.
  EXPECT_THAT(traffic->body.payload_descriptions(0).sizes_by_instance(),
              testing::ElementsAre(12000, 6000, 4000, 3000));
}

TEST(CollectiveTest, RefusesWhatDoesNotGoTogether) {
  const auto error_of = [](const ValueMap& given) {
    return std::string(BuildPattern("collective", given).status().message());
  };
  EXPECT_THAT(error_of({{"operation", "broadcast"}, {"algorithm", "direct"}}),
              HasSubstr("choose tree or ring"));
  EXPECT_THAT(error_of({{"algorithm", "halving_doubling"}, {"ranks", "6"}}),
              HasSubstr("a power of 2, and there are 6 ranks; choose 4"));
  EXPECT_THAT(error_of({{"skew", "1"}}),
              HasSubstr("has an effect on all_to_all only"));
  EXPECT_THAT(error_of({{"ranks", "64"}, {"chunks", "1000"}}),
              HasSubstr("at most 20000 are possible"));
  EXPECT_THAT(
      error_of({{"ranks", "1000"}, {"algorithm", "tree"}, {"groups", "1000"}}),
      HasSubstr("1000000 ranks; at most 100000"));
}

TEST(TrainingTest, RowsAndColumnsAreGroupsOfTheirOwn) {
  const auto traffic = BuildPattern("training", {{"tensor_parallel", "4"},
                                                 {"data_parallel", "3"},
                                                 {"layers", "5"},
                                                 {"compute_us", "7"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->body.services(0).x_size(), 4);
  EXPECT_EQ(traffic->body.services(0).y_size(), 3);
  std::map<std::string, std::string> axes;
  for (const Action& action : traffic->body.actions()) {
    if (action.has_collective()) {
      axes[action.name()] = action.collective().axis();
    }
    if (action.name() == "layers") {
      EXPECT_EQ(action.iterations().max_iteration_count(), 5);
    }
  }
  EXPECT_THAT(axes,
              testing::ElementsAre(testing::Pair("data_all_reduce", "y"),
                                   testing::Pair("tensor_all_reduce", "x")));
}

}  // namespace
}  // namespace distbench::test_builder
