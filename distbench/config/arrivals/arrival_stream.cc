// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/arrivals/arrival_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace distbench::config {

// ---- Rates over time --------------------------------------------------------

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

// Cells in a piece, where several modulations change at once.
constexpr double kCellsPerPiece = 64;

double StartShift(const RateModulationPlan& plan, SmallRandom& random,
                  ArrivalClient client) {
  if (!plan.repeats) return 0;
  const double period_ns = plan.pieces.back().end_ns;
  double share = 0;
  if (plan.phase == ClientPhase::kRandom) share = random.Share();
  if (plan.phase == ClientPhase::kSpread) {
    share = static_cast<double>(client.number) / client.count;
  }
  return std::fmod(plan.shift_ns + share * period_ns, period_ns);
}

}  // namespace

double RateCurve::Cursor::At(double time_ns) const {
  if (from == to) return from;
  return from + (to - from) * (time_ns - start_ns) / (end_ns - start_ns);
}

void RateCurve::Cursor::EnterPiece(size_t piece, double start) {
  const double before_ns = piece == 0 ? 0 : plan->pieces[piece - 1].end_ns;
  index = piece;
  start_ns = start;
  end_ns = start + (plan->pieces[piece].end_ns - before_ns);
  from = plan->pieces[piece].from;
  to = plan->pieces[piece].to;
}

void RateCurve::Cursor::EnterState(size_t state, double start) {
  index = state;
  start_ns = start;
  end_ns = start + random.Exponential() * plan->states[state].mean_ns;
  from = to = plan->states[state].factor;
}

void RateCurve::Cursor::StayInLast() {
  index = plan->pieces.size();
  start_ns = plan->pieces.back().end_ns;
  end_ns = kForever;
  from = to = plan->pieces.back().to;
}

void RateCurve::Cursor::Start() {
  if (!plan->states.empty()) {
    // All states are entered equally often, so that the share of time in each
    // is proportional to its mean duration.
    double total_ns = 0;
    for (const RateStatePlan& state : plan->states) total_ns += state.mean_ns;
    double left_ns = random.Share() * total_ns;
    size_t state = 0;
    while (state + 1 < plan->states.size() &&
           left_ns >= plan->states[state].mean_ns) {
      left_ns -= plan->states[state++].mean_ns;
    }
    EnterState(state, 0);
    return;
  }
  size_t piece = 0;
  while (plan->pieces[piece].end_ns <= shift_ns) ++piece;
  EnterPiece(piece,
             (piece == 0 ? 0 : plan->pieces[piece - 1].end_ns) - shift_ns);
}

void RateCurve::Cursor::Step() {
  if (!plan->states.empty()) {
    const size_t others = plan->states.size() - 1;
    const auto drawn = static_cast<size_t>(random.Share() * others);
    EnterState(drawn + (drawn >= index ? 1 : 0), end_ns);
  } else if (index + 1 < plan->pieces.size()) {
    EnterPiece(index + 1, end_ns);
  } else if (plan->repeats) {
    EnterPiece(0, end_ns);
  } else {
    StayInLast();
  }
}

RateCurve::RateCurve(const std::vector<RateModulationPlan>& modulations,
                     uint64_t seed, ArrivalClient client) {
  for (size_t i = 0; i < modulations.size(); ++i) {
    const RateModulationPlan& plan = modulations[i];
    const bool is_common =
        !plan.states.empty() && plan.phase == ClientPhase::kNone;
    const uint64_t owner = is_common ? 0 : 1 + uint64_t(client.number);
    cursors_.push_back(
        {.plan = &plan, .random = SmallRandom(CombinedSeed({seed, i, owner}))});
    Cursor& cursor = cursors_.back();
    cursor.shift_ns = StartShift(plan, cursor.random, client);
    cursor.Start();
    // Rounding may have found a piece that ends here.
    while (cursor.end_ns <= 0) cursor.Step();
  }
  MakeCell();
}

