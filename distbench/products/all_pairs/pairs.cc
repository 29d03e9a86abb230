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
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::all_pairs {
namespace {

// A wider matrix is no longer read.
constexpr size_t kMaxColumns = 24;

// Of those that are out of line.
constexpr size_t kMaxLines = 10;

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

// The name of an instance's host, and the attributes of its node.
struct Place {
  std::string host;
  bool is_node = false;  // the name is that of the node
  std::map<std::string, std::string> attributes;
};

using Places = std::map<std::string, Place>;  // by instance

Places PlacesOf(const TestResult& result) {
  const auto& endpoints = result.placement().service_endpoints();
  std::map<std::string, std::set<std::string>> nodes;  // by machine
  for (const auto& [instance, endpoint] : endpoints) {
    nodes[endpoint.hostname()].insert(endpoint.node_alias());
  }
  Places places;
  for (const auto& [instance, endpoint] : endpoints) {
    Place& place = places[instance];
    place.is_node =
        endpoint.hostname().empty() || nodes[endpoint.hostname()].size() > 1;
    place.host = place.is_node ? endpoint.node_alias() : endpoint.hostname();
    for (const Attribute& attribute : endpoint.attributes()) {
      place.attributes[attribute.name()] = attribute.value();
    }
  }
  return places;
}

// By the attributes that put hosts into several groups, of which at least one
// has several hosts. One called "host" would be taken for the host's name.
std::vector<Grouping> GroupingsOf(const Places& places) {
  std::map<std::string, Grouping> by_attribute;
  std::set<std::string> hosts;
  for (const auto& [instance, place] : places) {
    hosts.insert(place.host);
    for (const auto& [name, value] : place.attributes) {
      if (name != kByHost) by_attribute[name].hosts[value].insert(place.host);
    }
  }
  std::vector<Grouping> groupings;
  for (auto& [name, grouping] : by_attribute) {
    grouping.by = name;
    if (grouping.hosts.size() > 1 && grouping.hosts.size() < hosts.size()) {
      groupings.push_back(std::move(grouping));
    }
  }
  return groupings;
}

// ---- Pairs ------------------------------------------------------------------

// An RPC between two instances of the same service.
struct PairLog {
  const Place* client;
  const Place* server;
  int rpc_index;
  const RpcStatistics* statistics;
};

std::vector<PairLog> PairLogsOf(const TestResult& result,
                                const Places& places) {
  std::vector<PairLog> logs;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    const auto client = places.find(view.client);
    const auto server = places.find(view.server);
    if (client == places.end() || server == places.end() ||
        config::ServiceOf(view.client) != config::ServiceOf(view.server)) {
      return;
    }
    logs.push_back({&client->second, &server->second, view.rpc_index,
                    &view.log.statistics()});
  });
  return logs;
}

// The RPCs of open loops, of which all pairs have response times. Only those
// have what a late client added.
std::set<int> OpenLoopsOf(const std::vector<PairLog>& logs) {
  std::set<int> rpcs;
  for (const PairLog& log : logs) {
    if (log.statistics->response_time_ns().bucket_counts_size() > 0 ||
        log.statistics->response_time_moments().count() > 0) {
      rpcs.insert(log.rpc_index);
    }
  }
  return rpcs;
}

PairLatency LatencyOf(const std::vector<PairLog>& logs,
                      const std::set<int>& open_loops) {
  if (open_loops.empty()) return PairLatency::kService;
  const bool are_all = absl::c_all_of(logs, [&](const PairLog& log) {
    return open_loops.contains(log.rpc_index);
  });
  return are_all ? PairLatency::kResponse : PairLatency::kMixed;
}

// Puts RPCs together by what `name_of` says of an instance's place; those
// without a name are left out.
template <typename NameOf>
Pairs PairsOf(const std::vector<PairLog>& logs, const std::set<int>& open_loops,
              NameOf name_of) {
  Pairs pairs;
  for (const PairLog& log : logs) {
    const std::optional<std::string> from = name_of(*log.client);
    const std::optional<std::string> to = name_of(*log.server);
    if (!from.has_value() || !to.has_value()) continue;
    PairTimes& pair = pairs[{*from, *to}];
    const RpcStatistics& statistics = *log.statistics;
    pair.hosts.insert({log.client->host, log.server->host});
    pair.succeeded += statistics.succeeded_count();
    pair.failed += statistics.failed_count();
    pair.latency_ns.Merge(results::HistogramOf(
        open_loops.contains(log.rpc_index) ? statistics.response_time_ns()
                                           : statistics.service_time_ns()));
  }
  return pairs;
}

PairMatrix MatrixOf(const std::string& by, const Pairs& pairs,
                    PairLatency latency) {
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
      cell.set_latency(PairLatencyName(latency));
      if (times.latency_ns.count() == 0) continue;
      const auto at = [&](double quantile) {
        return static_cast<double>(times.latency_ns.ValueAtQuantile(quantile));
      };
      cell.set_p50_ns(at(0.5));
      if (times.latency_ns.count() >= kEnoughForP99) cell.set_p99_ns(at(0.99));
      cell.set_max_ns(static_cast<double>(times.latency_ns.max()));
    }
  }
  return matrix;
}

// ---- Text -------------------------------------------------------------------

// What each of those is that names of hosts are of.
absl::string_view One(const MeasuredPairs& pairs) {
  return pairs.are_nodes ? "node" : kByHost;
}

absl::string_view LatencyInWords(PairLatency latency) {
  switch (latency) {
    case PairLatency::kResponse:
      return "response times";
    case PairLatency::kService:
      return "service times";
    case PairLatency::kMixed:
      break;
  }
  return "response times of open loops, service times of others";
}

