// What requests around a quantile of their latency waited for.

#ifndef DISTBENCH_PRODUCTS_BLAME_TAIL_SHARES_H_
#define DISTBENCH_PRODUCTS_BLAME_TAIL_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "distbench/products/blame/critical_path.h"
#include "distbench/products/blame/request_tree.h"

namespace distbench::blame {

// Confidence intervals by the bootstrap.

// A value, and its 95 % confidence interval.
struct BlameEstimate {
  double value = 0;
  double lower = 0;
  double upper = 0;
};

// How many times each of some items was drawn.
using Multiplicities = std::vector<int>;

// Calls `visit` with each item drawn once, and then with items drawn with
// replacement, as often as DrawnEstimate() needs. The draws are always the same
// for the same seed.
void VisitDraws(size_t item_count, uint64_t seed,
                absl::FunctionRef<void(const Multiplicities&)> visit);

// The percentile interval: B. Efron, Bootstrap methods: another look at the
// jackknife, Annals of Statistics 7 (1979) 1-26. The values are those of the
// visits of VisitDraws(), in order.
BlameEstimate DrawnEstimate(std::vector<double> values);

inline constexpr double kBlamedQuantiles[] = {0.5, 0.99, 0.999};

// Fewer requests say too little.
inline constexpr int64_t kFewestTrees = 30;

// The requests around a quantile: ranks within 5 % of all requests on either
// side of it, or within as many as lie above it. At p99, these are the slowest
// 2 %, at p99.9 the slowest 0.2 %, so that the quantile is in their middle.
struct TailWindow {
  // Positions in TracedRequests::trees. Empty if there would be too few.
  std::vector<int> trees;

  // How many trees there must be in all.
  int64_t needed_count = 0;
};

// Returns the windows of kBlamedQuantiles.
std::vector<TailWindow> WindowsOf(const TracedRequests& requests);

// The trees in the order of their latency.
std::vector<int> ByLatency(const TracedRequests& requests);

// Where time went.
struct BlameShare {
  int rpc = 0;
  int instance = -1;  // -1: all instances together
  BlamePart part = BlamePart::kUndivided;

  // Of the time of the window's requests: the mean of the shares in each, so
  // that a single one cannot decide.
  BlameEstimate of_time;

  // Of the time by which the window's requests take longer than those around
  // p50, on average. May be negative. Absent in the window of p50.
  std::optional<BlameEstimate> of_excess = {};
};

struct QuantileShares {
  // The mean time of the requests in the window.
  double mean_ns = 0;

  // For each RPC and part; of_time adds up to 1, and so does of_excess. The
  // largest first.
  std::vector<BlameShare> shares;

  // The largest of single instances, at most kMostInstanceShares.
  std::vector<BlameShare> instance_shares;
};

inline constexpr size_t kMostInstanceShares = 10;

// Returns the RPC and part that makes up more than half of the excess, in 95 %
// confidence; null if there is none.
const BlameShare* MainCause(const QuantileShares& shares);

// Returns the shares in each of the windows, of which the first is that of p50.
// Windows without trees have none.
std::vector<QuantileShares> SharesIn(const TracedRequests& requests,
                                     const std::vector<TailWindow>& windows);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_TAIL_SHARES_H_
