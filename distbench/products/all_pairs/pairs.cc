// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/all_pairs/pairs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/text_table.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::all_pairs {
namespace {

// What is this many times what is usual, and more by this much, is out of line.
// Differences of a few microseconds are those of CPUs, not of a network.
constexpr double kMuch = 1.5;
constexpr double kLeastExcessNs = 20'000;

// With fewer pairs of a host, its median is that of one of them.
constexpr size_t kEnoughHosts = 4;

// With fewer RPCs of a pair, its p99 is its maximum.
constexpr uint64_t kEnoughForP99 = 100;

// A wider matrix is no longer read.
constexpr size_t kMaxColumns = 24;
constexpr size_t kMaxOutliers = 10;

// ---- Names of hosts ---------------------------------------------------------

// Names with numbers are in the order of these: host2 before host10.
bool ComesBefore(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& text, size_t& at) {
      const size_t first =
          std::min(text.find_first_not_of('0', at), text.size());
      at = first;
      while (at < text.size() && is_digit(text[at])) ++at;
      return absl::string_view(text).substr(first, at - first);
    };
    const absl::string_view left = number(a, i);
    const absl::string_view right = number(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

// By instance: the name of its host, and the attributes of its node.
struct Place {
  std::string host;
  std::map<std::string, std::string> attributes;
};

std::map<std::string, Place> PlacesOf(const TestResult& result) {
  const auto& endpoints = result.placement().service_endpoints();
  std::map<std::string, std::set<std::string>> nodes;  // by machine
  for (const auto& [instance, endpoint] : endpoints) {
    nodes[endpoint.hostname()].insert(endpoint.node_alias());
  }
  std::map<std::string, Place> places;
  for (const auto& [instance, endpoint] : endpoints) {
    Place& place = places[instance];
    const bool is_alone = nodes[endpoint.hostname()].size() == 1;
    place.host = is_alone && !endpoint.hostname().empty()
                     ? endpoint.hostname()
                     : endpoint.node_alias();
    for (const Attribute& attribute : endpoint.attributes()) {
      place.attributes[attribute.name()] = attribute.value();
    }
  }
  return places;
}

// Attributes that put hosts into several groups, of which at least one has
// several hosts.
std::vector<std::string> Groupings(const std::map<std::string, Place>& places) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> groups;
  std::set<std::string> hosts;
  for (const auto& [instance, place] : places) {
    hosts.insert(place.host);
    for (const auto& [name, value] : place.attributes) {
      groups[name][value].insert(place.host);
    }
  }
  std::vector<std::string> groupings;
  for (const auto& [name, by_value] : groups) {
    if (by_value.size() > 1 && by_value.size() < hosts.size()) {
      groupings.push_back(name);
    }
  }
  return groupings;
}

// ---- Pairs ------------------------------------------------------------------

using Pair = std::pair<std::string, std::string>;  // client and server

struct PairTimes {
  std::set<Pair> hosts;
  int64_t succeeded = 0;
  int64_t failed = 0;
  stats::LogHistogram service_time_ns;
};

using Pairs = std::map<Pair, PairTimes>;

// Puts RPCs between instances of the same service together by what `name_of`
// says of an instance; those without a name are left out.
template <typename NameOf>
Pairs PairsOf(const TestResult& result,
              const std::map<std::string, Place>& places, NameOf name_of) {
  Pairs pairs;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    const auto client = places.find(view.client);
    const auto server = places.find(view.server);
    if (client == places.end() || server == places.end() ||
        config::ServiceOf(view.client) != config::ServiceOf(view.server)) {
      return;
    }
    const std::optional<std::string> from = name_of(client->second);
    const std::optional<std::string> to = name_of(server->second);
    if (!from.has_value() || !to.has_value()) return;
    PairTimes& pair = pairs[{*from, *to}];
    const RpcStatistics& statistics = view.log.statistics();
    pair.hosts.insert({client->second.host, server->second.host});
    pair.succeeded += statistics.succeeded_count();
    pair.failed += statistics.failed_count();
    pair.service_time_ns.Merge(
        results::HistogramOf(statistics.service_time_ns()));
  });
  return pairs;
}

PairMatrix MatrixOf(const std::string& by, const Pairs& pairs) {
  PairMatrix matrix = {.by = by, .names = {}, .cells = {}};
  std::set<std::string> names;
  for (const auto& [pair, times] : pairs) {
    names.insert({pair.first, pair.second});
  }
  matrix.names.assign(names.begin(), names.end());
  absl::c_sort(matrix.names, ComesBefore);
  for (const std::string& client : matrix.names) {
    for (const std::string& server : matrix.names) {
      const auto found = pairs.find({client, server});
      if (found == pairs.end()) continue;
      const PairTimes& times = found->second;
      PairTable::Row& cell = matrix.cells.emplace_back();
      cell.set_by(by);
      cell.set_client(client);
      cell.set_server(server);
      cell.set_pairs(static_cast<int64_t>(times.hosts.size()));
      cell.set_succeeded(times.succeeded);
      cell.set_failed(times.failed);
      if (times.service_time_ns.count() == 0) continue;
      const auto at = [&](double quantile) {
        return static_cast<double>(
            times.service_time_ns.ValueAtQuantile(quantile));
      };
      cell.set_p50_ns(at(0.5));
      if (times.service_time_ns.count() >= kEnoughForP99) {
        cell.set_p99_ns(at(0.99));
      }
      cell.set_max_ns(static_cast<double>(times.service_time_ns.max()));
    }
  }
  return matrix;
}