void AddMatrix(const PairMatrix& matrix, const MeasuredPairs& pairs,
               std::vector<std::string>& lines) {
  const std::string by = matrix.by == kByHost ? std::string(One(pairs))
                                              : base::PrintableLine(matrix.by);
  if (matrix.names.size() > kMaxColumns) {
    lines.push_back(absl::StrCat(
        "  The matrix by ", by, " has ", matrix.names.size(),
        " columns: see --format=csv --table=all_pairs, or the page"));
    return;
  }
  lines.push_back(absl::StrCat("  p50 by ", by,
                               ", from clients (lines) to servers (columns), ",
                               LatencyInWords(pairs.latency), ":"));
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

// Who is out of line, without what a group says already: at most so many lines,
// and how many there are besides.
std::vector<std::string> OutlierTexts(const MeasuredPairs& pairs) {
  std::vector<std::string> texts;
  for (const ReportedPairs::Outlier& outlier : pairs.outliers) {
    if (!outlier.is_part()) texts.push_back(outlier.text());
  }
  const size_t count = texts.size();
  if (count <= kMaxLines) return texts;
  texts.resize(kMaxLines);
  texts.push_back(absl::StrCat("and ", count - kMaxLines, " more"));
  return texts;
}

// Numbers that are false, or incomplete, show neither that somebody is out of
// line nor that nobody is.
std::string OutliersTitle(const TestResult& result, const MeasuredPairs& pairs,
                          bool has_outliers) {
  const std::string verdict = report::RunVerdict(result);
  const std::string doubt = verdict == "invalid"  ? "the run is invalid"
                            : verdict == "failed" ? "the run failed"
                                                  : "";
  if (has_outliers) {
    return doubt.empty() ? "  Outliers:"
                         : absl::StrCat("  Outliers (", doubt, "):");
  }
  if (!doubt.empty()) return absl::StrCat("  Outliers: unknown, as ", doubt);
  if (pairs.is_compared) return "  Outliers: none";
  return absl::StrCat("  Outliers: too few ", One(pairs), "s to tell");
}

}  // namespace

std::string PairLatencyName(PairLatency latency) {
  switch (latency) {
    case PairLatency::kResponse:
      return "response";
    case PairLatency::kService:
      return "service";
    case PairLatency::kMixed:
      break;
  }
  return "mixed";
}

bool IsAllPairs(const TestResult& result) {
  return result.traffic_config().attributes().contains(kTestAttribute);
}

MeasuredPairs MeasurePairs(const TestResult& result) {
  const Places places = PlacesOf(result);
  const std::vector<PairLog> logs = PairLogsOf(result, places);
  const std::set<int> open_loops = OpenLoopsOf(logs);
  MeasuredPairs measured;
  measured.latency = LatencyOf(logs, open_loops);
  measured.are_nodes = absl::c_any_of(logs, [](const PairLog& log) {
    return log.client->is_node || log.server->is_node;
  });
  const Pairs by_host = PairsOf(logs, open_loops, [](const Place& place) {
    return std::optional<std::string>(place.host);
  });
  if (by_host.empty()) return measured;
  measured.matrices.push_back(MatrixOf(kByHost, by_host, measured.latency));
  const std::vector<Grouping> groupings = GroupingsOf(places);
  for (const Grouping& grouping : groupings) {
    const auto group_of =
        [&](const Place& place) -> std::optional<std::string> {
      const auto found = place.attributes.find(grouping.by);
      if (found == place.attributes.end()) return std::nullopt;
      return found->second;
    };
    measured.matrices.push_back(MatrixOf(
        grouping.by, PairsOf(logs, open_loops, group_of), measured.latency));
  }
  FoundOutliers found = FindOutliers(by_host, groupings, One(measured));
  measured.usual = found.usual;
  measured.is_compared = measured.matrices.front().names.size() >= kEnoughHosts;
  measured.outliers = std::move(found.outliers);
  return measured;
}

std::vector<std::string> PairLines(const TestResult& result) {
  const MeasuredPairs pairs = MeasurePairs(result);
  std::vector<std::string> lines;
  if (pairs.matrices.empty()) return lines;
  const PairMatrix& by_host = pairs.matrices.front();
  lines.push_back(absl::StrCat(
      "  ", by_host.names.size(), " ", One(pairs), "s, ", by_host.cells.size(),
      " pairs: usual p50 ", base::HumanDuration(pairs.usual.p50_ns), " (",
      LatencyInWords(pairs.latency), ")"));
  const std::vector<std::string> outliers = OutlierTexts(pairs);
  lines.push_back(OutliersTitle(result, pairs, !outliers.empty()));
  for (const std::string& text : outliers) {
    lines.push_back(absl::StrCat("    ", text));
  }
  for (const PairMatrix& matrix : pairs.matrices) {
    AddMatrix(matrix, pairs, lines);
  }
  return lines;
}

void JudgePairs(const TestResult& result, report::FindingList& findings) {
  if (!IsAllPairs(result)) return;
  const MeasuredPairs pairs = MeasurePairs(result);
  if (pairs.outliers.empty()) return;
  findings.Add(Finding::NOTE, "pair_outliers",
               absl::StrCat("some ", One(pairs), "s or pairs are out of line (",
                            LatencyInWords(pairs.latency),
                            "): ", absl::StrJoin(OutlierTexts(pairs), "; ")),
               absl::StrCat("Look at the links, the CPUs and the settings of "
                            "these ",
                            One(pairs), "s. A ", One(pairs),
                            " that is slow as client and server is slow "
                            "itself, or its link is; a single pair has a bad "
                            "path."));
}

}  // namespace distbench::all_pairs
