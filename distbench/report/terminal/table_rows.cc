#include "distbench/report/terminal/table_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "glog/logging.h"

namespace distbench::report {

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    return static_cast<double>(*integer);
  }
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::nullopt;
}

const Cell& RowReader::operator[](absl::string_view column) const {
  const auto found =
      std::find(table_.columns.begin(), table_.columns.end(), column);
  CHECK(found != table_.columns.end()) << column;
  return row_[found - table_.columns.begin()];
}

std::string RowReader::Text(absl::string_view column) const {
  const auto* text = std::get_if<std::string>(&(*this)[column]);
  return text == nullptr ? "" : *text;
}

void DropColumn(absl::string_view title, PageTable& table) {
  const auto found = std::find(table.titles.begin(), table.titles.end(), title);
  if (found == table.titles.end()) return;
  const auto position = found - table.titles.begin();
  table.titles.erase(found);
  for (auto& row : table.rows) row.erase(row.begin() + position);
}

}  // namespace distbench::report
