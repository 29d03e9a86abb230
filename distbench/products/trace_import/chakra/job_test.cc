// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/job.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/engine/virtual_time/virtual_time_system.h"
#include "distbench/products/trace_import/chakra/nodes.h"
#include "distbench/products/trace_import/chakra/rank_files.h"
#include "distbench/products/trace_import/chakra/rank_grid.h"
#include "distbench/products/trace_import/chakra/rank_work.h"
#include "distbench/products/trace_import/testing/chakra_testing.h"
#include "distbench/products/trace_import/testing/import_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::trace_import {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

using Nodes = std::vector<ChakraNode>;

constexpr int64_t kMany = 100'000;

absl::StatusOr<RankWork> TryWorkOf(const Nodes& nodes) {
  const auto trace = ReadChakra(ChakraFile(nodes), kMany);
  if (!trace.ok()) return trace.status();
  return WorkOf(*trace);
}

RankWork RankOf(const Nodes& nodes) {
  auto work = TryWorkOf(nodes);
  EXPECT_TRUE(work.ok()) << work.status();
  return work.ok() ? *std::move(work) : RankWork();
}

std::string WorkError(const Nodes& nodes) {
  return std::string(TryWorkOf(nodes).status().message());
}

absl::StatusOr<JobImport> TryImport(const std::vector<Nodes>& ranks,
                                    const JobOptions& options = {}) {
  std::vector<RankWork> works;
  for (const Nodes& nodes : ranks) works.push_back(RankOf(nodes));
  return ImportJob(works, options);
}

JobImport ImportOf(const std::vector<Nodes>& ranks,
                   const JobOptions& options = {}) {
  auto import = TryImport(ranks, options);
  EXPECT_TRUE(import.ok()) << import.status();
  return import.ok() ? *std::move(import) : JobImport();
}

std::string ErrorOf(const std::vector<Nodes>& ranks,
                    const JobOptions& options = {}) {
  return std::string(TryImport(ranks, options).status().message());
}

// ---- The work of a rank -----------------------------------------------------

TEST(RankWorkTest, ComputationsBecomeTimesBetweenCommunications) {
  const RankWork work = RankOf(
      Nodes{Computes(1, 10, {}), Computes(2, 20, {1}), AllReduces(3, 64, {2}),
            Computes(4, 5, {3}), AllReduces(5, 64, {4}), Computes(6, 7, {5})});
  ASSERT_EQ(work.communications.size(), 2);
  EXPECT_THAT(work.communications[0].waits_for, ElementsAre(Pair(kBegin, 30)));
  EXPECT_THAT(work.communications[1].waits_for, ElementsAre(Pair(0, 5)));
  EXPECT_THAT(work.end, ElementsAre(Pair(1, 7)));
  EXPECT_EQ(work.critical_path_us, 42);
  EXPECT_EQ(work.computations, 4);
}

// A gradient travels while the next is computed.
TEST(RankWorkTest, WhatOverlapsStaysSo) {
  const RankWork work = RankOf(
      Nodes{Computes(1, 10, {}), AllReduces(2, 64, {1}), Computes(3, 100, {1}),
            AllReduces(4, 64, {3}), Computes(5, 1, {2, 4})});
  EXPECT_THAT(work.communications[0].waits_for, ElementsAre(Pair(kBegin, 10)));
  EXPECT_THAT(work.communications[1].waits_for,
              ElementsAre(Pair(kBegin, 110), Pair(0, 0)));
  EXPECT_THAT(work.end, ElementsAre(Pair(1, 1)));
  EXPECT_EQ(work.critical_path_us, 111);
}

TEST(RankWorkTest, AStreamDoesOneThingAtATime) {
  Nodes nodes = {Computes(1, 10, {}), Computes(2, 20, {}),
                 AllReduces(3, 64, {1, 2})};
  EXPECT_THAT(RankOf(nodes).communications[0].waits_for,
              ElementsAre(Pair(kBegin, 30)));
  nodes[1].stream = 7;
  EXPECT_THAT(RankOf(nodes).communications[0].waits_for,
              ElementsAre(Pair(kBegin, 20)));
  nodes[1].stream = 0;
  nodes[1].is_on_host = true;
  EXPECT_THAT(RankOf(nodes).communications[0].waits_for,
              ElementsAre(Pair(kBegin, 20)));
}

