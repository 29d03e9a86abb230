#include "distbench/report/tables/table.h"

namespace distbench {

std::vector<const ReportTable*> AllTables() {
  return {&RpcsTable(),    &PercentilesTable(), &PeersTable(),
          &SecondsTable(), &ActivitiesTable(),  &ResourcesTable(),
          &CpusTable(),    &ConnectionsTable(), &SamplesTable()};
}

}  // namespace distbench
