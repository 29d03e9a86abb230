#include "distbench/report/tables/table.h"

namespace distbench {

std::vector<const ReportTable*> AllTables() {
  return {&RpcsTable(),      &PercentilesTable(), &TimePartsTable(),
          &PeersTable(),     &SecondsTable(),     &ActivitiesTable(),
          &ResourcesTable(), &SamplesTable()};
}

}  // namespace distbench
