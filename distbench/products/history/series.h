// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The series of an index: their points, and what was found in them.

#ifndef DISTBENCH_PRODUCTS_HISTORY_SERIES_H_
#define DISTBENCH_PRODUCTS_HISTORY_SERIES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/history/history.pb.h"
#include "distbench/products/history/notes.h"

namespace distbench::history {

using SharedFile = std::shared_ptr<const IndexedFile>;
using SharedTrend = std::shared_ptr<const Trend>;

// Facts and acceptance within so many points of a change belong to it, because
// its place is an estimate.
inline constexpr int kNearbyPoints = 5;

inline constexpr int kMaxSeries = 1000;  // in a list

// A point of a series, where its file keeps it.
struct PlacedPoint {
  SharedFile file;
  int index = 0;

  const FilePoint& get() const { return file->points(index); }
};

// A series as it was when it was asked for.
struct SeriesSnapshot {
  SeriesSummary summary;  // without changes

  // The newest that have values, at most kMaxJudgedPoints; oldest first. Empty
  // if the series was judged as it is: then `judged` is what was found.
  std::vector<PlacedPoint> points;
  int64_t left_out = 0;  // runs without a value since then
  SharedTrend judged;

  // The number of series of the test that have enough values, and so are judged
  // together.
  int family_size = 1;

  // Counts the points of the test that came or went: its series are judged
  // together.
  int64_t generation = 0;
};

// Thread-compatible.
class SeriesSet {
 public:
  // Adds or removes the points of a file.
  void Add(const SharedFile& file) { Change(file, /*is_added=*/true); }
  void Remove(const SharedFile& file) { Change(file, /*is_added=*/false); }

  // NOT_FOUND if there is no series with this id.
  absl::StatusOr<SeriesSnapshot> Find(int64_t id) const;

  // Keeps what was found in a snapshot, unless the test has changed since.
  void Keep(const SeriesSnapshot& snapshot, SharedTrend trend);

  // Those whose test has changed since they were judged.
  std::vector<int64_t> Unjudged() const;

  // By test, RPC and metric; of all tests or RPCs where the name is empty, at
  // most kMaxSeries. Changes are those of the last judgement that no note
  // accepts.
  SeriesList List(const std::string& test, const std::string& rpc,
                  const ResultNotes& notes) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  struct Series {
    SeriesSummary summary;
    std::map<std::pair<int64_t, std::string>, PlacedPoint> points;  // by time

    // What was found, and in which generation; null before.
    SharedTrend judged = nullptr;
    int64_t judged_generation = 0;
  };

  static Key KeyOf(const SeriesSummary& series) {
    return {series.test(), series.rpc(), series.metric()};
  }
  void Change(const SharedFile& file, bool is_added);
  bool IsJudged(const Series& series) const;
  int FamilySizeOf(const std::string& test) const;

  std::map<Key, Series> series_;
  std::map<std::string, int64_t> generations_;  // by test
};

// Judges the points of a snapshot, those with the same traffic after each other
// by themselves. Nothing is accepted.
Trend MakeTrend(const SeriesSnapshot& snapshot);

// Notes what is accepted, and counts the other changes.
void AddAcceptance(const ResultNotes& notes, Trend& trend);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_SERIES_H_