TEST(RankWorkTest, CollectivesOfAGroupAreInTurn) {
  Nodes nodes = {AllReduces(1, 64, {}), AllReduces(2, 64, {})};
  EXPECT_THAT(RankOf(nodes).communications[1].waits_for,
              ElementsAre(Pair(0, 0)));
  nodes[0].group = "rows";
  EXPECT_THAT(RankOf(nodes).communications[1].waits_for,
              ElementsAre(Pair(kBegin, 0)));
  nodes[0].group = "0";  // as PyTorch calls that of all ranks
  EXPECT_THAT(RankOf(nodes).communications[1].waits_for,
              ElementsAre(Pair(0, 0)));
}

TEST(RankWorkTest, ABarrierMovesAByte) {
  ChakraNode barrier = AllReduces(1, 4096, {});
  barrier.comm_type = 9;
  const RankWork work = RankOf({barrier});
  ASSERT_EQ(work.communications.size(), 1);
  EXPECT_EQ(work.communications[0].operation, "all_reduce");
  EXPECT_EQ(work.communications[0].bytes, 1);
}

TEST(RankWorkTest, WhatTheHostCallsIsNoCommunication) {
  Nodes nodes = {AllReduces(1, 64, {}), AllReduces(2, 64, {1})};
  nodes[0].is_on_host = true;
  nodes[0].duration_us = 3;
  const RankWork work = RankOf(nodes);
  ASSERT_EQ(work.communications.size(), 1);
  EXPECT_THAT(work.communications[0].waits_for, ElementsAre(Pair(kBegin, 3)));
  EXPECT_THAT(work.notes, Contains(Key(HasSubstr("is_cpu_op"))));
}

