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

struct HistoryModel {
  size_t results = 200;
  double variation = 0.03;  // standard deviation of the values, as a share
  Noise noise = Noise::kNormal;

  // The correlation of neighbouring results.
  double correlation = 0;

  // From these results on, the level is higher by 5 %, by a further 10 %, or
  // the spread is multiplied by spread_factor. kNever: there is no such change.
  static constexpr size_t kNever = SIZE_MAX;
  size_t five_percent = kNever;
  size_t ten_percent = kNever;
  size_t spread_change = kNever;
  double spread_factor = 2;
};

std::vector<double> SimulateHistory(const HistoryModel& model,
                                    std::mt19937_64& random);

// A change counts as found if one was reported so near. Nobody can place a
// small change of the spread that well, so that it is also counted how often
// one of that kind was reported somewhat near.
inline constexpr size_t kFoundWithin = 5;
inline constexpr size_t kNoticedWithin = 25;

struct DetectionPower {
  int found_five_percent = 0;
  int found_ten_percent = 0;
  int found_spread = 0;
  int noticed_spread = 0;

  // Whose place a maximum of the likelihood would find as near, if it knew that
  // there is one change of the spread after the other changes, and that the
  // noise is normal.
  int placed_by_likelihood = 0;
  int other_changes = 0;  // beyond kNoticedWithin of any
};

// Each history has all three changes, in their order, at places that are drawn;
// all segments have at least 40 results.
DetectionPower MeasurePower(const HistoryModel& model, int histories,
                            int series_count, uint64_t seed);

// The number of histories of `series_count` series without changes in which any
// change is reported.
int CountFalseAlarms(const HistoryModel& model, int histories, int series_count,
                     uint64_t seed);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TESTING_SIMULATED_HISTORIES_H_
