// Instances that fanouts waited for more often than chance explains.

#ifndef DISTBENCH_PRODUCTS_BLAME_STRAGGLERS_H_
#define DISTBENCH_PRODUCTS_BLAME_STRAGGLERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distbench/products/blame/request_tree.h"
#include "distbench/products/blame/tail_shares.h"

namespace distbench::blame {

// How often an instance was the last of the targets of a fanout.
struct LastCount {
  int64_t fanout_count = 0;  // to this instance and others
  int64_t last_count = 0;

  // If all targets were alike, each of n would be last in 1/n of the fanouts,
  // and with a probability of 95 % no instance in more than most_by_chance.
  double expected_count = 0;
  int64_t most_by_chance = 0;

  // Last more often than by chance, and at least half as often again as
  // expected: in thousands of fanouts, the smallest difference is no chance.
  bool is_straggler = false;
};

// An instance of one RPC of the requests.
struct Straggler {
  int rpc = 0;
  int instance = 0;

  LastCount of_all;   // all fanouts
  LastCount of_tail;  // those that the requests in the tail waited for

  // The part of the instance's time on critical paths (of the tail, if there
  // are any there) in which it did not itself wait for other RPCs.
  double own_share = 0;

  // That part of its time, as a share of the time of all requests in the tail.
  double tail_share = 0;

  // Whether it is a straggler, and by its own doing. One with less than half of
  // own_share waits for stragglers.
  bool is_to_blame = false;
};

// Reports list only the first ones.
inline constexpr size_t kMostListedStragglers = 20;

// Returns all instances that were targets of fanouts with several targets,
// those to blame first, then by how often they were last in the tail.
//
// The number of fanouts in which an instance is last is binomial if nothing
// distinguishes targets; this is tested (one-sided) for each instance, among
// all fanouts and among those of the tail, and the tests share an error
// probability of 5 % (Bonferroni). With fanouts of several sizes, the mean of
// 1/n is the probability: the true distribution is then narrower than the
// binomial one (W. Hoeffding, On the Distribution of the Number of Successes in
// Independent Trials, Annals of Mathematical Statistics 27, 1956, 713-721).
std::vector<Straggler> FindStragglers(const TracedRequests& requests,
                                      const TailWindow& tail);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_STRAGGLERS_H_
