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

// A point of a series, where its file keeps it.
struct PlacedPoint {
  SharedFile file;
  int index = 0;

  const FilePoint& get() const { return file->points(index); }
};

// A series as it was when it was asked for.
struct SeriesSnapshot {
  SeriesSummary summary;  // without changes

  // The newest, of which kMaxJudgedPoints have values; oldest first. Empty if
  // the series was judged as it is: then `judged` is what was found.
  std::vector<PlacedPoint> points;
  SharedTrend judged;

  // The number of series of the test that have enough values, and so are judged
  // together.
  int family_size = 1;

  // Counts the points that came or went.
  int64_t generation = 0;
};

// Thread-compatible.
class SeriesSet {
 public:
  // Adds or removes the points of a file.
  void Add(const SharedFile& file);
  void Remove(const SharedFile& file);

  // NOT_FOUND if there is no series with this id.
  absl::StatusOr<SeriesSnapshot> Find(int64_t id) const;

  // Keeps what was found in a snapshot, unless the series has changed since.
  void Keep(const SeriesSnapshot& snapshot, SharedTrend trend);

  // Those that have changed since they were judged.
  std::vector<int64_t> Unjudged() const;

  // By test, RPC and metric; of all tests or RPCs where the name is empty, at
  // most `limit`. Changes are those of the last judgement that no note accepts.
  SeriesList List(const std::string& test, const std::string& rpc, int limit,
                  const ResultNotes& notes) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  struct Series {
    SeriesSummary summary;
    std::map<std::pair<int64_t, std::string>, PlacedPoint> points;  // by time
    int64_t generation = 0;

    // What was found, in which generation, among how many series; null before.
    SharedTrend judged = nullptr;
    int64_t judged_generation = -1;
    int judged_family_size = 0;
  };

  static Key KeyOf(const SeriesSummary& series);
  static bool IsJudged(const Series& series, int family_size);
  int FamilySizeOf(const std::string& test) const;

  std::map<Key, Series> series_;
  std::map<int64_t, Key> keys_;  // by id
};

// Judges the points of a snapshot. Nothing is accepted.
Trend MakeTrend(const SeriesSnapshot& snapshot);

// Notes what is accepted, and counts the other changes.
void AddAcceptance(const ResultNotes& notes, Trend& trend);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_SERIES_H_
