// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/all_pairs/outliers.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/stats/median.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::all_pairs {
namespace {

using Outlier = ReportedPairs::Outlier;

// What is this many times what is usual, and more by this much, is out of line.
// Differences of a few microseconds are those of CPUs, not of a network.
constexpr double kMuch = 1.5;
constexpr double kLeastExcessNs = 20'000;

// How often chance may name one of all pairs, and how often it may mislead
// about a pair of a host, of which it would have to mislead about half.
constexpr double kErrorOfAllPairs = 0.01;
constexpr double kErrorOfOnePair = 0.05;

constexpr char kP50[] = "p50";
constexpr char kP99[] = "p99";
constexpr char kFailed[] = "failed";

// ---- Figures of pairs -------------------------------------------------------

struct Figure {
  const char* name;
  double quantile;
  uint64_t least_count;
  double Usual::*usual_ns;
};

constexpr Figure kFigures[] = {
    {kP50, 0.5, 1, &Usual::p50_ns},
    {kP99, 0.99, kEnoughForP99, &Usual::p99_ns},
};

// Who is slow with half of the others is not slow.
double Median(std::vector<double> values) {
  return values.empty() ? 0 : stats::LowMedian(std::move(values));
}

// What the figure is at least, except by chance; 0 if there are too few RPCs to
// tell.
double LowerBound(const stats::LogHistogram& times, double quantile,
                  double error) {
  const auto count = static_cast<int64_t>(times.count());
  const stats::RankInterval ranks =
      stats::OrderStatisticRanks(count, quantile, 1 - 2 * error);
  if (ranks.lower < 1) return 0;
  // In the middle of the rank, so that no rounding leads to its neighbour.
  const double position = static_cast<double>(ranks.lower) - 0.5;
  return static_cast<double>(
      times.ValueAtQuantile(position / static_cast<double>(count)));
}

struct Measured {
  double ns;
  double at_least_ns;           // by kErrorOfAllPairs
  double at_least_for_host_ns;  // by kErrorOfOnePair
};

// Of each pair of two hosts that has the figure.
using Figures = std::map<Pair, Measured>;

Figures FiguresOf(const Pairs& by_host, const Figure& figure) {
  const double error_of_pair =
      kErrorOfAllPairs /
      static_cast<double>(std::max<size_t>(1, by_host.size()));
  Figures figures;
  for (const auto& [pair, times] : by_host) {
    const stats::LogHistogram& ns = times.latency_ns;
    if (pair.first == pair.second || ns.count() < figure.least_count) continue;
    figures[pair] = {static_cast<double>(ns.ValueAtQuantile(figure.quantile)),
                     LowerBound(ns, figure.quantile, error_of_pair),
                     LowerBound(ns, figure.quantile, kErrorOfOnePair)};
  }
  return figures;
}

// Of the pairs of a host in a role, or in both.
struct OfRole {
  std::vector<double> ns;
  std::vector<double> at_least_ns;
};

struct OfHost {
  OfRole client;
  OfRole server;
  std::vector<double> all_ns;
};

std::map<std::string, OfHost> ByHost(const Figures& figures) {
  std::map<std::string, OfHost> hosts;
  const auto add = [](const Measured& measured, OfHost& host, OfRole& role) {
    role.ns.push_back(measured.ns);
    role.at_least_ns.push_back(measured.at_least_for_host_ns);
    host.all_ns.push_back(measured.ns);
  };
  for (const auto& [pair, measured] : figures) {
    OfHost& client = hosts[pair.first];
    add(measured, client, client.client);
    OfHost& server = hosts[pair.second];
    add(measured, server, server.server);
  }
  return hosts;
}

double UsualNs(const std::map<std::string, OfHost>& hosts) {
  std::vector<double> medians;
  for (const auto& [name, host] : hosts) medians.push_back(Median(host.all_ns));
  return Median(std::move(medians));
}

bool IsOutOfLine(double measured_ns, double usual_ns) {
  return measured_ns > kMuch * usual_ns &&
         measured_ns > usual_ns + kLeastExcessNs;
}

// ---- Hosts and pairs --------------------------------------------------------

// As client, as server, or as both.
Outlier NameHost(const std::string& host, bool is_client, bool is_server) {
  Outlier outlier;
  outlier.set_by(kByHost);
  if (is_client && is_server) {
    outlier.set_name(host);
  } else if (is_client) {
    outlier.set_client(host);
  } else {
    outlier.set_server(host);
  }
  return outlier;
}

Outlier NamePair(const Pair& pair) {
  Outlier outlier;
  outlier.set_by(kByHost);
  outlier.set_client(pair.first);
  outlier.set_server(pair.second);
  return outlier;
}

bool IsPair(const Outlier& outlier) {
  return outlier.has_client() && outlier.has_server();
}

// Whoever an outlier is, without what it is for.
using Who = std::tuple<std::string, std::string, std::string>;

Who WhoIs(const Outlier& outlier) {
  return {outlier.name(), outlier.client(), outlier.server()};
}

void SetTimes(const Figure& figure, double measured_ns, double usual_ns,
              Outlier& outlier) {
  outlier.set_figure(figure.name);
  outlier.set_measured_ns(measured_ns);
  outlier.set_usual_ns(usual_ns);
}

struct Slow {
  double usual_ns = 0;
  std::vector<Outlier> ones;
};

// First the hosts most of whose pairs are slow, then the pairs that are slow
// beside what their hosts explain: what both take more than others, together.
Slow SlowOnes(const Figures& figures, const Figure& figure) {
  const std::map<std::string, OfHost> hosts = ByHost(figures);
  Slow slow = {.usual_ns = UsualNs(hosts)};
  if (hosts.size() < kEnoughHosts) return slow;
  const double usual_ns = slow.usual_ns;
  std::map<std::string, double> excess_as_client;
  std::map<std::string, double> excess_as_server;
  for (const auto& [name, host] : hosts) {
    const double client_ns = Median(host.client.ns);
    const double server_ns = Median(host.server.ns);
    excess_as_client[name] = std::max(0.0, client_ns - usual_ns);
    excess_as_server[name] = std::max(0.0, server_ns - usual_ns);
    const bool is_client =
        IsOutOfLine(Median(host.client.at_least_ns), usual_ns);
    const bool is_server =
        IsOutOfLine(Median(host.server.at_least_ns), usual_ns);
    if (!is_client && !is_server) continue;
    Outlier& outlier =
        slow.ones.emplace_back(NameHost(name, is_client, is_server));
    SetTimes(figure,
             is_client && is_server ? Median(host.all_ns)
             : is_client            ? client_ns
                                    : server_ns,
             usual_ns, outlier);
  }
  for (const auto& [pair, measured] : figures) {
    const double expected_ns =
        usual_ns + excess_as_client[pair.first] + excess_as_server[pair.second];
    if (!IsOutOfLine(measured.at_least_ns, expected_ns)) continue;
    SetTimes(figure, measured.ns, expected_ns,
             slow.ones.emplace_back(NamePair(pair)));
  }
  return slow;
}

// ---- Failures ---------------------------------------------------------------

struct Failures {
  int64_t pairs = 0;
  int64_t failed_pairs = 0;  // most of whose RPCs failed
  int64_t failed = 0;
  int64_t rpcs = 0;

