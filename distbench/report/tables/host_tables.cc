// The tables of hosts, and of the activities that instances on them ran.

#include <map>

#include "absl/strings/match.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/time_series.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

NetworkCounters AddUpDevices(const ResourceSample& sample) {
  NetworkCounters totals;
  for (const auto& [name, counters] : sample.network()) {
    results::AddCounters(counters, totals);
  }
  return totals;
}

void AddDataConnections(const ResourceSample& sample, RowWriter& row) {
  const DataConnections& all = sample.data_connections();
  const bool is_known = sample.has_data_connections();
  row.Add("data_connections", OptionalCell(is_known, all.connection_count()));
  row.Add("data_sent_segments", OptionalCell(is_known, all.sent_segments()));
  row.Add("data_retransmitted_segments",
          OptionalCell(is_known, all.retransmitted_segments()));
  row.Add("data_congestion_marked_segments",
          OptionalCell(is_known, all.congestion_marked_segments()));
  row.Add("data_mean_rtt_ns",
          OptionalCell(all.has_mean_rtt_ns(), all.mean_rtt_ns()));
  row.Add("data_max_rtt_ns",
          OptionalCell(all.has_max_rtt_ns(), all.max_rtt_ns()));
}

// Of all packages; other domains are parts of these, or contain them.
Cell PackageEnergyCell(const ResourceSample& sample) {
  bool is_known = false;
  int64_t package_uj = 0;
  for (const auto& [domain, energy_uj] : sample.energy_uj()) {
    if (!absl::StartsWith(domain, "package-") ||
        absl::StrContains(domain, '/')) {
      continue;
    }
    is_known = true;
    base::SaturatingAddTo(package_uj, energy_uj);
  }
  return OptionalCell(is_known, package_uj);
}

// What begins the rows of all samples.
void AddNodeAndTime(const std::string& node, const ResourceSample& sample,
                    RowWriter& row) {
  row.Add("node", node);
  row.Add("end_timestamp_ns", sample.end_timestamp_ns());
  row.Add("duration_s", SecondsCell(sample.duration_ns()));
}

void WriteResources(RowWriter& row, const std::string& node,
                    const ResourceSample& sample) {
  const NetworkCounters network = AddUpDevices(sample);
  AddNodeAndTime(node, sample, row);
  row.AddFields(sample, WhenAbsent::kZero,
                ResourceSample::kProcessCpuNsFieldNumber,
                ResourceSample::kInvoluntaryContextSwitchesFieldNumber);
  row.Add("network_received_bytes", network.received_bytes());
  row.Add("network_sent_bytes", network.sent_bytes());
  row.Add("network_dropped_packets", network.dropped_packets());
  row.AddFields(sample, WhenAbsent::kEmpty,
                ResourceSample::kBusiestCpuNsFieldNumber,
                ResourceSample::kRunQueueDelayNsFieldNumber);
  row.AddFields(sample.host_counters(), WhenAbsent::kEmpty);
  AddDataConnections(sample, row);
  row.AddFields(sample.hardware_counters(), WhenAbsent::kEmpty);
  row.Add("package_energy_uj", PackageEnergyCell(sample));
}

void WriteCpu(RowWriter& row, const std::string& node,
              const ResourceSample& sample, const CpuUse& use) {
  AddNodeAndTime(node, sample, row);
  row.AddFields(use, WhenAbsent::kZero);
}

void WriteGroup(RowWriter& row, const std::string& node,
                const ResourceSample& sample, const std::string& instance,
                const GroupUse& use) {
  AddNodeAndTime(node, sample, row);
  row.Add("instance", instance);
  row.AddFields(use, WhenAbsent::kEmpty);
}

void WriteConnection(RowWriter& row, const std::string& node,
                     const DataConnection& connection) {
  row.Add("node", node);
  row.AddFields(connection, WhenAbsent::kZero,
                DataConnection::kInstanceFieldNumber,
                DataConnection::kCongestionMarkedSegmentsFieldNumber);
  row.AddFields(connection, WhenAbsent::kEmpty,
                DataConnection::kMinRttNsFieldNumber,
                DataConnection::kMaxRttNsFieldNumber);
  row.AddFields(connection, WhenAbsent::kZero,
                DataConnection::kMinCongestionWindowFieldNumber);
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

void ListResources(const TestResult& result, RowSink sink) {
  ForEachSample(result,
                [&](const std::string& node, const ResourceSample& sample) {
                  sink(RowOf(WriteResources, node, sample));
                });
}

void ListCpus(const TestResult& result, RowSink sink) {
  ForEachSample(result,
                [&](const std::string& node, const ResourceSample& sample) {
                  for (const CpuUse& use : sample.cpus()) {
                    sink(RowOf(WriteCpu, node, sample, use));
                  }
                });
}

void ListGroups(const TestResult& result, RowSink sink) {
  ForEachSample(
      result, [&](const std::string& node, const ResourceSample& sample) {
        for (const auto* group : results::Sorted(sample.groups())) {
          sink(RowOf(WriteGroup, node, sample, group->first, group->second));
        }
      });
}

void ListConnections(const TestResult& result, RowSink sink) {
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    for (const DataConnection& connection : node->second.data_connections()) {
      sink(RowOf(WriteConnection, node->first, connection));
    }
  }
}

}  // namespace