double RateCurve::AreaFrom(double time_ns) const {
  if (end_ns_ == kForever) return from_ > 0 ? kForever : 0;
  const double width_ns = end_ns_ - time_ns;
  return width_ns * std::max(0.0, FactorAt(time_ns) + slope_ * width_ns / 2);
}

void RateCurve::Next() {
  start_ns_ = end_ns_;
  for (Cursor& cursor : cursors_) {
    while (cursor.end_ns <= start_ns_) cursor.Step();
  }
  MakeCell();
}

// A factor that stays 0 makes all others irrelevant, for ever.
bool RateCurve::IsZeroForever() const {
  return std::any_of(cursors_.begin(), cursors_.end(),
                     [](const Cursor& cursor) {
                       return cursor.end_ns == kForever && cursor.from == 0;
                     });
}

void RateCurve::MakeCell() {
  if (IsZeroForever()) {
    end_ns_ = kForever;
    from_ = slope_ = 0;
    return;
  }
  double end_ns = kForever;
  double shortest_ns = kForever;
  int changing = 0;
  for (const Cursor& cursor : cursors_) {
    end_ns = std::min(end_ns, cursor.end_ns);
    if (cursor.from == cursor.to) continue;
    ++changing;
    shortest_ns = std::min(shortest_ns, cursor.end_ns - cursor.start_ns);
  }
  if (changing > 1) {
    end_ns = std::min(end_ns, start_ns_ + shortest_ns / kCellsPerPiece);
    // However long the action has lasted, time goes on.
    end_ns = std::max(end_ns, std::nextafter(start_ns_, kForever));
  }
  end_ns_ = end_ns;
  from_ = 1;
  double to = 1;
  for (const Cursor& cursor : cursors_) {
    from_ *= cursor.At(start_ns_);
    to *= cursor.At(end_ns_);
  }
  slope_ = end_ns_ == kForever ? 0 : (to - from_) / (end_ns_ - start_ns_);
}

// ---- Arrivals ---------------------------------------------------------------

namespace {

using Process = ArrivalSourcePlan::Process;

// About 50 us of work.
constexpr int kMaxCellsAtOnce = 4096;

// What the seeds of a source are for.
enum SeedUse : uint64_t { kForGaps, kForRates };

// The time after which a factor that is `from` now and changes by `slope` has
// the integral `area`: the root of from * x + slope * x^2 / 2 = area, in the
// form that loses no digits.
double TimeToArea(double area, double from, double slope) {
  if (area <= 0) return 0;
  const double root = std::sqrt(std::max(0.0, from * from + 2 * slope * area));
  return 2 * area / (from + root);
}

}  // namespace

ArrivalSource::ArrivalSource(const ArrivalSourcePlan& plan, double interval_ns,
                             uint64_t seed, ArrivalClient client)
    : plan_(&plan),
      gap_ns_(interval_ns * plan.kept_share),
      random_(CombinedSeed({seed, kForGaps, uint64_t(client.number)})),
      curve_(plan.modulations, CombinedSeed({seed, kForRates}), client) {
  Draw(FirstGap(plan.phase, client));
}

void ArrivalSource::Advance() { Draw(Gap()); }

void ArrivalSource::Skip(double count) {
  if (std::isinf(time_ns_)) return;
  left_ns_ = count * gap_ns_ / plan_->kept_share;
  found_ = false;
  Search();
}

// Searches for the arrival after this gap and those that thinning adds to it.
void ArrivalSource::Draw(double gap) {
  while (random_.Share() >= plan_->kept_share) gap += Gap();
  left_ns_ = gap * gap_ns_;
  found_ = false;
  Search();
}