TEST(RankWorkTest, ManyNodesAreFewWaits) {
  Nodes nodes;
  for (uint64_t id = 1; id <= 20'000; ++id) {
    std::vector<uint64_t> after;
    if (id > 1) after.push_back(id - 1);
    if (id > 60) after.push_back(id - 50);
    if (id % 50 == 0) {
      nodes.push_back(AllReduces(id, 64, after));
    } else {
      nodes.push_back(Computes(id, 1, after));
    }
  }
  const RankWork work = RankOf(nodes);
  ASSERT_EQ(work.communications.size(), 400);
  for (const Communication& each : work.communications) {
    EXPECT_LE(each.waits_for.size(), 1);
  }
  EXPECT_EQ(work.critical_path_us, 20'000 - 400);
}

TEST(RankWorkTest, SaysWhichNodeIsWrong) {
  EXPECT_THAT(
      WorkError({Computes(1, 1, {}), Computes(2, 1, {1, 4}),
                 Computes(3, 1, {2}), Computes(4, 1, {3})}),
      HasSubstr("waits for itself: its dependencies are a cycle, of nodes"));
  EXPECT_THAT(WorkError({Computes(1, 1, {1})}),
              HasSubstr("node 1 waits for itself"));
  EXPECT_THAT(WorkError({Computes(1, 1, {}), Computes(1, 1, {})}),
              HasSubstr("node 1 is there twice"));
  EXPECT_THAT(WorkError({AllReduces(7, 0, {})}),
              HasSubstr("node 7 has 0 bytes"));
  EXPECT_THAT(WorkError({AllReduces(7, -5, {})}),
              HasSubstr("node 7 has -5 bytes"));
  ChakraNode gather = AllReduces(7, 64, {});
  gather.comm_type = 3;
  EXPECT_THAT(WorkError({gather}), HasSubstr("no schedule"));
  gather.comm_type = 10;
  EXPECT_THAT(WorkError({gather}), HasSubstr("comm_type must be 0 to 9"));
  gather.comm_type.reset();
  EXPECT_THAT(WorkError({gather}), HasSubstr("of type unknown"));
  ChakraNode send = Sends(8, 1, {});
  send.comm_dst.reset();
  EXPECT_THAT(WorkError({send}), HasSubstr("node 8 has no comm_dst"));
}

TEST(RankWorkTest, NothingTakesDays) {
  EXPECT_THAT(WorkError({Computes(1, kMaxDurationUs, {}), Computes(2, 1, {1})}),
              HasSubstr("more than a day"));
}

TEST(RankWorkTest, DependenciesOnNothingAreNoted) {
  const RankWork work = RankOf(Nodes{AllReduces(3, 64, {1, 2})});
  EXPECT_THAT(work.notes, Contains(Pair(HasSubstr("not in the file"), 2)));
}

// ---- Ranks ------------------------------------------------------------------

TEST(RankFilesTest, FilesAreByTheirNumbers) {
  EXPECT_THAT(*FilesByRank({"a/b.c/x.1.et", "a/b.c/x.0.et"}),
              ElementsAre("a/b.c/x.0.et", "a/b.c/x.1.et"));
  EXPECT_THAT(*FilesByRank({"x"}), ElementsAre("x"));
  const auto error = [](const std::vector<std::string>& files) {
    return std::string(FilesByRank(files).status().message());
  };
  EXPECT_THAT(error({"x.0.et", "x.2.et"}),
              HasSubstr("the file of rank 1 is missing (there is x.2.et)"));
  EXPECT_THAT(error({"x.0.et", "y.0.et"}), HasSubstr("y.0.et: is of rank 0"));
  EXPECT_THAT(error({"x.0.et", "x.et"}), HasSubstr("x.et: which rank"));
}

TEST(RankGridTest, GroupsAreLinesOfAGrid) {
  EXPECT_EQ(*GroupsByName({"a", "a", "b", "b"}), (RankGroups{1, 2}));
  EXPECT_EQ(*GroupsByName({"a", "b", "a", "b"}), (RankGroups{2, 2}));
  EXPECT_EQ(*GroupsByName({"", "", ""}), (RankGroups{1, 3}));
  EXPECT_FALSE(GroupsByName({"a", "a", "b"}).ok());
  EXPECT_FALSE(GroupsByName({"a", "b", "b", "a"}).ok());
  // A line that wraps around.
  EXPECT_FALSE(GroupsByName({"a", "b", "b", "c", "c", "a"}).ok());

  const auto sizes = [](int64_t ranks, const std::set<RankGroups>& groups) {
    std::string text;
    const auto grid = GridOf(ranks, groups);
    if (!grid.ok()) return std::string(grid.status().message());
    for (const RankAxis& axis : *grid) {
      absl::StrAppend(&text, axis.name, axis.size);
    }
    return text;
  };
  EXPECT_EQ(sizes(8, {}), "x8");
  EXPECT_EQ(sizes(8, {{1, 8}}), "x8");
  EXPECT_EQ(sizes(8, {{1, 2}, {2, 4}}), "x2y4");
  EXPECT_EQ(sizes(8, {{1, 2}, {2, 2}, {4, 2}}), "x2y2z2");
  EXPECT_EQ(sizes(8, {{4, 2}}), "x4y2");
  EXPECT_EQ(sizes(16, {{2, 2}}), "x2y2z4");
  EXPECT_THAT(sizes(8, {{1, 2}, {1, 8}}), HasSubstr("do not go with"));
  EXPECT_THAT(sizes(32, {{2, 2}, {8, 2}}), HasSubstr("at most 3"));
}

TEST(RankGridTest, PeersAreAtADistanceOrPartners) {
  const std::vector<RankAxis> grid = *GridOf(8, {{1, 2}, {2, 4}});
  EXPECT_EQ(*FilterOf({1, 0, 3, 2, 5, 4, 7, 6}, grid), "ring_x{1}");
  EXPECT_EQ(*FilterOf({2, 3, 4, 5, 6, 7, 0, 1}, grid), "ring_y{1}");
  EXPECT_EQ(*FilterOf({2, 3, 0, 1, 6, 7, 4, 5}, grid), "xor_y{1}");
  EXPECT_FALSE(FilterOf({1, 2, 3, 4, 5, 6, 7, 0}, grid).ok());
  const std::vector<RankAxis> line = *GridOf(4, {});
  EXPECT_EQ(*FilterOf({1, 2, 3, 0}, line), "ring_x{1}");
  EXPECT_EQ(*FilterOf({3, 0, 1, 2}, line), "ring_x{3}");
}

// ---- Jobs -------------------------------------------------------------------

Nodes Step(int64_t compute_us) {
  return {Computes(1, compute_us, {}),      AllReduces(2, 4096, {1}),
          Computes(3, 2 * compute_us, {1}), AllReduces(4, 4096, {3}),
          AllReduces(5, 512, {4}),          Computes(6, 500, {2, 5})};
}

// The test's time on hosts and a network that cost nothing.
double IterationMs(const JobImport& import, int ranks, int64_t iterations) {
  DistributedSystemDescription test = TestOf(import.text);
  for (Action& action : *test.mutable_actions()) {
    if (action.name() == "iterations") action.set_record_iterations(true);
  }
  engine::VirtualTimeSystem system(test, /*workers=*/1);
  EXPECT_TRUE(system.Run()) << import.text;
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(logs.instance_logs_size(), ranks);
  double sum_ns = 0;
  int64_t count = 0;
  for (const auto& [instance, log] : logs.instance_logs()) {
    const IterationLog& all = log.iteration_logs().at("iterations");
    EXPECT_EQ(all.durations_ns_size(), iterations) << instance;
    for (const int64_t ns : all.durations_ns()) {
      sum_ns += static_cast<double>(ns);
      ++count;
    }
  }
  return sum_ns / static_cast<double>(count) / 1e6;
}

TEST(JobTest, AnIterationTakesTheCriticalPath) {
  const JobImport import =
      ImportOf({Step(1000), Step(1000), Step(1000), Step(1000)},
               {.iterations = 5, .warmup_iterations = 1});
  EXPECT_EQ(import.critical_path_us, 3500);
  EXPECT_EQ(import.communications, 3);
  EXPECT_EQ(import.nodes, 24);
  EXPECT_NEAR(IterationMs(import, 4, 5), 3.5, 0.1);
}

TEST(JobTest, EqualCollectivesAreOneKind) {
  const JobImport import = ImportOf({Step(1000), Step(1000)});
  std::vector<std::string> collectives;
  for (const Action& action : import.test.actions()) {
    if (action.has_collective()) {
      collectives.push_back(absl::StrCat(action.name(), " ",
                                         action.collective().size(), " ",
                                         action.collective().algorithm()));
    }
  }
  EXPECT_THAT(collectives,
              ElementsAre("all_reduce_1 4096 ring", "all_reduce_2 512 ring"));
  EXPECT_EQ(ActionNamed(import.test, "step_2").action_list_name(),
            "all_reduce_1.once");
  EXPECT_THAT(ActionNamed(import.test, "step_3").dependencies(),
              ElementsAre("step_2"));
}

TEST(JobTest, OfDifferentSizesTheLargestCounts) {
  const JobImport import = ImportOf({{AllReduces(1, 4096, {})},
                                     {AllReduces(1, 8192, {})},
                                     {AllReduces(1, 1024, {})}});
  EXPECT_EQ(ActionNamed(import.test, "all_reduce_1").collective().size(), 8192);
}

TEST(JobTest, RanksOfDifferentSpeedsShareTheirTimes) {
  const JobImport import = ImportOf({Step(1000), Step(3000)});
  EXPECT_EQ(import.critical_path_us, 9500);
  bool has_both = false;
  for (const DistributionConfig& times :
       import.test.delay_distribution_configs()) {
    has_both = has_both || times.pmf_points_size() == 2;
  }
  EXPECT_TRUE(has_both);
  EXPECT_THAT(import.text, HasSubstr("that a rank is always slow is lost"));
}

TEST(JobTest, OneFileStandsForAllRanks) {
  const JobImport import = ImportOf({Step(1000)}, {.ranks = 8});
  EXPECT_EQ(import.test.services(0).x_size(), 8);
  EXPECT_THAT(import.text,
              HasSubstr("that 8 ranks do the same as the one of the file"));
  EXPECT_THAT(ErrorOf({Step(1000)}), HasSubstr("--ranks=N"));
  EXPECT_THAT(ErrorOf({Step(1), Step(1)}, {.ranks = 3}),
              HasSubstr("there are files of 2 ranks"));
}

TEST(JobTest, AllGatherGathersWhatAllHave) {
  ChakraNode gather = AllReduces(1, 1000, {});
  gather.comm_type = 2;
  gather.name = "ncclDevKernel_AllGather_RING_LL";
  const JobImport import = ImportOf({{gather}}, {.ranks = 4});
  const CollectiveSpec& spec =
      ActionNamed(import.test, "all_gather_1").collective();
  EXPECT_EQ(spec.operation(), "all_gather");
  EXPECT_EQ(spec.size(), 4000);
  EXPECT_THAT(import.text, HasSubstr("from the names of their kernels"));
}

TEST(JobTest, AllGatherOfAGroupGathersWhatItsRanksHave) {
  std::vector<Nodes> ranks;
  for (int rank = 0; rank < 8; ++rank) {
    ChakraNode gather = AllReduces(1, 1000, {});
    gather.comm_type = 2;
    gather.group = absl::StrCat("row", rank / 2);
    ranks.push_back({gather});
  }
  EXPECT_EQ(
      ActionNamed(ImportOf(ranks).test, "all_gather_1").collective().size(),
      2000);
}

TEST(JobTest, MessagesHaveALargestSize) {
  // A ring of four sends quarters.
  EXPECT_TRUE(
      TryImport({{AllReduces(1, 8'000'000'000, {})}}, {.ranks = 4}).ok());
  EXPECT_THAT(ErrorOf({{AllReduces(1, 9'000'000'000, {})}}, {.ranks = 4}),
              HasSubstr("needs a message of 2250000000 bytes"));
  EXPECT_THAT(ErrorOf({{AllReduces(1, int64_t{1} << 62, {})}}, {.ranks = 4}),
              HasSubstr("node 1 of rank 0: needs a message of"));
}

TEST(JobTest, GroupsAreAxes) {
  std::vector<Nodes> ranks;
  for (int rank = 0; rank < 8; ++rank) {
    ChakraNode row = AllReduces(1, 64, {});
    row.group = absl::StrCat("row", rank / 2);
    ChakraNode column = AllReduces(2, 128, {1});
    column.group = absl::StrCat("column", rank % 2);
    ranks.push_back({row, Computes(3, 100, {1}), column});
  }
  const JobImport import = ImportOf(ranks, {.iterations = 3});
  EXPECT_EQ(import.test.services(0).x_size(), 2);
  EXPECT_EQ(import.test.services(0).y_size(), 4);
  EXPECT_EQ(ActionNamed(import.test, "all_reduce_1").collective().axis(), "x");
  EXPECT_EQ(ActionNamed(import.test, "all_reduce_2").collective().axis(), "y");
  EXPECT_NEAR(IterationMs(import, 8, 3), 0.1, 0.05);
}

// As those of simulators' own collectives: a ring of sends and receives.
TEST(JobTest, MessagesAreRpcs) {
  std::vector<Nodes> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    const int next = (rank + 1) % 4;
    const int previous = (rank + 3) % 4;
    ranks.push_back({Sends(1, next, {}), Receives(2, previous, {1}),
                     Computes(3, 50, {2}), Sends(4, next, {3}),
                     Receives(5, previous, {4})});
  }
  const JobImport import = ImportOf(ranks, {.iterations = 4});
  ASSERT_EQ(import.test.rpc_descriptions_size(), 1);
  EXPECT_EQ(import.test.rpc_descriptions(0).fanout_filter(), "ring_x{1}");
  EXPECT_EQ(ActionNamed(import.test, "step_2").receive_rpc_name(), "message_1");
  EXPECT_NEAR(IterationMs(import, 4, 4), 0.05, 0.02);
}

TEST(JobTest, MessagesHaveTwoSides) {
  EXPECT_THAT(ErrorOf({{Sends(1, 1, {})}, {Sends(1, 0, {})}}),
              HasSubstr("node 1 of rank 0: what it sends is not received"));
  EXPECT_THAT(ErrorOf({{Receives(1, 1, {})}, {Receives(1, 0, {})}}),
              HasSubstr("what it receives is not sent"));
  EXPECT_THAT(ErrorOf({{Sends(1, 2, {})}, {Sends(1, 0, {})}}),
              HasSubstr("the other side of rank 0 (node 1) is rank 2"));
  EXPECT_THAT(ErrorOf({{Sends(1, 0, {})}, {Sends(1, 0, {})}}),
              HasSubstr("is rank 0; there are 2"));
  EXPECT_THAT(ErrorOf({{Sends(1, 1, {})}}, {.ranks = 4}),
              HasSubstr("give the files of all ranks"));
}

TEST(JobTest, DifferentGraphsAreRefused) {
  Nodes other = Step(1000);
  other[3].comm_type = 6;
  EXPECT_THAT(ErrorOf({Step(1000), other}),
              HasSubstr("rank 1 does not do the same as rank 0: after 1 "
                        "communications, it does all_to_all (node 4), and rank "
                        "0 does all_reduce (node 4)"));
  other = Step(1000);
  other.erase(other.begin() + 4);
  other[4].data_deps = {2};
  EXPECT_THAT(ErrorOf({Step(1000), other}),
              HasSubstr("it has ended, and rank 0 does all_reduce (node 5)"));
  EXPECT_THAT(ErrorOf({{Computes(1, 1, {})}, {Computes(1, 1, {})}}),
              HasSubstr("no communications"));
}

TEST(JobTest, ReportsSayWhatIsInvented) {
  const JobImport import = ImportOf({Step(1000), Step(1000)});
  EXPECT_THAT(JobText(import),
              HasSubstr("2 ranks of 12 nodes in all; 3 communications of each "
                        "rank in an iteration, which takes 3.5 ms"));
  EXPECT_THAT(JobText(import), HasSubstr("version of Chakra's schema: 1.0.0"));
  EXPECT_THAT(JobText(import), HasSubstr("algorithms of 2 kinds"));
  EXPECT_THAT(JobJson(import), HasSubstr("\"critical_path_us\": 3500"));
  EXPECT_THAT(import.provenance.warnings, IsEmpty());
}

}  // namespace
}  // namespace distbench::trace_import