const ReportTable& ResourcesTable() {
  return TableOf<WriteResources, ListResources>("resources",
                                                "a row per node and second");
}

const ReportTable& CpusTable() {
  return TableOf<WriteCpu, ListCpus>("cpus", "a row per node, second and CPU");
}

const ReportTable& GroupsTable() {
  return TableOf<WriteGroup, ListGroups>(
      "groups", "a row per node, second and control group");
}

const ReportTable& ConnectionsTable() {
  return TableOf<WriteConnection, ListConnections>(
      "connections", "a row per end of a TCP connection of the traffic");
}

// ---- Activities of instances ------------------------------------------------

namespace {

constexpr TimeFigure kActivityFigures[] = {
    figures::kMean, figures::kP50, figures::kP95, figures::kP99, figures::kMax};
constexpr TimeFigure kIntervalFigures[] = {figures::kP50, figures::kP99,
                                           figures::kMax};

Cell MetricCell(const ActivityTotals& totals, const std::string& name) {
  const auto found = totals.metrics.find(name);
  if (found == totals.metrics.end()) return {};
  return found->second;
}

// As text, because not all readers support 64-bit numbers.
Cell ChecksumCell(const ActivityTotals& totals) {
  const auto found = totals.metrics.find("checksum");
  if (found == totals.metrics.end()) return {};
  return std::to_string(static_cast<uint64_t>(found->second));
}

void WriteActivity(RowWriter& row, const std::string& instance,
                   const std::string& activity, const ActivityTotals& totals) {
  row.Add("instance", instance);
  row.Add("activity", activity);
  row.Add("iterations", MetricCell(totals, "iteration_count"));
  row.Add("checksum", ChecksumCell(totals));
  row.Add("input_bytes", MetricCell(totals, "input_bytes"));
  row.Add("output_bytes", MetricCell(totals, "output_bytes"));
  row.AddTimes("duration", totals.duration_ns, kActivityFigures);
  row.AddTimes("queueing", totals.queueing_ns, kActivityFigures);
  row.Add("operations", MetricCell(totals, "operations"));
  row.Add("failed_operations", MetricCell(totals, "failed_operations"));
}

void ListActivities(const TestResult& result, RowSink sink) {
  ForEachActivity(result,
                  [&](const std::string& instance, const std::string& activity,
                      const ActivityLog& log) {
                    ActivityTotals totals;
                    totals.Add(log);
                    sink(RowOf(WriteActivity, instance, activity, totals));
                  });
}

void WriteInterval(RowWriter& row, const std::string& instance,
                   const std::string& activity, int64_t interval_ns,
                   const ActivityInterval& interval) {
  row.Add("instance", instance);
  row.Add("activity", activity);
  row.Add("start_timestamp_ns", interval.index() * interval_ns);
  row.Add("duration_s", SecondsCell(interval_ns));
  row.Add("offered",
          OptionalCell(interval.has_offered_count(), interval.offered_count()));
  row.Add("completed", interval.completed_count());
  row.Add("input_bytes", interval.input_bytes());
  row.Add("output_bytes", interval.output_bytes());
  row.AddTimes("read", results::HistogramOf(interval.read_ns()),
               kIntervalFigures);
  row.AddTimes("write", results::HistogramOf(interval.write_ns()),
               kIntervalFigures);
}

void ListActivitySeries(const TestResult& result, RowSink sink) {
  ForEachActivity(
      result, [&](const std::string& instance, const std::string& activity,
                  const ActivityLog& log) {
        const ActivitySeries& series = log.series();
        // One that contradicts itself is left out.
        if (!results::ValidateActivitySeries(series).ok()) return;
        for (const ActivityInterval& interval : series.intervals()) {
          sink(RowOf(WriteInterval, instance, activity, series.interval_ns(),
                     interval));
        }
      });
}

}  // namespace

const ReportTable& ActivitiesTable() {
  return TableOf<WriteActivity, ListActivities>(
      "activities", "a row per instance and activity");
}

const ReportTable& ActivitySeriesTable() {
  return TableOf<WriteInterval, ListActivitySeries>(
      "activity_series", "a row per instance, activity and second");
}

}  // namespace distbench::report
