#include "distbench/products/history/result_filters.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace distbench::history {
namespace {

constexpr char kTest[] = "test";
constexpr char kLabel[] = "label";
constexpr char kHost[] = "host";
constexpr absl::string_view kAttribute = "attribute ";

std::string WordOf(int64_t id) { return absl::StrCat("f", id); }

// The first name after this one; empty if there is none.
absl::StatusOr<std::string> NameAfter(const std::string& name,
                                      const Database& database) {
  Statement row =
      database.Prepare("SELECT min(name) FROM filters WHERE name > ?");
  if (!row.Bind(name).Next()) return row.status();
  return row.Text(0);
}

// Values other than the empty one, and one more than kMaxFilterValues.
absl::StatusOr<std::vector<std::string>> ValuesOf(const std::string& name,
                                                  const Database& database) {
  Statement row = database.Prepare(
      absl::StrCat("SELECT value FROM filters WHERE name = ? AND value > '' "
                   "ORDER BY value LIMIT ",
                   kMaxFilterValues + 1));
  row.Bind(name);
  std::vector<std::string> values;
  while (row.Next()) values.push_back(row.Text(0));
  if (!row.status().ok()) return row.status();
  return values;
}

// Where the values of a filter belong; null if there are too many attributes.
std::vector<std::string>* PlaceOf(absl::string_view name,
                                  FilterValues& filters) {
  if (name == kTest) return &filters.tests;
  if (name == kLabel) return &filters.labels;
  if (name == kHost) return &filters.hosts;
  if (filters.attributes.size() == kMaxFilterValues) return nullptr;
  return &filters.attributes[std::string(absl::StripPrefix(name, kAttribute))];
}

}  // namespace

std::vector<ResultFilter> FiltersOf(
    const std::string& test, const std::string& label,
    const std::vector<std::string>& hosts,
    const std::map<std::string, std::string>& attributes) {
  std::vector<ResultFilter> filters;
  if (!test.empty()) filters.push_back({kTest, test});
  if (!label.empty()) filters.push_back({kLabel, label});
  for (const std::string& host : hosts) filters.push_back({kHost, host});
  for (const auto& [name, value] : attributes) {
    filters.push_back({absl::StrCat(kAttribute, name), value});
  }
  return filters;
}

absl::StatusOr<std::string> AddToFilters(
    const std::vector<ResultFilter>& filters, Database& database) {
  Statement add = database.Prepare(
      "INSERT INTO filters(name, value, results) VALUES(?, ?, 1) "
      "ON CONFLICT(name, value) DO UPDATE SET results = results + 1 "
      "RETURNING id");
  std::string words;
  for (const ResultFilter& filter : filters) {
    add.Bind(filter.name).Bind(filter.value).Next();
    absl::StrAppend(&words, WordOf(add.Int(0)), " ");
    if (absl::Status status = add.Run(); !status.ok()) return status;
  }
  return words;
}

absl::Status RemoveFromFilters(const std::vector<ResultFilter>& filters,
                               Database& database) {
  Statement subtract = database.Prepare(
      "UPDATE filters SET results = results - 1 WHERE name = ? AND value = ?");
  Statement remove = database.Prepare(
      "DELETE FROM filters WHERE name = ? AND value = ? AND results = 0");
  for (const ResultFilter& filter : filters) {
    for (Statement* const statement : {&subtract, &remove}) {
      absl::Status status =
          statement->Bind(filter.name).Bind(filter.value).Run();
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WordOf(const ResultFilter& filter,
                                   const Database& database) {
  Statement row =
      database.Prepare("SELECT id FROM filters WHERE name = ? AND value = ?");
  const bool is_found = row.Bind(filter.name).Bind(filter.value).Next();
  if (!row.status().ok()) return row.status();
  return is_found ? WordOf(row.Int(0)) : "";
}

absl::StatusOr<FilterValues> ListFilters(const Database& database) {
  FilterValues filters;
  std::string name;
  while (true) {
    absl::StatusOr<std::string> next = NameAfter(name, database);
    if (!next.ok()) return next.status();
    if (next->empty()) return filters;
    name = *std::move(next);
    absl::StatusOr<std::vector<std::string>> values = ValuesOf(name, database);
    if (!values.ok()) return values.status();
    if (values->size() > kMaxFilterValues) {
      filters.is_truncated = true;
      values->resize(kMaxFilterValues);
    }
    std::vector<std::string>* const place = PlaceOf(name, filters);
    if (place == nullptr) {
      filters.is_truncated = true;
    } else {
      *place = *std::move(values);
    }
  }
}

}  // namespace distbench::history
