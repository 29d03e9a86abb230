// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/library/table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace distbench {
namespace {

std::string Percent(double share) {
  return absl::StrFormat("%.1f %%", share * 100);
}

// The published value in words.
std::string Published(const Marginal& marginal) {
  if (marginal.has_table()) return "table";
  if (marginal.has_value()) return absl::StrFormat("%g", marginal.value());
  std::string text;
  const Quantiles& quantiles = marginal.quantiles();
  for (int i = 0; i < quantiles.percents_size(); ++i) {
    absl::StrAppendFormat(&text, "%s%.7g at %g %%", i == 0 ? "" : ", ",
                          quantiles.values(i), quantiles.percents(i));
  }
  return text;
}

std::string Measured(const std::vector<double>& values) {
  if (values.empty()) return "–";
  return absl::StrJoin(values, ", ", [](std::string* out, double value) {
    absl::StrAppendFormat(out, "%.4g", value);
  });
}

}  // namespace

std::string PublishedCells(const LibraryEntry& entry,
                           const Marginal& marginal) {
  const std::string unit =
      marginal.unit() == "1" ? "" : absl::StrCat(" (", marginal.unit(), ")");
  return absl::StrCat("| ", entry.name(), " | ", marginal.quantity(), unit,
                      " | ", Published(marginal), " | ",
                      Percent(marginal.tolerance()), " |");
}

std::string MeasuredCells(const Comparison& comparison) {
  return absl::StrCat(" ", Measured(comparison.values), " | ",
                      Percent(comparison.error), " |");
}

}  // namespace distbench
