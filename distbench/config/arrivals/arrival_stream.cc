#include "distbench/config/arrivals/arrival_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace distbench::config {
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
