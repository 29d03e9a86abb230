// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/roll_call.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/hosts.h"

namespace distbench::launching {
namespace {

// More ranks than anyone reads.
constexpr size_t kMostNamed = 20;

// Returns "rank 4" or "ranks 1 to 3, 7".
std::string DescribeRanks(const std::vector<int>& ranks) {
  std::string text;
  size_t named = 0;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    if (named++ == kMostNamed) {
      absl::StrAppend(&text, " and ", ranks.size() - i, " more");
      break;
    }
    absl::StrAppend(&text, text.empty() ? "" : ", ", ranks[i]);
    if (last > i)
      absl::StrAppend(&text, last > i + 1 ? " to " : ", ", ranks[last]);
    i = last + 1;
  }
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", text);
}

// Empty if the clock is right, as far as is known.
std::string ClockProblem(const NodeStatus& node) {
  const absl::Duration offset = absl::Nanoseconds(node.clock_offset_ns());
  const absl::Duration error = absl::Nanoseconds(node.clock_error_ns());
  if (absl::AbsDuration(offset) - error <= RollCall::kClockTolerance) return "";
  return absl::StrFormat(
      "\nthe clock of %s (host %s) is %.1f s %s that of rank 0; distbench "
      "corrects for it, but logs and certificates do not: is NTP running "
      "there?",
      node.config().node_alias(), node.registration().hostname(),
      absl::ToDoubleSeconds(absl::AbsDuration(offset)),
      offset > absl::ZeroDuration() ? "ahead of" : "behind");
}

}  // namespace

bool RollCall::is_complete() const {
  if (!Missing().empty()) return false;
  for (const NodeStatus& node : status_.nodes()) {
    if (!node.has_clock_offset_ns()) return false;
  }
  return true;
}

std::vector<int> RollCall::Missing() const {
  std::set<std::string> present;
  for (const NodeStatus& node : status_.nodes()) {
    present.insert(node.config().node_alias());
  }
  std::vector<int> missing;
  for (int rank = node_on_leader_ ? 0 : 1; rank < size_; ++rank) {
    if (!present.contains(absl::StrCat("node", rank))) missing.push_back(rank);
  }
  return missing;
}

std::string RollCall::Summary() const {
  base::HostNumbers hosts;
  std::string clocks;
  for (const NodeStatus& node : status_.nodes()) {
    hosts.Of(node.registration().hostname(), node.registration().boot_id());
    absl::StrAppend(&clocks, ClockProblem(node));
  }
  const std::string all =
      size_ == 1 ? "the only process has joined: "
                 : absl::StrCat("all ", size_, " processes have joined: ");
  return absl::StrCat(all, status_.nodes_size(),
                      status_.nodes_size() == 1 ? " node on " : " nodes on ",
                      hosts.count(), hosts.count() == 1 ? " host" : " hosts",
                      clocks);
}

absl::Status RollCall::MissingAfter(absl::Duration time,
                                    bool has_secret) const {
  const std::vector<int> missing = Missing();
  if (missing.empty()) {
    return absl::DeadlineExceededError(
        absl::StrCat("the clocks of some nodes are not known after ",
                     absl::FormatDuration(time),
                     "; the hosts or the network are overloaded"));
  }
  return absl::DeadlineExceededError(absl::StrCat(
      DescribeRanks(missing), " of ", size_, " did not join within ",
      absl::FormatDuration(time), "; were they started",
      has_secret ? ", with the secret of this job" : " with --plain",
      ", and can they reach this process? Their own messages say what they "
      "wait for"));
}

}  // namespace distbench::launching
