#include "distbench/report/tables/table.h"

namespace distbench::report {
namespace {

void ListCpuRows(const TestResult& result, RowSink sink) {
  for (const auto& [node, resources] : NodesByName(result)) {
    for (const ResourceSample& sample : resources->samples()) {
      for (const CpuUse& use : sample.cpus()) {
        sink({node, sample.end_timestamp_ns(),
              SecondsCell(sample.duration_ns()), int64_t{use.cpu()},
              use.user_ns(), use.system_ns(), use.irq_ns(), use.softirq_ns(),
              use.steal_ns(), use.idle_ns(), use.iowait_ns(), use.nice_ns()});
      }
    }
  }
}

}  // namespace

const ReportTable& CpusTable() {
  static const ReportTable* const table = new ReportTable{
      "cpus",
      "a row per node, second and CPU",
      {"node", "end_timestamp_ns", "duration_s", "cpu", "user_ns", "system_ns",
       "irq_ns", "softirq_ns", "steal_ns", "idle_ns", "iowait_ns", "nice_ns"},
      ListCpuRows};
  return *table;
}

}  // namespace distbench::report
