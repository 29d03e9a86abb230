#include "distbench/config/arrivals/rate_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace distbench::config {
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

}  // namespace distbench::config
