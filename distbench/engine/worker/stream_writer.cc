#include "distbench/engine/worker/stream_writer.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/draw_size.h"

namespace distbench::engine {

void StreamWriter::Reset(WorkerContext& context,
                         const config::StreamSidePlan& side,
                         const config::SizePlan& size) {
  context_ = &context;
  side_ = &side;
  size_ = &size;
  timer_.kind = Timer::Kind::kStreamWrite;
  timer_.owner = this;
  pending_ = 0;
  writing_ = false;
  due_ns_ = started_ns_ = blocked_ns_ = 0;
}

void StreamWriter::Add(int64_t messages) {
  if (pending_ == 0) due_ns_ = std::max(due_ns_, context_->now_ns);
  pending_ += messages;
  Advance();
}

void StreamWriter::OnWritten() {
  writing_ = false;
  if (pending_ > 0) {
    blocked_ns_ +=
        std::max<int64_t>(0, context_->now_ns - std::max(due_ns_, started_ns_));
  }
  Advance();
}

void StreamWriter::Stop() {
  context_->timers.Cancel(timer_);
  pending_ = 0;
}

void StreamWriter::Advance() {
  if (writing_ || pending_ == 0) return;
  if (due_ns_ > context_->now_ns) {
    if (!timer_.armed()) context_->timers.Arm(timer_, due_ns_);
    return;
  }
  --pending_;
  writing_ = true;
  started_ns_ = context_->now_ns;
  const int64_t due_ns = due_ns_;
  due_ns_ = NextDueNs();
  Send(DrawSize(*size_, *context_), due_ns);
}

int64_t StreamWriter::NextDueNs() {
  const config::IntervalPlan& interval = side_->interval;
  if (interval.distribution != config::kNone) {
    return base::SaturatingAdd(
        due_ns_,
        context_->engine.plan().distributions[interval.distribution].Draw(
            context_->random)[0]);
  }
  return interval.fixed_ns == 0
             ? started_ns_
             : base::SaturatingAdd(due_ns_, interval.fixed_ns);
}

}  // namespace distbench::engine
