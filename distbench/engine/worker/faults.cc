// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/faults.h"

#include <algorithm>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/merge.h"

namespace distbench::engine {
namespace {

bool IsFaultOf(const config::FaultPlan& fault,
               const config::InstancePlan& instance) {
  return fault.service == instance.service &&
         (fault.instances.empty() ||
          std::count(fault.instances.begin(), fault.instances.end(),
                     instance.number) > 0);
}

// Whether no request may escape it, not even one that comes before the worker
// has heard of the start.
bool AffectsFirstRequest(const config::FaultPlan& fault) {
  return fault.start_ns == 0 &&
         (fault.kind == config::FaultPlan::Kind::kError ||
          fault.kind == config::FaultPlan::Kind::kExtraLatency);
}

}  // namespace

bool Faults::HasAny(const config::Plan& plan,
                    const config::InstancePlan& instance) {
  return std::any_of(plan.faults.begin(), plan.faults.end(),
                     [&](const config::FaultPlan& fault) {
                       return IsFaultOf(fault, instance);
                     });
}

Faults::Faults(WorkerContext& context) : context_(context) {
  for (const config::FaultPlan& plan : context.engine.plan().faults) {
    if (!IsFaultOf(plan, context.engine.instance_plan())) continue;
    State& fault = faults_.emplace_back();
    fault.plan = &plan;
    fault.awaits_first_request = AffectsFirstRequest(plan);
    fault.log.set_request_count(0);
    fault.log.set_connection_count(0);
    if (context.worker == 0) {
      fault.times.reserve(plan.repeat_ns == 0 ? 1 : results::kMaxFaultTimes);
    }
  }
  timer_.kind = Timer::Kind::kFault;
  timer_.owner = this;
}

void Faults::Start(int64_t traffic_start_ns) {
  if (context_.engine.IsAllStopped()) return;
  for (State& fault : faults_) {
    SetPeriod(fault,
              base::SaturatingAdd(traffic_start_ns, fault.plan->start_ns));
  }
  ArmTimer();
}

absl::Status Faults::OnDue() {
  for (State& fault : faults_) {
    if (fault.in_effect && fault.end_ns <= context_.now_ns) End(fault);
    if (fault.in_effect || fault.begin_ns > context_.now_ns) continue;
    if (fault.plan->kind == config::FaultPlan::Kind::kResetConnections) {
      absl::Status broken = Break(fault);
      if (!broken.ok()) return broken;
    } else {
      StartFault(fault);
    }
    fault.awaits_first_request = false;
  }
  ArmTimer();
  return absl::OkStatus();
}

void Faults::Stop() {
  context_.timers.Cancel(timer_);
  for (State& fault : faults_) {
    fault.awaits_first_request = false;
    if (fault.in_effect) End(fault);
    fault.begin_ns = TimerQueue::kNever;
  }
  frozen_until_ns_ = 0;
}

bool Faults::Affects(int rpc) const {
  return std::any_of(faults_.begin(), faults_.end(), [&](const State& fault) {
    return Concerns(fault, config::FaultPlan::Kind::kError, rpc) ||
           Concerns(fault, config::FaultPlan::Kind::kExtraLatency, rpc);
  });
}

absl::string_view Faults::DrawError(int rpc) {
  for (State& fault : faults_) {
    if (Concerns(fault, config::FaultPlan::Kind::kError, rpc) &&
        Happens(fault)) {
      return fault.plan->error;
    }
  }
  return {};
}

int64_t Faults::DrawExtraLatency(int rpc) {
  int64_t sum_ns = 0;
  for (State& fault : faults_) {
    if (!Concerns(fault, config::FaultPlan::Kind::kExtraLatency, rpc) ||
        !Happens(fault)) {
      continue;
    }
    base::SaturatingAddTo(sum_ns,
                          DrawTime(fault.plan->extra_latency, context_));
  }
  return sum_ns;
}

void Faults::AddTo(ServicePerformanceLog& log) const {
  for (const State& fault : faults_) {
    FaultLog& fault_log = (*log.mutable_fault_logs())[fault.plan->name];
    fault_log = fault.log;
    fault_log.mutable_times()->Add(fault.times.begin(), fault.times.end());
  }
}

int64_t Faults::NowUnixNs() const {
  return context_.now_ns + context_.engine.unix_offset_ns();
}

// Returns null if the time is not kept. The workers follow the same schedule,
// so the times of one speak for all.
FaultTime* Faults::NewTime(State& fault) const {
  if (fault.times.size() == fault.times.capacity()) return nullptr;
  FaultTime& time = fault.times.emplace_back();
  time.set_begin_timestamp_ns(NowUnixNs());
  time.set_end_timestamp_ns(NowUnixNs());
  return &time;
}

void Faults::SetPeriod(State& fault, int64_t begin_ns) {
  fault.begin_ns = begin_ns;
  fault.end_ns = base::SaturatingAdd(begin_ns, fault.plan->duration_ns);
}

// Periods that have passed meanwhile, while the worker was frozen for example,
// are left out.
void Faults::GoOn(State& fault) {
  const int64_t repeat_ns = fault.plan->repeat_ns;
  if (repeat_ns == 0) {
    fault.begin_ns = TimerQueue::kNever;
    return;
  }
  const int64_t missed =
      std::max<int64_t>(0, context_.now_ns - fault.end_ns) / repeat_ns;
  SetPeriod(fault,
            base::SaturatingAdd(fault.begin_ns, (missed + 1) * repeat_ns));
}

void Faults::StartFault(State& fault) {
  if (fault.end_ns <= context_.now_ns) GoOn(fault);
  if (fault.begin_ns > context_.now_ns) return;
  fault.in_effect = true;
  fault.time = NewTime(fault);
  if (fault.awaits_first_request && fault.time != nullptr) {
    fault.time->set_begin_timestamp_ns(fault.begin_ns +
                                       context_.engine.unix_offset_ns());
  }
  if (fault.plan->kind == config::FaultPlan::Kind::kFreeze) {
    frozen_until_ns_ = std::max(frozen_until_ns_, fault.end_ns);
  }
}

void Faults::End(State& fault) {
  fault.in_effect = false;
  if (fault.time != nullptr) fault.time->set_end_timestamp_ns(NowUnixNs());
  GoOn(fault);
}

absl::Status Faults::Break(State& fault) {
  const int64_t count = context_.transport.BreakConnections();
  if (count < 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "driver \"", context_.engine.service().driver.driver,
        "\" cannot break the connections of ",
        context_.engine.instance_plan().name, ", as fault \"", fault.plan->name,
        "\" demands; use another driver, or freeze instead of "
        "reset_connections"));
  }
  fault.log.set_connection_count(fault.log.connection_count() + count);
  NewTime(fault);
  GoOn(fault);
  return absl::OkStatus();
}

void Faults::ArmTimer() {
  int64_t next_ns = TimerQueue::kNever;
  for (const State& fault : faults_) {
    next_ns =
        std::min(next_ns, fault.in_effect ? fault.end_ns : fault.begin_ns);
  }
  context_.timers.Cancel(timer_);
  if (next_ns != TimerQueue::kNever) context_.timers.Arm(timer_, next_ns);
}

bool Faults::Concerns(const State& fault, config::FaultPlan::Kind kind,
                      int rpc) const {
  return (fault.in_effect || fault.awaits_first_request) &&
         fault.plan->kind == kind &&
         (fault.plan->rpc == config::kNone || fault.plan->rpc == rpc);
}

bool Faults::Happens(State& fault) {
  const double probability = fault.plan->probability;
  if (probability < 1 &&
      absl::Uniform(context_.random, 0.0, 1.0) >= probability) {
    return false;
  }
  fault.log.set_request_count(fault.log.request_count() + 1);
  return true;
}

}  // namespace distbench::engine
