// The parts of ProtectionText(). Private to protection_text.h.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_TEXT_PARTS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_TEXT_PARTS_H_

#include <string>
#include <vector>

#include "distbench/products/protection/measures/cell.h"

namespace distbench::protection {

// Returns a table with a row for each cell, and lines that explain it.
std::string CellTable(const std::vector<ProtectionCell>& cells);

// Returns the cell's distributions, what else is known of it, and last its
// "Result:" line.
std::string CellSummary(const ProtectionCell& cell);

// Returns the line without a line end:
//   Result: isol=45.50:30.72% lat_imp=39.42%:81.53 work_csv=100.0%
//   missing=0.26%
// Each measure is mean:deviation over seconds. If some of p95 were failed,
// which are in no mean, or if the subject failed, their shares follow. Requires
// a cell that was measured.
std::string ResultLine(const ProtectionCell& cell);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_TEXT_PARTS_H_
