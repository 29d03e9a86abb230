// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/process_engines.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/hosting/process_engine.h"

namespace distbench::hosting {
namespace {

// How often certificate files are checked for changes.
constexpr absl::Duration kRenewalInterval =
    absl::Seconds(security::TlsCredentials::kReloadSeconds);

// How many beats a process may take to end by itself.
constexpr int kMaxEndBeats = 4;

const config::DriverOptions& DriverOf(const EngineRequest& request) {
  const config::Plan& plan = *request.options.plan;
  return plan.services[plan.instances[request.options.instance].service].driver;
}

// Empty: this program.
const std::string& EngineNameOf(const EngineRequest& request) {
  return DriverOf(request).engine;
}

// Whether instances of a service can be reached only from within their own
// process.
bool StaysInProcess(const EngineRequest& request) {
  const config::DriverDeclaration* declaration =
      config::FindDriver(config::Innermost(DriverOf(request)).driver);
  return declaration != nullptr && declaration->stays_in_process;
}

absl::StatusOr<security::TlsContents> ReadTls(
    const security::TlsCredentials* tls) {
  if (tls == nullptr) return security::TlsContents();
  return security::ReadTlsContents(tls->files());
}

MakeEngine ToMakeEngine(const EngineRequest& request,
                        const security::TlsContents& tls) {
  MakeEngine make;
  *make.mutable_test() = request.test;
  make.set_instance(request.options.instance);
  make.set_worker_count(request.options.worker_count);
  make.set_sample_memory_bytes(request.options.sample_memory_bytes);
  make.set_clock_offset_ns(request.clock_offset_ns);
  make.set_service_address(request.environment.service_address);
  make.set_listen_address(request.environment.listen_address);
  make.set_test_nonce(request.environment.test_nonce);
  make.set_has_spare_cpu(request.environment.has_spare_cpu);
  if (request.environment.tls != nullptr) {
    *make.mutable_tls() = ToTlsMaterial(tls);
  }
  make.mutable_limits()->insert(request.limits.begin(), request.limits.end());
  if (request.binding)
    *make.mutable_binding() = ToEngineBinding(*request.binding);
  if (!EngineNameOf(request).empty()) make.set_check_test(true);
  return make;
}

}  // namespace

ProcessEngines::ProcessEngines(EngineLimits limits, EnginePrograms programs)
    : limits_(limits),
      programs_(std::move(programs)),
      keeper_([this] { RunKeeper(); }) {}

ProcessEngines::~ProcessEngines() {
  {
    absl::MutexLock lock(&mutex_);
    is_over_ = true;
  }
  keeper_wakeup_.Wake();
  keeper_.join();
  // All are told first, so that they end in parallel.
  for (const ProcessPointer& process : idle_) process->End();
}

std::vector<EngineProgram> ProcessEngines::programs() const {
  std::vector<EngineProgram> programs;
  for (const auto& [name, engine] : programs_) {
    programs.push_back(engine.description);
  }
  return programs;
}

void ProcessEngines::Expect(int count) {
  absl::MutexLock lock(&mutex_);
  if (count == 0) return KeepOneAhead();
  is_expecting_ = true;
  to_start_ = std::max(to_start_, count - IdleCount());
  keeper_wakeup_.Wake();
}

absl::StatusOr<std::unique_ptr<HostedEngine>> ProcessEngines::Make(
    EngineRequest request) {
  const absl::StatusOr<security::TlsContents> tls =
      ReadTls(request.environment.tls.get());
  if (!tls.ok()) return tls.status();
  const absl::StatusOr<std::string> program = ProgramFor(request);
  if (!program.ok()) return program.status();
  const MakeEngine make = ToMakeEngine(request, *tls);
  bool was_idle = false;
  for (;;) {
    absl::StatusOr<ProcessPointer> process =
        GetProcess(request, *tls, *program, was_idle);
    if (!process.ok()) return process.status();
    auto engine = std::make_unique<ProcessEngine>(
        request.options, *process,
        [this, process = *process] { GiveBack(process); });
    absl::Status status = engine->Make(make);
    if (status.ok()) return engine;
    // The loss of an idle process is no fault of the test.
    if (!was_idle || (*process)->is_alive()) return status;
  }
}

absl::StatusOr<std::string> ProcessEngines::ProgramFor(
    const EngineRequest& request) const {
  const std::string& name = EngineNameOf(request);
  if (name.empty()) return std::string();
  const auto found = programs_.find(name);
  if (found != programs_.end()) return found->second.path;
  return absl::FailedPreconditionError(
      absl::StrCat("this node has no engine \"", name,
                   "\"; start it with --engine=", name, "=PATH"));
}

// The keeper buries what has ended, at its next beat.
void ProcessEngines::AwaitEnds(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(this, &ProcessEngines::HasNoEnding),
                          patience);
}

absl::StatusOr<ProcessEngines::ProcessPointer> ProcessEngines::GetProcess(
    const EngineRequest& request, const security::TlsContents& tls,
    const std::string& program, bool& was_idle) {
  const bool is_shared = StaysInProcess(request);
  ProcessPointer process;
  {
    absl::MutexLock lock(&mutex_);
    if (is_shared) process = TakeShared(*request.options.plan);
    // After a failed idle process, the next one is a new one.
    const bool may_be_idle =
        program.empty() && !request.binding && request.group < 0 && !was_idle;
    was_idle = false;
    if (process != nullptr) return process;
    if (may_be_idle) process = TakeIdle();
    was_idle = process != nullptr;
  }
  if (process == nullptr) {
    auto started = EngineProcess::Launch(
        {.program = program, .group = request.group}, limits_);
    if (!started.ok()) return started.status();
    process = *std::move(started);
  }
  absl::MutexLock lock(&mutex_);
  busy_.push_back({.process = process,
                   .plan = request.options.plan,
                   .is_shared = is_shared,
                   .tls = request.environment.tls,
                   .sent = tls});
  keeper_wakeup_.Wake();
  return process;
}