// ---- What is out of line ----------------------------------------------------

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool IsOutOfLine(double measured_ns, double usual_ns) {
  return measured_ns > kMuch * usual_ns &&
         measured_ns > usual_ns + kLeastExcessNs;
}

// A figure of each pair of hosts.
using Figures = std::map<Pair, double>;

// First the hosts most of whose pairs are slow, then the pairs that are slow
// beside what their hosts explain.
void FindOutliers(const std::string& figure, const Figures& figures,
                  std::vector<ReportedPairs::Outlier>& outliers) {
  std::vector<double> all;
  std::map<std::string, std::vector<double>> by_host;
  for (const auto& [pair, ns] : figures) {
    all.push_back(ns);
    by_host[pair.first].push_back(ns);
    if (pair.second != pair.first) by_host[pair.second].push_back(ns);
  }
  if (by_host.size() < kEnoughHosts) return;
  const double usual_ns = Median(all);
  std::map<std::string, double> explained;
  for (const auto& [host, of_host] : by_host) {
    const double host_ns = Median(of_host);
    explained[host] = std::max(usual_ns, host_ns);
    if (!IsOutOfLine(host_ns, usual_ns)) continue;
    ReportedPairs::Outlier& outlier = outliers.emplace_back();
    outlier.set_host(host);
    outlier.set_figure(figure);
    outlier.set_measured_ns(host_ns);
    outlier.set_usual_ns(usual_ns);
  }
  for (const auto& [pair, ns] : figures) {
    const double expected_ns =
        std::max(explained[pair.first], explained[pair.second]);
    if (!IsOutOfLine(ns, expected_ns)) continue;
    ReportedPairs::Outlier& outlier = outliers.emplace_back();
    outlier.set_client(pair.first);
    outlier.set_server(pair.second);
    outlier.set_figure(figure);
    outlier.set_measured_ns(ns);
    outlier.set_usual_ns(expected_ns);
  }
}

double Factor(const ReportedPairs::Outlier& outlier) {
  return outlier.measured_ns() / outlier.usual_ns();
}

std::vector<ReportedPairs::Outlier> OutliersOf(const PairMatrix& by_host) {
  Figures p50;
  Figures p99;
  for (const PairTable::Row& cell : by_host.cells) {
    if (cell.has_p50_ns()) p50[{cell.client(), cell.server()}] = cell.p50_ns();
    if (cell.has_p99_ns()) p99[{cell.client(), cell.server()}] = cell.p99_ns();
  }
  std::vector<ReportedPairs::Outlier> outliers;
  FindOutliers("p50", p50, outliers);
  FindOutliers("p99", p99, outliers);
  // Hosts before pairs, which are many and often theirs.
  absl::c_stable_sort(outliers, [](const auto& a, const auto& b) {
    if (a.has_host() != b.has_host()) return a.has_host();
    return Factor(a) > Factor(b);
  });
  return outliers;
}

// ---- Text -------------------------------------------------------------------

std::string Describe(const ReportedPairs::Outlier& outlier) {
  const std::string who =
      outlier.has_host()
          ? absl::StrCat(base::PrintableLine(outlier.host()),
                         " as client and server")
          : absl::StrCat(base::PrintableLine(outlier.client()), " -> ",
                         base::PrintableLine(outlier.server()));
  return absl::StrCat(who, ": ", outlier.figure(), " ",
                      base::HumanDuration(outlier.measured_ns()),
                      outlier.has_host() ? " (median of its pairs), usual: "
                                         : ", usual of these hosts: ",
                      base::HumanDuration(outlier.usual_ns()));
}

