#include "distbench/report/table.h"

namespace distbench {

std::vector<const ReportTable*> AllTables() {
  return {&RpcsTable(),    &PercentilesTable(), &PeersTable(),
          &SecondsTable(), &ResourcesTable(),   &SamplesTable()};
}

}  // namespace distbench
