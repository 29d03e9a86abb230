// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What requests waited for: the RPCs on their critical paths, one after the
// other, and which of them make the tail longer than the median.

#ifndef DISTBENCH_PRODUCTS_BLAME_CRITICAL_PATH_H_
#define DISTBENCH_PRODUCTS_BLAME_CRITICAL_PATH_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/blame/report.pb.h"
#include "distbench/products/blame/request_tree.h"

namespace distbench::blame {

struct PathStep {
  int call = 0;  // position in the tree

  // The RPC's time in which the request waited for none of its children.
  int64_t own_ns = 0;
};

// Returns the RPCs on the critical path, parents first. Their own times add up
// to the duration of the root.
//
// The path is walked back from the end of the root. In an RPC, it goes to the
// child that ended last: of a parallel fanout, this is the one that all others
// waited for. From the start of this child it goes on to the child that ended
// last before that, and so on: of a sequence, these are all. Time between them
// is the RPC's own. As in Z. Zhang, M. K. Ramanathan, P. Raj, A. Parwal, T.
// Sherwood and M. Chabbi, CRISP: Critical Path Analysis of Large-Scale
// Microservice Architectures, USENIX ATC 2022; the idea is that of C.-Q. Yang
// and B. P. Miller, Critical Path Analysis for the Execution of Parallel and
// Distributed Programs, ICDCS 1988.
std::vector<PathStep> CriticalPath(const RequestTree& tree);

// The parts of a request's time, and their names.
enum class BlamePart {
  kLateness,  // before the request was sent, in its client
  kNetwork,   // network and both stacks
  kServerQueue,
  kServerHandler,  // without the RPCs that the handler waited for
  kUndivided,      // the three above, if the server did not report them
};
inline constexpr absl::string_view kPartNames[] = {
    "lateness", "network", "server_queue", "server_handler", "undivided"};

// Times by RPC and part.
using PathTimes = std::map<std::pair<int, BlamePart>, int64_t>;

// Returns where the time of a request went on its critical path. The times add
// up to total_ns().
PathTimes TimesOnPath(const RequestTree& tree);

inline constexpr double kBlamedQuantiles[] = {0.5, 0.99, 0.999};
inline constexpr int kMedian = 0;  // positions in it
inline constexpr int kTail = 1;

// The requests around a quantile: ranks within 5 % of all requests on either
// side of it, or within as many as lie above it. At p99, these are the slowest
// 2 %, at p99.9 the slowest 0.2 %, so that the quantile is in their middle.
struct TailWindow {
  // Ascending positions in TracedRequests::trees. Empty if there would be fewer
  // than 30, which say too little.
  std::vector<int> trees;

  // How many trees there must be in all.
  int64_t needed_count = 0;
};

// Returns the windows of kBlamedQuantiles.
std::vector<TailWindow> WindowsOf(const TracedRequests& requests);

// Returns what is reported of each window, with the largest shares first.
// Intervals are those of ratios of sums, from consecutive blocks of requests
// (stats/ratio_error.h).
std::vector<ReportedBlame::Quantile> SharesIn(
    const TracedRequests& requests, const std::vector<TailWindow>& windows);

// Returns the RPC and part that makes up more than half of the excess, in 95 %
// confidence; null if there is none.
const ReportedBlame::BlameShare* MainCause(
    const ReportedBlame::Quantile& quantile);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_CRITICAL_PATH_H_
