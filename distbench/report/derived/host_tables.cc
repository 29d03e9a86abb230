// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rows of hosts, and of the activities that instances on them ran.

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/derived/table_rows.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/time_series.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

int64_t Sum(int64_t a, int64_t b) { return base::SaturatingAdd(a, b); }

void AddUpDevices(const ResourceSample& sample,
                  Report::ResourceTable::Row& row) {
  for (const auto& [name, device] : sample.network()) {
    row.set_network_received_bytes(
        Sum(row.network_received_bytes(), device.received_bytes()));
    row.set_network_sent_bytes(
        Sum(row.network_sent_bytes(), device.sent_bytes()));
    row.set_network_dropped_packets(
        Sum(row.network_dropped_packets(), device.dropped_packets()));
  }
}

// Of all packages; other domains are parts of these, or contain them.
void AddUpPackages(const ResourceSample& sample,
                   Report::ResourceTable::Row& row) {
  for (const auto& [domain, energy_uj] : sample.energy_uj()) {
    if (absl::StartsWith(domain, "package-") &&
        !absl::StrContains(domain, '/')) {
      row.set_package_energy_uj(Sum(row.package_energy_uj(), energy_uj));
    }
  }
}

// A row of a sample, with what begins all of them.
template <typename Row>
Row RowAt(const std::string& node, const ResourceSample& sample) {
  Row row;
  row.set_node(node);
  row.set_end_timestamp_ns(sample.end_timestamp_ns());
  row.set_duration_s(base::ToSeconds(sample.duration_ns()));
  return row;
}

template <typename Visit>
void ForEachSample(const TestResult& result, Visit visit) {
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    for (const ResourceSample& sample : node->second.samples()) {
      visit(node->first, sample);
    }
  }
}

}  // namespace

void ListResources(const TestResult& result, RowSink sink) {
  ForEachSample(result,
                [&](const std::string& node, const ResourceSample& sample) {
                  auto row = RowAt<Report::ResourceTable::Row>(node, sample);
                  CopyByName(sample, row);
                  AddUpDevices(sample, row);
                  CopyByName(sample.data_connections(), row);
                  AddUpPackages(sample, row);
                  sink(row);
                });
}

void ListCpus(const TestResult& result, RowSink sink) {
  ForEachSample(result,
                [&](const std::string& node, const ResourceSample& sample) {
                  for (const CpuUse& use : sample.cpus()) {
                    auto row = RowAt<Report::CpuTable::Row>(node, sample);
                    CopyByName(use, row);
                    sink(row);
                  }
                });
}

void ListGroups(const TestResult& result, RowSink sink) {
  ForEachSample(result,
                [&](const std::string& node, const ResourceSample& sample) {
                  for (const auto* group : results::Sorted(sample.groups())) {
                    auto row = RowAt<Report::GroupTable::Row>(node, sample);
                    row.set_instance(group->first);
                    *row.mutable_use() = group->second;
                    sink(row);
                  }
                });
}

void ListConnections(const TestResult& result, RowSink sink) {
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    for (const DataConnection& connection : node->second.data_connections()) {
      Report::ConnectionTable::Row row;
      row.set_node(node->first);
      CopyByName(connection, row);
      sink(row);
    }
  }
}

// ---- Activities of instances ------------------------------------------------

namespace {

Report::ActivityTable::Row ActivityRow(const ActivityTotals& totals) {
  Report::ActivityTable::Row row;
  const auto metric = [&](const char* name, auto set) {
    const auto found = totals.metrics.find(name);
    if (found != totals.metrics.end()) set(found->second);
  };
  metric("iteration_count", [&](int64_t value) { row.set_iterations(value); });
  metric("checksum", [&](int64_t value) {
    row.set_checksum(absl::StrCat(static_cast<uint64_t>(value)));
  });
  metric("input_bytes", [&](int64_t value) { row.set_input_bytes(value); });
  metric("output_bytes", [&](int64_t value) { row.set_output_bytes(value); });
  metric("operations", [&](int64_t value) { row.set_operations(value); });
  metric("failed_operations",
         [&](int64_t value) { row.set_failed_operations(value); });
  SetTimes(totals.duration_ns, *row.mutable_duration());
  SetTimes(totals.queueing_ns, *row.mutable_queueing());
  return row;
}

}  // namespace

void ListActivities(const TestResult& result, RowSink sink) {
  ForEachActivity(result,
                  [&](const std::string& instance, const std::string& activity,
                      const ActivityLog& log) {
                    ActivityTotals totals;
                    totals.Add(log);
                    Report::ActivityTable::Row row = ActivityRow(totals);
                    row.set_instance(instance);
                    row.set_activity(activity);
                    sink(row);
                  });
}

void ListActivitySeries(const TestResult& result, RowSink sink) {
  ForEachActivity(result, [&](const std::string& instance,
                              const std::string& activity,
                              const ActivityLog& log) {
    const ActivitySeries& series = log.series();
    // One that contradicts itself is left out.
    if (!results::ValidateActivitySeries(series).ok()) return;
    for (const ActivityInterval& interval : series.intervals()) {
      Report::ActivitySeriesTable::Row row;
      CopyByName(interval, row);
      row.set_instance(instance);
      row.set_activity(activity);
      row.set_start_timestamp_ns(interval.index() * series.interval_ns());
      row.set_duration_s(base::ToSeconds(series.interval_ns()));
      SetTimes(results::HistogramOf(interval.read_ns()), *row.mutable_read());
      SetTimes(results::HistogramOf(interval.write_ns()), *row.mutable_write());
      sink(row);
    }
  });
}

}  // namespace distbench::report
