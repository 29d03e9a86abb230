// How often the analysis finds what makes simulated requests slow, and how
// often it accuses the innocent.

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/products/blame/blame.h"
#include "distbench/products/blame/testing/simulated_requests.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

constexpr int kSystems = 200;
constexpr int kFewestFound = kSystems * 95 / 100;
constexpr int kMostFalse = kSystems * 5 / 100;

// One in twenty requests takes 2 ms longer than its usual 1.2 ms.
constexpr int64_t kExtraNs = 2'000'000;
constexpr double kProbability = 0.05;

// Whom an analysis accuses.
struct Accusations {
  std::string stragglers;  // each followed by a space
  std::string main_cause;  // "RPC.part"
};

Accusations Accuse(const TracedRequests& requests) {
  const std::vector<TailWindow> windows = WindowsOf(requests);
  Accusations accusations;
  for (const Straggler& straggler : FindStragglers(requests, windows[kTail])) {
    if (!straggler.is_to_blame) continue;
    absl::StrAppend(&accusations.stragglers,
                    requests.instances[straggler.instance], " ");
  }
  const auto shares = SharesIn(requests, windows);
  if (const BlameShare* cause = MainCause(shares[kTail])) {
    accusations.main_cause =
        absl::StrCat(requests.rpcs[cause->rpc], ".", NameOf(cause->part));
  }
  return accusations;
}

// In how many systems that differ only in their seed the accusations are like
// this.
int CountSystems(const Trouble& trouble,
                 const std::function<bool(const Accusations&)>& is_so) {
  int count = 0;
  for (int seed = 1; seed <= kSystems; ++seed) {
    count += is_so(Accuse(
        Simulate({.trouble = trouble, .seed = static_cast<uint64_t>(seed)})));
  }
  return count;
}

TEST(BlameSimulationTest, ASlowLeafIsFound) {
  const int found =
      CountSystems({.rpc = kLookup,
                    .instance = 3,
                    .probability = kProbability,
                    .extra_ns = kExtraNs},
                   [](const Accusations& accusations) {
                     return accusations.stragglers == "leaf/3 " &&
                            accusations.main_cause == "lookup.server_handler";
                   });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, ALeafThatIsAlwaysSlowIsFound) {
  const int found = CountSystems(
      {.rpc = kLookup, .instance = 3, .probability = 1, .extra_ns = 300'000},
      [](const Accusations& accusations) {
        return accusations.stragglers == "leaf/3 ";
      });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, ASlowServerQueueIsFound) {
  const int found =
      CountSystems({.rpc = kRank,
                    .part = BlamePart::kServerQueue,
                    .probability = kProbability,
                    .extra_ns = kExtraNs},
                   [](const Accusations& accusations) {
                     return accusations.main_cause == "rank.server_queue" &&
                            accusations.stragglers.empty();
                   });
  EXPECT_GE(found, kFewestFound);
}

// Of any leaf, so that no instance is to blame.
TEST(BlameSimulationTest, ASlowNetworkIsFound) {
  const int found =
      CountSystems({.rpc = kLookup,
                    .part = BlamePart::kNetwork,
                    .probability = kProbability / 10,
                    .extra_ns = kExtraNs},
                   [](const Accusations& accusations) {
                     return accusations.main_cause == "lookup.network";
                   });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, ASlowRootIsFound) {
  const int found = CountSystems(
      {.rpc = kQuery, .probability = kProbability, .extra_ns = kExtraNs},
      [](const Accusations& accusations) {
        return accusations.main_cause == "query.server_handler";
      });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, EqualsAreNotAccused) {
  const int accused = CountSystems({}, [](const Accusations& accusations) {
    return !accusations.stragglers.empty() || !accusations.main_cause.empty();
  });
  EXPECT_LE(accused, kMostFalse);
}

// Where a part of all requests is slow, no instance is.
TEST(BlameSimulationTest, InnocentInstancesAreNotAccused) {
  const int accused = CountSystems(
      {.rpc = kLookup, .probability = kProbability / 10, .extra_ns = kExtraNs},
      [](const Accusations& accusations) {
        return !accusations.stragglers.empty();
      });
  EXPECT_LE(accused, kMostFalse);
}

}  // namespace
}  // namespace distbench::blame
