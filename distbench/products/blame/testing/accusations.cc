// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/testing/accusations.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "distbench/products/blame/blame.h"

namespace distbench::blame {
namespace {

constexpr double kLargeShare = 0.05;

struct NamedAsking {
  const char* name;
  Asking asking;
};

constexpr NamedAsking kAskings[] = {
    {"all of 10 at once", Asking::kAllAtOnce},
    {"all of 10 in turn", Asking::kAllInTurn},
    {"one of 10", Asking::kOne},
    {"three of 10 at once", Asking::kThree},
};

}  // namespace

std::vector<AccusationCase> CasesOfEquals() {
  std::vector<AccusationCase> cases;
  for (const auto& [name, asking] : kAskings) {
    const std::string of = name;
    cases.push_back({of, {.asking = asking}, ""});
    cases.push_back({of + ", 5 % of requests large",
                     {.asking = asking, .large_share = kLargeShare},
                     ""});
    cases.push_back(
        {of + ", pauses", {.asking = asking, .pause_share = 0.0005}, ""});
  }
  cases.push_back({"both of 2 at once, 5 % of requests large",
                   {.leaves = 2, .large_share = kLargeShare},
                   ""});
  cases.push_back(
      {"both of 2 in turn, 5 % of requests large",
       {.leaves = 2, .asking = Asking::kAllInTurn, .large_share = kLargeShare},
       ""});
  cases.push_back(
      {"one of 2, 5 % of requests large",
       {.leaves = 2, .asking = Asking::kOne, .large_share = kLargeShare},
       ""});
  cases.push_back(
      {"three of 10, large requests always leaf/0",
       {.asking = Asking::kThreeOrFirst, .large_share = kLargeShare},
       ""});
  cases.push_back({"all of 10 at once, few long pauses",
                   {.pause_share = 0.0001, .pause_requests = 60},
                   ""});
  cases.push_back({"all of 10 at once, slow at times anywhere",
                   {.trouble = {.rpc = kLookup,
                                .probability = 0.005,
                                .extra_ns = 2'000'000}},
                   ""});
  return cases;
}

std::vector<AccusationCase> CasesOfSlowInstances() {
  const Trouble at_times = {.rpc = kLookup,
                            .instance = 3,
                            .probability = 0.05,
                            .extra_ns = 2'000'000};
  const Trouble always = {
      .rpc = kLookup, .instance = 3, .probability = 1, .extra_ns = 300'000};
  std::vector<AccusationCase> cases;
  for (const auto& [name, asking] : kAskings) {
    const std::string of = name;
    cases.push_back({of + ", leaf/3 at times",
                     {.asking = asking, .trouble = at_times},
                     "leaf/3"});
    cases.push_back({of + ", leaf/3 always",
                     {.asking = asking, .trouble = always},
                     "leaf/3"});
    cases.push_back(
        {of + ", leaf/3 at times, 5 % of requests large",
         {.asking = asking, .large_share = kLargeShare, .trouble = at_times},
         "leaf/3"});
  }
  cases.push_back({"all of 100 at once, leaf/3 at times",
                   {.leaves = 100, .trouble = at_times},
                   "leaf/3"});
  cases.push_back({"one of 2 middle instances at times",
                   {.trouble = {.rpc = kRank,
                                .instance = 1,
                                .probability = 0.05,
                                .extra_ns = 2'000'000}},
                   "middle/1"});
  return cases;
}

Accusations CountAccusations(const AccusationCase& simulated, int tests) {
  Accusations counts;
  for (int seed = 1; seed <= tests; ++seed) {
    SimulatedSystem system = simulated.system;
    system.seed = static_cast<uint64_t>(seed);
    const ReportedBlame::BlamedRequests blame = BlameFor(Simulate(system));
    std::set<std::string> stragglers;
    for (const ReportedBlame::Straggler& straggler : blame.stragglers()) {
      if (straggler.is_to_blame()) stragglers.insert(straggler.instance());
    }
    std::set<std::string> remedied;
    for (const ReportedBlame::Remedy& remedy : blame.what_ifs().remedies()) {
      remedied.insert(remedy.instance());
    }
    const bool is_straggler = stragglers.erase(simulated.slow_instance) > 0;
    const bool is_remedied = remedied.erase(simulated.slow_instance) > 0;
    counts.found_as_straggler += is_straggler;
    counts.found_by_what_if += is_remedied;
    counts.found += is_straggler || is_remedied;
    counts.false_stragglers += !stragglers.empty();
    counts.false_what_ifs += !remedied.empty();
    counts.falsely_accused += !stragglers.empty() || !remedied.empty();
  }
  return counts;
}

}  // namespace distbench::blame
