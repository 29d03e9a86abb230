// From the points of a series to what is told of it. No database.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TREND_H_
#define DISTBENCH_PRODUCTS_HISTORY_TREND_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "distbench/products/history/history_types.h"
#include "distbench/products/history/notes.h"
#include "distbench/products/history/series_store.h"

namespace distbench::history {

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

#endif  // DISTBENCH_PRODUCTS_HISTORY_TREND_H_