  void Add(const PairTimes& times) {
    const int64_t count = times.failed + times.succeeded;
    ++pairs;
    failed_pairs += 2 * times.failed > count;
    failed += times.failed;
    rpcs += count;
  }

  // With most of the others: not they, but it.
  bool IsOfHost() const { return pairs > 1 && 2 * failed_pairs > pairs; }
};

void SetFailures(int64_t failed, int64_t rpcs, Outlier& outlier) {
  outlier.set_figure(kFailed);
  outlier.set_failed(failed);
  outlier.set_rpcs(rpcs);
}

std::vector<Outlier> FailedOnes(const Pairs& by_host) {
  std::map<std::string, Failures> as_client;
  std::map<std::string, Failures> as_server;
  for (const auto& [pair, times] : by_host) {
    as_client[pair.first].Add(times);
    as_server[pair.second].Add(times);
  }
  std::vector<Outlier> failed;
  std::set<std::string> names;
  for (const auto& [pair, times] : by_host) {
    names.insert({pair.first, pair.second});
  }
  for (const std::string& name : names) {
    const Failures& client = as_client[name];
    const Failures& server = as_server[name];
    if (!client.IsOfHost() && !server.IsOfHost()) continue;
    const bool is_client = client.IsOfHost();
    const bool is_server = server.IsOfHost();
    SetFailures(client.failed * is_client + server.failed * is_server,
                client.rpcs * is_client + server.rpcs * is_server,
                failed.emplace_back(NameHost(name, is_client, is_server)));
  }
  for (const auto& [pair, times] : by_host) {
    if (times.failed == 0 || as_client[pair.first].IsOfHost() ||
        as_server[pair.second].IsOfHost()) {
      continue;
    }
    SetFailures(times.failed, times.failed + times.succeeded,
                failed.emplace_back(NamePair(pair)));
  }
  return failed;
}

// ---- Groups -----------------------------------------------------------------

// One entry for several, of which each then is a part of it.
Outlier PutTogether(const std::vector<Outlier*>& parts, const std::string& by) {
  Outlier all;
  all.set_by(by);
  all.set_figure(parts.front()->figure());
  std::vector<double> measured_ns;
  std::vector<double> usual_ns;
  int64_t failed = 0;
  int64_t rpcs = 0;
  for (Outlier* part : parts) {
    part->set_is_part(true);
    measured_ns.push_back(part->measured_ns());
    usual_ns.push_back(part->usual_ns());
    failed += part->failed();
    rpcs += part->rpcs();
  }
  if (all.figure() == kFailed) {
    SetFailures(failed, rpcs, all);
  } else {
    all.set_measured_ns(Median(std::move(measured_ns)));
    all.set_usual_ns(Median(std::move(usual_ns)));
  }
  return all;
}

// Names the groups all of whose hosts, and the pairs of groups all of whose
// pairs, are out of line for the same reason.
class GroupFinder {
 public:
  GroupFinder(const Grouping& grouping, const Pairs& by_host)
      : grouping_(grouping) {
    for (const auto& [group, hosts] : grouping.hosts) {
      for (const std::string& host : hosts) group_of_[host] = group;
    }
    for (const auto& [pair, times] : by_host) {
      const auto groups = GroupsOf(pair);
      if (groups.has_value() && pair.first != pair.second) {
        ++pair_counts_[*groups];
      }
    }
  }

