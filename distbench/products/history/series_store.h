// Series of an index: their points, and the changes that were found in them.

#ifndef DISTBENCH_PRODUCTS_HISTORY_SERIES_STORE_H_
#define DISTBENCH_PRODUCTS_HISTORY_SERIES_STORE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/history_types.h"

namespace distbench::history {

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

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_SERIES_STORE_H_