ProcessEngines::ProcessPointer ProcessEngines::TakeShared(
    const config::Plan& plan) {
  for (Busy& busy : busy_) {
    if (!busy.is_shared || busy.plan.get() != &plan) continue;
    ++busy.engine_count;
    return busy.process;
  }
  return nullptr;
}

ProcessEngines::ProcessPointer ProcessEngines::TakeIdle() {
  // A process that is just being started would be surplus.
  mutex_.Await(absl::Condition(
      +[](bool* is_starting) { return !*is_starting; }, &is_starting_));
  while (!idle_.empty()) {
    ProcessPointer process = std::move(idle_.front());
    idle_.pop_front();
    if (process->is_alive()) return process;
    End(std::move(process));
  }
  // The caller starts one of those that the keeper has not started yet.
  if (to_start_ > 0) --to_start_;
  return nullptr;
}

void ProcessEngines::GiveBack(const ProcessPointer& process) {
  absl::MutexLock lock(&mutex_);
  const auto busy = absl::c_find_if(
      busy_, [&](const Busy& each) { return each.process == process; });
  if (--busy->engine_count > 0) return;
  busy_.erase(busy);
  End(process);
  KeepOneAhead();
}

void ProcessEngines::End(ProcessPointer process) {
  process->End();
  ending_.push_back({.process = std::move(process)});
}

// The number of processes that are idle, or will be in a moment.
int ProcessEngines::IdleCount() const {
  return static_cast<int>(idle_.size()) + (is_starting_ ? 1 : 0);
}

// Nothing is started while engines run, because that would disturb them.
void ProcessEngines::KeepOneAhead() {
  if (!busy_.empty()) return;
  is_expecting_ = false;
  to_start_ = std::max(0, 1 - IdleCount());
  keeper_wakeup_.Wake();
  while (idle_.size() > 1) {
    End(std::move(idle_.back()));
    idle_.pop_back();
  }
}

// Sleeps by the monotonic clock: after a step of the host's clock, beats must
// come neither faster nor slower.
void ProcessEngines::RunKeeper() {
  int64_t next_beat_ns = 0;
  int64_t next_renewal_ns = 0;
  while (!IsOver()) {
    StartAhead();
    const int64_t now_ns = base::RealClock().MonotonicNs();
    if (now_ns >= next_beat_ns) {
      next_beat_ns =
          now_ns + absl::ToInt64Nanoseconds(EngineProcess::kBeatInterval);
      BeatAll();
      ReapEnded();
    }
    if (now_ns >= next_renewal_ns) {
      next_renewal_ns = now_ns + absl::ToInt64Nanoseconds(kRenewalInterval);
      RenewCertificates();
    }
    keeper_wakeup_.Sleep(IsIdle() ? -1 : next_beat_ns - now_ns);
  }
}

bool ProcessEngines::IsOver() const {
  absl::MutexLock lock(&mutex_);
  return is_over_;
}

bool ProcessEngines::IsIdle() const {
  absl::MutexLock lock(&mutex_);
  return busy_.empty() && ending_.empty();
}

void ProcessEngines::StartAhead() {
  for (;;) {
    EngineProcess::Start start = {.is_warm = true};
    {
      absl::MutexLock lock(&mutex_);
      if (to_start_ == 0) return;
      // There is no time to warm up processes that are needed at once.
      if (is_expecting_) start.is_warm = false;
      --to_start_;
      is_starting_ = true;
    }
    auto started = EngineProcess::Launch(start, limits_);
    absl::MutexLock lock(&mutex_);
    is_starting_ = false;
    if (!started.ok()) {
      // A caller that needs a process tries again, and reports the error to the
      // user.
      LOG(WARNING) << started.status();
      to_start_ = 0;
      return;
    }
    idle_.push_back(*std::move(started));
    // It may have become surplus meanwhile.
    if (!is_expecting_) KeepOneAhead();
  }
}

void ProcessEngines::BeatAll() {
  std::vector<ProcessPointer> processes;
  {
    absl::MutexLock lock(&mutex_);
    for (const Busy& busy : busy_) processes.push_back(busy.process);
  }
  for (const ProcessPointer& process : processes) process->Beat();
}

// Destroys processes that have ended, or had enough time to do so.
void ProcessEngines::ReapEnded() {
  absl::MutexLock lock(&mutex_);
  for (Ending& each : ending_) {
    if (each.process->has_ended()) continue;
    if (++each.beats >= kMaxEndBeats) each.process->Kill();
  }
  const auto first_ended = std::partition(
      ending_.begin(), ending_.end(),
      [](const Ending& each) { return !each.process->has_ended(); });
  ending_.erase(first_ended, ending_.end());
}

void ProcessEngines::RenewCertificates() {
  absl::MutexLock lock(&mutex_);
  for (Busy& busy : busy_) {
    if (busy.tls == nullptr) continue;
    const absl::StatusOr<security::TlsContents> contents =
        ReadTls(busy.tls.get());
    // Files that are just being replaced are checked again later.
    if (!contents.ok() || *contents == busy.sent) continue;
    EngineCommand command;
    *command.mutable_tls() = ToTlsMaterial(*contents);
    if (busy.process->TrySend(command)) busy.sent = *contents;
  }
}

}  // namespace distbench::hosting
