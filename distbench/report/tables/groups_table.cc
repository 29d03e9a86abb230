#include <map>

#include "distbench/report/tables/table.h"

namespace distbench::report {
namespace {

void ListGroupRows(const TestResult& result, RowSink sink) {
  for (const auto& [node, resources] : NodesByName(result)) {
    for (const ResourceSample& sample : resources->samples()) {
      const std::map<std::string, GroupUse> groups(sample.groups().begin(),
                                                   sample.groups().end());
      for (const auto& [instance, use] : groups) {
        sink({node, sample.end_timestamp_ns(),
              SecondsCell(sample.duration_ns()), instance,
              OptionalCell(use.has_cpu_ns(), use.cpu_ns()),
              OptionalCell(use.has_system_cpu_ns(), use.system_cpu_ns()),
              OptionalCell(use.has_throttled_ns(), use.throttled_ns()),
              OptionalCell(use.has_memory_bytes(), use.memory_bytes()),
              OptionalCell(use.has_swap_bytes(), use.swap_bytes()),
              OptionalCell(use.has_read_bytes(), use.read_bytes()),
              OptionalCell(use.has_written_bytes(), use.written_bytes()),
              OptionalCell(use.has_read_operations(), use.read_operations()),
              OptionalCell(use.has_write_operations(), use.write_operations()),
              OptionalCell(use.has_some_cpu_pressure_ns(),
                           use.some_cpu_pressure_ns()),
              OptionalCell(use.has_some_memory_pressure_ns(),
                           use.some_memory_pressure_ns()),
              OptionalCell(use.has_full_memory_pressure_ns(),
                           use.full_memory_pressure_ns()),
              OptionalCell(use.has_some_io_pressure_ns(),
                           use.some_io_pressure_ns()),
              OptionalCell(use.has_full_io_pressure_ns(),
                           use.full_io_pressure_ns())});
      }
    }
  }
}

}  // namespace

const ReportTable& GroupsTable() {
  static const ReportTable* const table = new ReportTable{
      "groups",
      "a row per node, second and control group",
      {"node", "end_timestamp_ns", "duration_s", "instance", "cpu_ns",
       "system_cpu_ns", "throttled_ns", "memory_bytes", "swap_bytes",
       "read_bytes", "written_bytes", "read_operations", "write_operations",
       "some_cpu_pressure_ns", "some_memory_pressure_ns",
       "full_memory_pressure_ns", "some_io_pressure_ns", "full_io_pressure_ns"},
      ListGroupRows};
  return *table;
}

}  // namespace distbench::report
