// Series of an index, and what is told of them.

#ifndef DISTBENCH_PRODUCTS_HISTORY_SERIES_H_
#define DISTBENCH_PRODUCTS_HISTORY_SERIES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/notes.h"

namespace distbench::history {

// Series of an index: their points, and the changes that were found in them.

// A change as it is kept: what else is told of it follows from the points.
struct StoredChange {
  int64_t position = 0;  // of the first point after it
  int64_t started_ms = 0;
  double p_value = 1;

  // Ids of the results within kNearbyResults.
  std::vector<std::string> nearby;
};

struct StoredSeries {
  SeriesSummary summary;  // without changes

  // The number of series of the test that have enough values, and so are judged
  // together; and what it was when this one was judged, 0 if that was before
  // its last point came or went.
  int family_size = 1;
  int judged_with = 0;
  std::vector<StoredChange> changes;

  bool is_judged() const { return judged_with == family_size; }
};

struct StoredPoint {
  int64_t position = 0;
  bool is_left_out = false;
  TrendPoint point;         // is_accepted is not filled in
  int64_t environment = 0;  // see FactsOf()
};

// By test, RPC and metric. An empty name selects all.
absl::StatusOr<std::vector<StoredSeries>> ListStoredSeries(
    const std::string& test, const std::string& rpc, int limit,
    const Database& database);

// NOT_FOUND if there is no such series.
absl::StatusOr<StoredSeries> FindSeries(int64_t series_id,
                                        const Database& database);

// Series of tests of which some series have not been judged since they changed.
absl::StatusOr<std::vector<int64_t>> SeriesOfChangedTests(
    const Database& database);

// The newest kMaxJudgedPoints points, oldest first.
absl::StatusOr<std::vector<StoredPoint>> PointsOf(int64_t series_id,
                                                  const Database& database);

// The facts of an environment, as StoredTexts() reads them.
absl::StatusOr<std::string> FactsOf(int64_t environment,
                                    const Database& database);

// Keeps what was found in a series when it was judged with family_size, unless
// it has been changed since then: `newest` is the position of its newest point.
absl::Status StoreChanges(const StoredSeries& series, int64_t newest,
                          Database& database);

// From the points of a series to what is told of it. No database.

// By the ids of environments.
using Environments = std::map<int64_t, std::map<std::string, std::string>>;

// The changes of a series of `family_size` that are judged together.
std::vector<StoredChange> JudgePoints(const std::vector<StoredPoint>& points,
                                      int family_size);

// Counts the changes that are not accepted.
SeriesSummary SummaryOf(const StoredSeries& series, const ResultNotes& notes);

// Requires that the series is judged, and that these are its points.
Trend MakeTrend(const StoredSeries& series,
                const std::vector<StoredPoint>& points,
                const Environments& environments, const ResultNotes& notes);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_SERIES_H_
