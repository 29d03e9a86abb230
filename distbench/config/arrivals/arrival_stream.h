// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Arrivals in sequence.
//
//   gaps of the process ──▶ ArrivalSource: through the inverse of the rate's
//   (mean 1)                integral over time (RateCurve) ──▶ times
//   sources ──▶ ArrivalStream: the earliest; every shard_count-th is this
//               worker's
//
// A process of unit rate whose time is stretched by the inverse of a rate's
// integral has that rate, whatever the process (the time-rescaling theorem:
// Brown et al., The time-rescaling theorem and its application to neural spike
// train data analysis, 2002). Any process therefore combines with any
// modulations.
//
// All workers that share an action draw the same sequence from the same seed,
// and each takes its own of it. What arrives therefore depends neither on their
// number nor on their timing, and reports can draw it again.

#ifndef DISTBENCH_CONFIG_ARRIVALS_ARRIVAL_STREAM_H_
#define DISTBENCH_CONFIG_ARRIVALS_ARRIVAL_STREAM_H_

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

// One process with its modulations.
class ArrivalSource {
 public:
  // interval_ns: between kept arrivals of this source while all factors are 1.
  // The plan must outlive this object and its copies.
  ArrivalSource(const ArrivalSourcePlan& plan, double interval_ns,
                uint64_t seed, ArrivalClient client);

  // The next arrival in nanoseconds from the start, infinite if there is none;
  // or, unless found(), a time before it.
  double time_ns() const { return time_ns_; }
  bool found() const { return found_; }

  // Moves on to the arrival after the next one, and searches for it.
  void Advance();

  // Goes on searching. Looks at a limited number of cells, because the rate may
  // be 0 for any time.
  void Search();

  // Moves on by this number of arrivals, at their mean distance.
  void Skip(double count);

 private:
  double Gap();
  double RecordedGap();
  double FirstGap(ClientPhase phase, ArrivalClient client);
  double EnterRecording(double position);
  double Gamma(double shape);
  void Draw(double gap);

  const ArrivalSourcePlan* plan_;
  double gap_ns_;  // mean between the arrivals before thinning
  SmallRandom random_;
  RateCurve curve_;
  size_t recorded_ = 0;    // the recording's next gap
  size_t gaps_drawn_ = 0;  // of the recording, unless it repeats
  double left_ns_ = 0;     // to the arrival, at a factor of 1
  double time_ns_ = 0;
  bool found_ = false;
};

// The arrivals of one of the workers that share an action. Allocates nothing
// after construction.
class ArrivalStream {
 public:
  struct Position {
    uint64_t seed = 0;
    ArrivalClient client = {};
    int shard = 0;  // below shard_count
    int shard_count = 1;
  };

  // interval_ns: the mean between arrivals of all shards while all factors are
  // 1. The plan must outlive this object and its copies.
  ArrivalStream(const ArrivalPlan& plan, double interval_ns,
                const Position& position);

  // As those of ArrivalSource.
  double time_ns() const { return sources_[next_].time_ns(); }
  bool found() const { return found_; }
  void Advance();
  void Search() { found_ = Settle(); }

  // Moves on by about `count` arrivals of this shard, whatever their number:
  // the source of the next one moves on by all of them. Skipped again and
  // again, sources have their shares. Counts should therefore be small in
  // comparison with all that is skipped.
  void Skip(int64_t count);

 private:
  bool Settle();

  std::vector<ArrivalSource> sources_;
  size_t next_ = 0;     // the source with the earliest arrival
  int64_t others_ = 0;  // arrivals of other shards that come first
  int shard_count_;
  bool found_ = false;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_ARRIVAL_STREAM_H_
