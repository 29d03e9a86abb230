// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which hosts, groups of hosts and pairs of hosts are out of line.

#ifndef DISTBENCH_PRODUCTS_ALL_PAIRS_OUTLIERS_H_
#define DISTBENCH_PRODUCTS_ALL_PAIRS_OUTLIERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/all_pairs/report.pb.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::all_pairs {

using Pair = std::pair<std::string, std::string>;  // client and server

struct PairTimes {
  std::set<Pair> hosts;
  int64_t succeeded = 0;
  int64_t failed = 0;
  stats::LogHistogram latency_ns;  // of those that succeeded
};

using Pairs = std::map<Pair, PairTimes>;

// The hosts by the value of an attribute, of those that have it.
struct Grouping {
  std::string by;
  std::map<std::string, std::set<std::string>> hosts;
};

// Beside the attributes of nodes: what each host is by itself.
inline constexpr char kByHost[] = "host";

// With fewer, there is nothing to compare a host with.
inline constexpr size_t kEnoughHosts = 4;

// With fewer RPCs of a pair, its p99 is its maximum.
inline constexpr uint64_t kEnoughForP99 = 100;

// What is usual: the median of the hosts' medians, which a few slow hosts do
// not change, though they are part of many pairs. 0 if no pair has the figure.
struct Usual {
  double p50_ns = 0;
  double p99_ns = 0;
};

struct FoundOutliers {
  Usual usual;
  std::vector<ReportedPairs::Outlier> outliers;
};

// `one` is what the texts call each of them: "host", or "node".
//
// Where RPCs failed come first, then hosts and groups of them, then pairs
// beyond what their hosts explain, then what is part of a group in the list;
// the worst first. None is slow by chance, and none if there are fewer than
// four hosts, but failures are always named.
FoundOutliers FindOutliers(const Pairs& by_host,
                           const std::vector<Grouping>& groupings,
                           absl::string_view one);

}  // namespace distbench::all_pairs

#endif  // DISTBENCH_PRODUCTS_ALL_PAIRS_OUTLIERS_H_