void AddMatrix(const PairMatrix& matrix, std::vector<std::string>& lines) {
  if (matrix.names.size() > kMaxColumns) {
    lines.push_back(absl::StrCat(
        "  The matrix by ", base::PrintableLine(matrix.by), " has ",
        matrix.names.size(),
        " columns: see --format=csv --table=all_pairs, or the page"));
    return;
  }
  lines.push_back(absl::StrCat("  p50 by ", base::PrintableLine(matrix.by),
                               ", from clients (lines) to servers (columns):"));
  std::vector<base::TextRow> rows = {{""}};
  std::map<Pair, const PairTable::Row*> cells;
  for (const PairTable::Row& cell : matrix.cells) {
    cells[{cell.client(), cell.server()}] = &cell;
  }
  for (const std::string& name : matrix.names) {
    rows.front().push_back(base::PrintableLine(name));
    base::TextRow& row = rows.emplace_back();
    row.push_back(base::PrintableLine(name));
    for (const std::string& server : matrix.names) {
      const auto cell = cells.find({name, server});
      row.push_back(cell == cells.end() ? "-"
                    : cell->second->has_p50_ns()
                        ? base::HumanDuration(cell->second->p50_ns())
                        : "failed");
    }
  }
  const std::string alignment =
      absl::StrCat("l", std::string(matrix.names.size(), 'r'));
  for (const std::string& line : base::AlignedLines(rows, alignment)) {
    lines.push_back(absl::StrCat("    ", line));
  }
}

// Pairs of which RPCs failed.
std::vector<std::string> FailedPairs(const PairMatrix& by_host) {
  std::vector<std::string> failed;
  for (const PairTable::Row& cell : by_host.cells) {
    if (cell.failed() == 0) continue;
    failed.push_back(
        absl::StrCat(base::PrintableLine(cell.client()), " -> ",
                     base::PrintableLine(cell.server()), ": ", cell.failed(),
                     " of ", cell.failed() + cell.succeeded(), " RPCs failed"));
  }
  return failed;
}

// At most so many of them, and how many there are besides.
std::vector<std::string> FirstOf(std::vector<std::string> texts) {
  const size_t count = texts.size();
  if (count <= kMaxOutliers) return texts;
  texts.resize(kMaxOutliers);
  texts.push_back(absl::StrCat("and ", count - kMaxOutliers, " more"));
  return texts;
}

std::vector<std::string> OutlierTexts(const MeasuredPairs& pairs) {
  std::vector<std::string> texts = FailedPairs(pairs.matrices.front());
  for (const ReportedPairs::Outlier& outlier : pairs.outliers) {
    texts.push_back(Describe(outlier));
  }
  return FirstOf(std::move(texts));
}

}  // namespace

bool IsAllPairs(const TestResult& result) {
  return result.traffic_config().attributes().contains(kTestAttribute);
}

MeasuredPairs MeasurePairs(const TestResult& result) {
  const std::map<std::string, Place> places = PlacesOf(result);
  MeasuredPairs measured;
  const Pairs by_host = PairsOf(result, places, [](const Place& place) {
    return std::optional<std::string>(place.host);
  });
  if (by_host.empty()) return measured;
  measured.matrices.push_back(MatrixOf("host", by_host));
  for (const std::string& attribute : Groupings(places)) {
    measured.matrices.push_back(
        MatrixOf(attribute,
                 PairsOf(result, places,
                         [&](const Place& place) -> std::optional<std::string> {
                           const auto found = place.attributes.find(attribute);
                           if (found == place.attributes.end())
                             return std::nullopt;
                           return found->second;
                         })));
  }
  measured.outliers = OutliersOf(measured.matrices.front());
  std::vector<double> p50;
  for (const PairTable::Row& cell : measured.matrices.front().cells) {
    if (cell.has_p50_ns()) p50.push_back(cell.p50_ns());
  }
  measured.usual_p50_ns = Median(std::move(p50));
  return measured;
}

std::vector<std::string> PairLines(const TestResult& result) {
  const MeasuredPairs pairs = MeasurePairs(result);
  std::vector<std::string> lines;
  if (pairs.matrices.empty()) return lines;
  const PairMatrix& by_host = pairs.matrices.front();
  lines.push_back(absl::StrCat("  ", by_host.names.size(), " hosts, ",
                               by_host.cells.size(), " pairs: p50 ",
                               base::HumanDuration(pairs.usual_p50_ns),
                               " (median of the pairs)"));
  const std::vector<std::string> outliers = OutlierTexts(pairs);
  lines.push_back(outliers.empty() ? "  Outliers: none" : "  Outliers:");
  for (const std::string& text : outliers) {
    lines.push_back(absl::StrCat("    ", text));
  }
  for (const PairMatrix& matrix : pairs.matrices) AddMatrix(matrix, lines);
  return lines;
}

void JudgePairs(const TestResult& result, report::FindingList& findings) {
  if (!IsAllPairs(result)) return;
  const MeasuredPairs pairs = MeasurePairs(result);
  if (pairs.outliers.empty()) return;
  std::vector<std::string> texts;
  for (const ReportedPairs::Outlier& outlier : pairs.outliers) {
    texts.push_back(Describe(outlier));
  }
  findings.Add(
      Finding::NOTE, "pair_outliers",
      absl::StrCat("some hosts or pairs are out of line: ",
                   absl::StrJoin(FirstOf(std::move(texts)), "; ")),
      "Look at the links, the CPUs and the settings of these hosts. A host "
      "that "
      "is slow as client and server is slow itself; a single pair has a bad "
      "path.");
}

}  // namespace distbench::all_pairs
