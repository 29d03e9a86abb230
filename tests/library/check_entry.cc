// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/library/check_entry.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "tests/library/measure.h"
#include "tests/library/reference_distribution.h"
#include "tests/library/run_entry.h"

namespace distbench {
namespace {

// Summaries stand beside names in help of 80 columns.
constexpr size_t kMaxSummary = 46;

absl::Status Lacking(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the provenance needs ", what, "; see proto/library.proto"));
}

absl::Status CheckMarginal(const Marginal& marginal) {
  if (marginal.quantity().empty() || marginal.unit().empty()) {
    return Lacking("a quantity and a unit for each marginal");
  }
  if (marginal.published_case() == Marginal::PUBLISHED_NOT_SET) {
    return Lacking(absl::StrCat("a published value of ", marginal.quantity()));
  }
  if (marginal.tolerance() <= 0) {
    return Lacking(absl::StrCat("a tolerance for ", marginal.quantity()));
  }
  const Quantiles& quantiles = marginal.quantiles();
  if (quantiles.percents_size() != quantiles.values_size()) {
    return Lacking(
        absl::StrCat("a value for each percentage of ", marginal.quantity()));
  }
  return absl::OkStatus();
}

double Quantile(const std::vector<double>& sample, double percent) {
  const double rank =
      std::ceil(percent / 100 * static_cast<double>(sample.size()));
  return sample[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

double RelativeError(double measured, double published) {
  return std::abs(measured - published) / std::abs(published);
}

absl::Status CompareWithTable(const std::vector<double>& sample,
                              Comparison& comparison) {
  const ReferenceTable& table = comparison.marginal.table();
  const auto csv = base::ReadFile(table.file());
  if (!csv.ok()) return csv.status();
  const auto reference = ReferenceDistribution::Parse(*csv, table.rows());
  if (!reference.ok()) {
    return absl::Status(
        reference.status().code(),
        absl::StrCat(table.file(), ": ",
                     std::string(reference.status().message())));
  }
  comparison.error = KolmogorovDistance(sample, *reference, table.from());
  return absl::OkStatus();
}

absl::StatusOr<Comparison> Compare(const Marginal& marginal,
                                   const TestResult& result, int64_t seconds) {
  const auto sample = Measure(marginal, result, seconds);
  if (!sample.ok()) return sample.status();
  Comparison comparison{.marginal = marginal};
  if (marginal.has_table()) {
    const absl::Status status = CompareWithTable(*sample, comparison);
    if (!status.ok()) return status;
  } else if (marginal.has_value()) {
    comparison.values = {sample->front()};
    comparison.error = RelativeError(sample->front(), marginal.value());
  }
  for (int i = 0; i < marginal.quantiles().percents_size(); ++i) {
    const double value = Quantile(*sample, marginal.quantiles().percents(i));
    comparison.values.push_back(value);
    comparison.error = std::max(
        comparison.error, RelativeError(value, marginal.quantiles().values(i)));
  }
  return comparison;
}

absl::StatusOr<std::vector<Comparison>> CompareAll(const LibraryEntry& entry) {
  auto status = CheckProvenance(entry);
  if (!status.ok()) return status;
  auto test = EntryTest(entry);
  if (!test.ok()) return test.status();
  const bool traced =
      std::any_of(entry.marginals().begin(), entry.marginals().end(),
                  [](const Marginal& m) { return m.has_descendants(); });
  const auto result =
      RunSimulated(*std::move(test), entry.simulated_seconds(), traced);
  if (!result.ok()) return result.status();
  std::vector<Comparison> comparisons;
  for (const Marginal& marginal : entry.marginals()) {
    auto comparison = Compare(marginal, *result, entry.simulated_seconds());
    if (!comparison.ok()) return comparison.status();
    comparisons.push_back(*std::move(comparison));
  }
  return comparisons;
}

}  // namespace

absl::Status CheckProvenance(const LibraryEntry& entry) {
  if (entry.summary().empty() || entry.summary().size() > kMaxSummary) {
    return Lacking(
        absl::StrCat("a summary of up to ", kMaxSummary, " characters"));
  }
  if (entry.sources().empty()) return Lacking("a source");
  for (const Source& source : entry.sources()) {
    if (source.publication().empty() || source.place().empty() ||
        source.licence().empty() || source.fitted_by().empty()) {
      return Lacking(
          "publication, place, licence and fitted_by of each source");
    }
  }
  if (entry.marginals().empty()) return Lacking("a marginal");
  for (const Marginal& marginal : entry.marginals()) {
    const absl::Status status = CheckMarginal(marginal);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Comparison>> CompareEntry(
    const LibraryEntry& entry) {
  auto comparisons = CompareAll(entry);
  if (comparisons.ok()) return comparisons;
  return absl::Status(
      comparisons.status().code(),
      absl::StrCat(entry.name(), ": ",
                   std::string(comparisons.status().message())));
}

}  // namespace distbench
