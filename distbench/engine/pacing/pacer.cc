// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/pacing/pacer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/random/distributions.h"
#include "distbench/base/saturating_add.h"

namespace distbench::engine {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Composed arrivals that are drawn to count them. Beyond, a part of what has
// been counted is skipped at once, so that any number takes about a second.
constexpr int64_t kMaxExact = 1'000'000;
constexpr int64_t kPartsSkipped = 10'000;

// Composed arrivals that are drawn to skip them at once. A backlog is skipped
// in at most 100,000 steps, so that it is skipped exactly if it is counted
// exactly.
constexpr int64_t kMaxExactSkip = 10;

// Returns the first multiple of the interval on the common clock that lies
// strictly after the start, as monotonic time.
int64_t FirstBurst(int64_t interval_ns, const Pacer::Position& position) {
  const int64_t common_ns = position.start_ns + position.common_clock_offset_ns;
  const int64_t since_ns = common_ns % interval_ns;
  return position.start_ns + (interval_ns - since_ns);
}

// The offset into the interval at which this instance sends its bursts.
int64_t BurstShift(int64_t interval_ns, const Pacer::Position& position) {
  return static_cast<int64_t>(static_cast<double>(interval_ns) *
                              position.instance / position.instance_count);
}

}  // namespace

Pacer::Pacer(const config::IterationsPlan& plan, const Position& position,
             absl::BitGenRef random)
    : exponential_(plan.arrivals == config::ArrivalProcess::kExponential),
      step_ns_(
          base::SaturatingMultiply(plan.interval_ns, position.shard_count)),
      // What is due at the end of time never comes.
      last_ns_(std::min(kMax - 1, base::SaturatingAdd(position.start_ns,
                                                      plan.max_duration_ns))),
      start_ns_(position.start_ns) {
  if (plan.composed_arrivals != nullptr) {
    stream_ = std::make_unique<config::ArrivalStream>(
        *plan.composed_arrivals, static_cast<double>(plan.interval_ns),
        config::ArrivalStream::Position{
            .seed = position.arrival_seed,
            .client = {position.instance, position.instance_count},
            .shard = position.shard,
            .shard_count = position.shard_count});
    first_ = false;
    TakeTime();
    return;
  }
  const int64_t turn_ns =
      base::SaturatingMultiply(plan.interval_ns, position.shard + 1) -
      plan.interval_ns;
  switch (plan.arrivals) {
    case config::ArrivalProcess::kConstant:
      next_ns_ = base::SaturatingAdd(position.start_ns, turn_ns);
      break;
    case config::ArrivalProcess::kExponential:
      // The arrival process starts with an arrival, which belongs to one shard.
      next_ns_ = position.start_ns;
      if (position.shard != 0) {
        next_ns_ = base::SaturatingAdd(next_ns_, ExponentialGap(random));
      }
      break;
    case config::ArrivalProcess::kSyncBurst:
      next_ns_ =
          base::SaturatingAdd(FirstBurst(plan.interval_ns, position), turn_ns);
      break;
    case config::ArrivalProcess::kSyncBurstSpread:
      next_ns_ = base::SaturatingAdd(FirstBurst(plan.interval_ns, position) +
                                         BurstShift(plan.interval_ns, position),
                                     turn_ns);
      break;
  }
  // Only the first iteration of the action may lie beyond its duration.
  first_ = position.shard == 0;
}

int64_t Pacer::due_count(int64_t now_ns) {
  const int64_t end_ns = std::min(now_ns, last_ns_);
  if (stream_ != nullptr) return CountAhead(end_ns);
  return next_ns_ > end_ns ? 0 : (end_ns - next_ns_) / step_ns_ + 1;
}

void Pacer::Advance(absl::BitGenRef random) {
  if (stream_ != nullptr) return AdvanceStream();
  first_ = false;
  next_ns_ = base::SaturatingAdd(
      next_ns_, exponential_ ? ExponentialGap(random) : step_ns_);
}

void Pacer::Skip(int64_t count) {
  if (stream_ == nullptr) {
    first_ = false;
    next_ns_ = base::SaturatingAdd(next_ns_,
                                   base::SaturatingMultiply(step_ns_, count));
  } else if (count > kMaxExactSkip) {
    stream_->Skip(count);
    TakeTime();
    LeaveBehind(count);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      Settle(last_ns_);
      AdvanceStream();
    }
  }
}

int64_t Pacer::TimeNs(const config::ArrivalStream& stream) const {
  const double since_ns = stream.time_ns();
  if (since_ns >= static_cast<double>(kMax)) return kMax;
  return base::SaturatingAdd(start_ns_, std::llround(since_ns));
}

void Pacer::TakeTime() {
  settled_ = stream_->found();
  next_ns_ = TimeNs(*stream_);
}

void Pacer::Search(int64_t until_ns) {
  while (!settled_ && next_ns_ <= until_ns) {
    stream_->Search();
    TakeTime();
  }
}

void Pacer::AdvanceStream() {
  stream_->Advance();
  TakeTime();
  LeaveBehind(1);
}

void Pacer::LeaveBehind(int64_t count) {
  ahead_in_use_ &= ahead_count_ >= count;
  ahead_count_ -= count;
}

// Each arrival is drawn once more, however often this is called.
int64_t Pacer::CountAhead(int64_t end_ns) {
  if (!ahead_in_use_) {
    if (ahead_ == nullptr) {
      ahead_ = std::make_unique<config::ArrivalStream>(*stream_);
    } else {
      *ahead_ = *stream_;
    }
    ahead_in_use_ = true;
    ahead_count_ = 0;
  }
  while (TimeNs(*ahead_) <= end_ns) {
    if (!ahead_->found()) {
      ahead_->Search();
    } else if (ahead_count_ < kMaxExact) {
      ahead_->Advance();
      ++ahead_count_;
    } else {
      const int64_t count = ahead_count_ / kPartsSkipped;
      ahead_->Skip(count);
      ahead_count_ += count;
    }
  }
  return ahead_count_;
}

int64_t Pacer::ExponentialGap(absl::BitGenRef random) const {
  const double gap_ns =
      absl::Exponential<double>(random) * static_cast<double>(step_ns_);
  // Rounded randomly, so that the mean is exact for short intervals too.
  const double rounded = std::floor(gap_ns + absl::Uniform(random, 0.0, 1.0));
  return rounded >= static_cast<double>(kMax) ? kMax
                                              : static_cast<int64_t>(rounded);
}

}  // namespace distbench::engine