  std::vector<Outlier> Find(std::vector<Outlier>& outliers) {
    std::map<Key, std::vector<Outlier*>> alike;
    for (Outlier& outlier : outliers) {
      const auto key = KeyOf(outlier);
      if (key.has_value() && !outlier.is_part()) {
        alike[*key].push_back(&outlier);
      }
    }
    std::vector<Outlier> found;
    for (const auto& [key, parts] : alike) {
      if (parts.size() < 2 || parts.size() != SizeOf(key)) continue;
      const auto& [figure, who] = key;
      const auto& [name, client, server] = who;
      Outlier& group = found.emplace_back(PutTogether(parts, grouping_.by));
      if (!name.empty()) group.set_name(name);
      if (!client.empty()) group.set_client(client);
      if (!server.empty()) group.set_server(server);
    }
    return found;
  }

 private:
  // A figure, and groups in place of hosts.
  using Key = std::pair<std::string, Who>;

  std::optional<Pair> GroupsOf(const Pair& pair) const {
    const auto client = group_of_.find(pair.first);
    const auto server = group_of_.find(pair.second);
    if (client == group_of_.end() || server == group_of_.end()) {
      return std::nullopt;
    }
    return Pair{client->second, server->second};
  }

  std::optional<Key> KeyOf(const Outlier& outlier) const {
    auto [name, client, server] = WhoIs(outlier);
    for (std::string* each : {&name, &client, &server}) {
      if (each->empty()) continue;
      const auto group = group_of_.find(*each);
      if (group == group_of_.end()) return std::nullopt;
      *each = group->second;
    }
    return Key{outlier.figure(), {name, client, server}};
  }

