#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "distbench/base/saturating_add.h"
#include "distbench/report/tables/table.h"

namespace distbench::report {
namespace {

// The times of a fault that are kept. A damaged result may have others.
struct FaultTimes {
  int64_t count = 0;
  int64_t sum_ns = 0;
  int64_t begin_ns = std::numeric_limits<int64_t>::max();
  int64_t end_ns = 0;

  explicit FaultTimes(const FaultLog& log) {
    for (const FaultTime& time : log.times()) {
      const int64_t from_ns = time.begin_timestamp_ns();
      const int64_t until_ns = time.end_timestamp_ns();
      if (from_ns < 0 || until_ns < from_ns) continue;
      ++count;
      base::SaturatingAddTo(sum_ns, until_ns - from_ns);
      begin_ns = std::min(begin_ns, from_ns);
      end_ns = std::max(end_ns, until_ns);
    }
  }
};

void ListFaultRows(const TestResult& result, RowSink sink) {
  std::map<std::pair<std::string, std::string>, const FaultLog*> logs;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    for (const auto& [fault, fault_log] : log.fault_logs()) {
      logs[{instance, fault}] = &fault_log;
    }
  }
  for (const auto& [names, log] : logs) {
    const FaultTimes times(*log);
    const bool has_times = times.count > 0;
    sink({names.first, names.second, log->request_count(),
          log->connection_count(), times.count, SecondsCell(times.sum_ns),
          OptionalCell(has_times, times.begin_ns),
          OptionalCell(has_times, times.end_ns)});
  }
}

}  // namespace

const ReportTable& FaultsTable() {
  static const ReportTable* const table = new ReportTable{
      "faults",
      "a row per instance and fault of it: what it did",
      {"instance", "fault", "requests", "connections", "times", "in_effect_s",
       "first_begin_timestamp_ns", "last_end_timestamp_ns"},
      ListFaultRows};
  return *table;
}

}  // namespace distbench::report
