#ifndef DISTBENCH_CONFIG_ARRIVALS_RATE_CURVE_H_
#define DISTBENCH_CONFIG_ARRIVALS_RATE_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distbench/config/arrivals/arrival_plan.h"
#include "distbench/config/arrivals/small_random.h"

namespace distbench::config {

// A client among the instances of its service.
struct ArrivalClient {
  int number = 0;  // below `count`
  int count = 1;
};

// The product of modulations over time, cell by cell: within a cell, it is
// linear. Times are nanoseconds since the start of the action. Where several
// modulations change at once, a cell is at most a 64th of each of their pieces,
// which bounds the error of taking their product as linear.
//
// The same seed gives the same curve. Nothing is allocated after construction.
class RateCurve {
 public:
  // The modulations must outlive this object and its copies.
  RateCurve(const std::vector<RateModulationPlan>& modulations, uint64_t seed,
            ArrivalClient client);

  // The cell, from start_ns to end_ns, which may be infinite.
  double start_ns() const { return start_ns_; }
  double end_ns() const { return end_ns_; }

  // The factor at a time within the cell, and its change per nanosecond.
  double FactorAt(double time_ns) const {
    return from_ + slope_ * (time_ns - start_ns_);
  }
  double slope() const { return slope_; }

  // The mean factor of the cell from time_ns to its end, times that time;
  // infinite if the cell is, and the factor is not 0.
  double AreaFrom(double time_ns) const;

  // Moves on to the next cell. Requires a finite end.
  void Next();

 private:
  // One modulation, and the piece or state that it is in.
  struct Cursor {
    const RateModulationPlan* plan;
    SmallRandom random;
    double shift_ns = 0;  // where in its pieces it is at time 0
    size_t index = 0;
    double start_ns = 0;
    double end_ns = 0;
    double from = 1;
    double to = 1;

    double At(double time_ns) const;
    void Start();
    void Step();

   private:
    void EnterPiece(size_t piece, double start);
    void EnterState(size_t state, double start);
    void StayInLast();
  };

  bool IsZeroForever() const;
  void MakeCell();

  std::vector<Cursor> cursors_;
  double start_ns_ = 0;
  double end_ns_ = 0;
  double from_ = 1;
  double slope_ = 0;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_RATE_CURVE_H_