void ArrivalSource::Search() {
  if (std::isinf(left_ns_)) {
    time_ns_ = left_ns_;
    found_ = true;
    return;
  }
  for (int cells = 0; cells < kMaxCellsAtOnce; ++cells) {
    const double area = curve_.AreaFrom(time_ns_);
    // An arrival that is due at once waits for the end of a time without any.
    if (left_ns_ < area) {
      time_ns_ =
          std::min(curve_.end_ns(),
                   time_ns_ + TimeToArea(left_ns_, curve_.FactorAt(time_ns_),
                                         curve_.slope()));
      found_ = true;
      return;
    }
    time_ns_ = curve_.end_ns();
    if (std::isinf(time_ns_)) {
      found_ = true;
      return;
    }
    left_ns_ -= area;
    curve_.Next();
  }
}

double ArrivalSource::Gap() {
  switch (plan_->process) {
    case Process::kConstant:
      return 1;
    case Process::kExponential:
      return random_.Exponential();
    case Process::kGamma:
      return Gamma(plan_->gamma_shape) / plan_->gamma_shape;
    case Process::kRecorded:
      return RecordedGap();
  }
  return 1;
}

// Without repetition, infinite once each gap has been drawn.
double ArrivalSource::RecordedGap() {
  const std::vector<double>& gaps = plan_->gaps;
  if (!plan_->gaps_repeat && gaps_drawn_++ >= gaps.size()) {
    return std::numeric_limits<double>::infinity();
  }
  const double gap = gaps[recorded_];
  recorded_ = (recorded_ + 1) % gaps.size();
  return gap;
}

// Started at random, a renewal process is in a gap that is chosen in proportion
// to its length, at any point of it (Cox, Renewal Theory, 1962, section 5.2).
double ArrivalSource::FirstGap(ClientPhase phase, ArrivalClient client) {
  if (plan_->process == Process::kExponential) return random_.Exponential();
  if (phase == ClientPhase::kNone) return 0;
  const double share = phase == ClientPhase::kSpread
                           ? static_cast<double>(client.number) / client.count
                           : random_.Share();
  if (plan_->process == Process::kRecorded) {
    return EnterRecording(share * static_cast<double>(plan_->gaps.size()));
  }
  if (plan_->process == Process::kGamma && phase == ClientPhase::kRandom) {
    return share * Gamma(plan_->gamma_shape + 1) / plan_->gamma_shape;
  }
  return share;
}

// Returns what is left of the gap at this position, in mean gaps.
double ArrivalSource::EnterRecording(double position) {
  for (recorded_ = 0; recorded_ + 1 < plan_->gaps.size(); ++recorded_) {
    if (position < plan_->gaps[recorded_]) break;
    position -= plan_->gaps[recorded_];
  }
  // An arrival that is at this position is the first one.
  return position <= 0 ? 0 : std::max(0.0, Gap() - position);
}

double ArrivalSource::Gamma(double shape) {
  return std::gamma_distribution<double>(shape, 1)(random_);
}

ArrivalStream::ArrivalStream(const ArrivalPlan& plan, double interval_ns,
                             const Position& position)
    : others_(position.shard), shard_count_(position.shard_count) {
  sources_.reserve(plan.sources.size());
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    const ArrivalSourcePlan& source = plan.sources[i];
    sources_.emplace_back(source, interval_ns / source.share,
                          CombinedSeed({position.seed, i}), position.client);
  }
  found_ = Settle();
}

void ArrivalStream::Advance() {
  sources_[next_].Advance();
  others_ = shard_count_ - 1;
  found_ = Settle();
}

void ArrivalStream::Skip(int64_t count) {
  sources_[next_].Skip(static_cast<double>(count) * shard_count_);
  others_ = 0;
  found_ = Settle();
}

// Finds the next arrival of this shard. Returns false if that would take long.
bool ArrivalStream::Settle() {
  for (;;) {
    next_ = 0;
    for (size_t i = 1; i < sources_.size(); ++i) {
      if (sources_[i].time_ns() < sources_[next_].time_ns()) next_ = i;
    }
    ArrivalSource& source = sources_[next_];
    if (!source.found()) {
      source.Search();
      if (!source.found()) return false;
    } else if (others_ == 0 || std::isinf(source.time_ns())) {
      return true;
    } else {
      --others_;
      source.Advance();
    }
  }
}

}  // namespace distbench::config
