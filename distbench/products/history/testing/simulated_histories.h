// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Histories whose changes are known, to measure how well they are found.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TESTING_SIMULATED_HISTORIES_H_
#define DISTBENCH_PRODUCTS_HISTORY_TESTING_SIMULATED_HISTORIES_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace distbench::history {

enum class Noise {
  kNormal,
  kHeavyTails,  // Student's t with three degrees of freedom
};

// Every night a test is repeated a few times. What differs from night to night
// is common to the repeats of one.
struct HistoryModel {
  int nights = 200;
  int repeats = 5;
  double variation = 0.03;  // standard deviation of the values, as a share
  Noise noise = Noise::kNormal;

  // The correlation of the repeats of a night, and that of what neighbouring
  // nights have of their own.
  double within_night = 0.5;
  double between_nights = 0;

  // From this night on, the level is higher by so much. kNever: it is not.
  static constexpr int kNever = -1;
  int step_night = kNever;
  double step = 0.05;
};

// The points of a history, one for each night: the median of its repeats.
std::vector<double> SimulateHistory(const HistoryModel& model,
                                    std::mt19937_64& random);

// Judges series after every night, as an index does. Returns the number of
// histories of `series_count` series without changes in which any night showed
// one.
int CountFalseAlarms(const HistoryModel& model, int histories, int series_count,
                     uint64_t seed);

// A change of the level must be found within so many nights, at a place so near
// to it.
inline constexpr int kFoundWithin = 15;
inline constexpr int kPlacedWithin = 5;

struct DetectionPower {
  int found = 0;
  std::vector<int> nights;  // that it took, of those that were found; sorted
};

// Each history has one step, with 60 to 120 nights before it that are drawn.
DetectionPower MeasurePower(const HistoryModel& model, int histories,
                            int series_count, uint64_t seed);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TESTING_SIMULATED_HISTORIES_H_
