// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/cpus.h"

#include <algorithm>
#include <cmath>

namespace distbench::simulation {
namespace {

// What rounding may add to the end of a job.
constexpr double kRoundingNs = 1e-3;

// Thirty years: what takes longer never ends, and must not overflow.
constexpr double kLongestNs = 1e18;

int64_t RoundUp(double duration_ns) {
  return static_cast<int64_t>(
      std::ceil(std::clamp(duration_ns, 0.0, kLongestNs)));
}

}  // namespace

SimulatedCpus::SimulatedCpus(Simulator& simulator, int node,
                             const SimulatedHost& host, double slowness,
                             uint64_t seed)
    : simulator_(simulator),
      node_(node),
      host_(host),
      slowness_(slowness),
      random_(seed, node, /*part=*/1),
      advanced_ns_(simulator.now_ns(node)) {
  if (host_.stalls_per_second() > 0 && host_.mean_stall_ns() > 0) {
    ScheduleStall();
  }
}

void SimulatedCpus::Submit(SimulatedThread& thread, double work_ns) {
  work_ns *= slowness_;
  if (&thread == ending_) {
    goes_on_ = true;
    Begin(thread, work_ns);
    return;
  }
  if (host_.scheduler() == SimulatedHost::FIFO && running_ == host_.cpus()) {
    waiting_.push_back({&thread, work_ns});
    return;
  }
  Advance();
  ++running_;
  Begin(thread, work_ns);
  ScheduleCheck();
}

void SimulatedCpus::OnEvent(const SimulatedEvent& event) {
  Advance();
  if (event.kind == kCheck) {
    checks_.OnEvent();
    EndJobs();
  } else {
    is_stalled_ = !is_stalled_;
    ScheduleStall();
  }
  ScheduleCheck();
}

void SimulatedCpus::SettleUsed() {
  Advance();
  for (const Job& job : jobs_) {
    job.thread->used_ns_ -= std::max(0.0, job.end - virtual_ns_);
  }
}

void SimulatedCpus::Advance() {
  const int64_t now_ns = simulator_.now_ns(node_);
  virtual_ns_ += static_cast<double>(now_ns - advanced_ns_) * Rate();
  advanced_ns_ = now_ns;
}

double SimulatedCpus::Rate() const {
  if (is_stalled_) return 0;
  if (running_ <= host_.cpus()) return 1;
  return static_cast<double>(host_.cpus()) / running_;
}

// Requires Advance() at this time.
void SimulatedCpus::Begin(SimulatedThread& thread, double work_ns) {
  thread.used_ns_ += work_ns;
  jobs_.push_back({virtual_ns_ + work_ns, next_order_++, &thread});
  std::push_heap(jobs_.begin(), jobs_.end());
}

void SimulatedCpus::EndJobs() {
  while (!jobs_.empty() && jobs_.front().end <= virtual_ns_ + kRoundingNs) {
    std::pop_heap(jobs_.begin(), jobs_.end());
    SimulatedThread& thread = *jobs_.back().thread;
    jobs_.pop_back();
    End(thread);
  }
}

void SimulatedCpus::End(SimulatedThread& thread) {
  ending_ = &thread;
  goes_on_ = false;
  thread.OnCpuDone();
  ending_ = nullptr;
  if (goes_on_) return;
  --running_;
  if (waiting_.empty()) return;
  ++running_;
  Begin(*waiting_.front().thread, waiting_.front().work_ns);
  waiting_.pop_front();
}

void SimulatedCpus::ScheduleCheck() {
  const double rate = Rate();
  if (jobs_.empty() || rate == 0) return;
  const double wait_ns = (jobs_.front().end - virtual_ns_) / rate;
  const int64_t due_ns = advanced_ns_ + RoundUp(wait_ns - kRoundingNs);
  if (!checks_.Add(due_ns)) return;
  // The content is only to be fetched into the cache before it is used.
  simulator_.Schedule(node_, node_, due_ns, *this,
                      {.kind = kCheck, .content = jobs_.front().thread});
}

void SimulatedCpus::ScheduleStall() {
  const double draw = -std::log(random_.Fraction());
  const double wait_ns = is_stalled_ ? draw * host_.mean_stall_ns()
                                     : draw * 1e9 / host_.stalls_per_second();
  simulator_.Schedule(node_, node_, simulator_.now_ns(node_) + RoundUp(wait_ns),
                      *this, {.kind = kStall});
}

}  // namespace distbench::simulation