  size_t SizeOf(const Key& key) const {
    const auto& [name, client, server] = key.second;
    if (!client.empty() && !server.empty()) {
      return pair_counts_.at({client, server});
    }
    const std::string& group = !name.empty()     ? name
                               : !client.empty() ? client
                                                 : server;
    return grouping_.hosts.at(group).size();
  }

  const Grouping& grouping_;
  std::map<std::string, std::string> group_of_;
  std::map<Pair, size_t> pair_counts_;
};

// ---- Order and text ---------------------------------------------------------

// How bad it is, among those of its kind.
double Badness(const Outlier& outlier) {
  if (outlier.figure() == kFailed) {
    return static_cast<double>(outlier.failed()) /
           static_cast<double>(std::max<int64_t>(1, outlier.rpcs()));
  }
  return outlier.measured_ns() / std::max(1.0, outlier.usual_ns());
}

// Groups come before single pairs, of which there may be more than a reader is
// shown.
void Sort(std::vector<Outlier>& outliers) {
  const auto order = [](const Outlier& outlier) {
    return std::tuple(outlier.is_part(), IsPair(outlier),
                      outlier.figure() != kFailed, -Badness(outlier));
  };
  absl::c_stable_sort(outliers, [&](const Outlier& a, const Outlier& b) {
    return order(a) < order(b);
  });
}

std::string WhoInWords(const Outlier& outlier, absl::string_view one) {
  const auto named = [&](const std::string& name) {
    const std::string printable = base::PrintableLine(name);
    if (outlier.by() == kByHost) return printable;
    return absl::StrCat(base::PrintableLine(outlier.by()), " ", printable);
  };
  const std::string all = outlier.by() == kByHost ? ""
                          : IsPair(outlier)
                              ? "all pairs of "
                              : absl::StrCat("all ", one, "s of ");
  if (IsPair(outlier)) {
    return absl::StrCat(all, named(outlier.client()), " -> ",
                        named(outlier.server()));
  }
  if (outlier.has_name()) {
    return absl::StrCat(all, named(outlier.name()), ", as client and server");
  }
  return outlier.has_client()
             ? absl::StrCat(all, named(outlier.client()), ", as client")
             : absl::StrCat(all, named(outlier.server()), ", as server");
}

std::string InWords(const Outlier& outlier, absl::string_view one) {
  const std::string who = WhoInWords(outlier, one);
  if (outlier.figure() == kFailed) {
    return absl::StrCat(who, ": ", outlier.failed(), " of ", outlier.rpcs(),
                        " RPCs failed");
  }
  return absl::StrCat(who, ": ", outlier.figure(), " ",
                      base::HumanDuration(outlier.measured_ns()),
                      IsPair(outlier)
                          ? absl::StrCat("; its ", one, "s explain ")
                          : " (median of the pairs); usual: ",
                      base::HumanDuration(outlier.usual_ns()));
}

}  // namespace

FoundOutliers FindOutliers(const Pairs& by_host,
                           const std::vector<Grouping>& groupings,
                           absl::string_view one) {
  FoundOutliers found;
  found.outliers = FailedOnes(by_host);
  // Whose median is out of line has a tail that is, too; and of a host that
  // hardly answers, what it does answer is no news.
  std::set<Who> named;
  for (const Outlier& outlier : found.outliers) {
    if (!IsPair(outlier)) named.insert(WhoIs(outlier));
  }
  for (const Figure& figure : kFigures) {
    Slow slow = SlowOnes(FiguresOf(by_host, figure), figure);
    found.usual.*figure.usual_ns = slow.usual_ns;
    for (Outlier& outlier : slow.ones) {
      if (!named.insert(WhoIs(outlier)).second) continue;
      found.outliers.push_back(std::move(outlier));
    }
  }
  std::vector<Outlier> groups;
  for (const Grouping& grouping : groupings) {
    for (Outlier& group : GroupFinder(grouping, by_host).Find(found.outliers)) {
      groups.push_back(std::move(group));
    }
  }
  absl::c_move(groups, std::back_inserter(found.outliers));
  for (Outlier& outlier : found.outliers) {
    outlier.set_text(InWords(outlier, one));
  }
  Sort(found.outliers);
  return found;
}

}  // namespace distbench::all_pairs
