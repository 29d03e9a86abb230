#include "distbench/hosting/process_engines.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/hosting/kept_measurements.h"
#include "distbench/results/time_series.h"

namespace distbench {
namespace {

// How often certificate files are checked for changes.
constexpr absl::Duration kRenewalInterval =
    absl::Seconds(TlsCredentials::kReloadSeconds);

// How many beats a process may take to end by itself.
constexpr int kMaxEndBeats = 4;

// Whether instances of a service can be reached only from within their own
// process.
bool StaysInProcess(const EngineRequest& request) {
  const Plan& plan = *request.options.plan;
  const InstancePlan& instance = plan.instances[request.options.instance];
  const DriverOptions* driver = &plan.services[instance.service].driver;
  while (!driver->decorated.empty()) driver = &driver->decorated.front();
  const DriverDeclaration* declaration = FindDriver(driver->driver);
  return declaration != nullptr && declaration->stays_in_process;
}

TlsMaterial ToTlsMaterial(const TlsContents& contents) {
  TlsMaterial tls;
  tls.set_ca(contents.ca);
  tls.set_cert(contents.cert);
  tls.set_key(contents.key);
  return tls;
}

absl::StatusOr<TlsContents> ReadTls(const TlsCredentials* tls) {
  if (tls == nullptr) return TlsContents();
  return ReadTlsContents(tls->files());
}

MakeEngine ToMakeEngine(const EngineRequest& request, const TlsContents& tls) {
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
  if (request.binding)
    *make.mutable_binding() = ToEngineBinding(*request.binding);
  return make;
}

}  // namespace

// ---- An engine --------------------------------------------------------------

class ProcessEngine final : public HostedEngine, private EngineListener {
 public:
  ProcessEngine(EngineOptions options, std::shared_ptr<EngineProcess> process,
                ProcessEngines& owner)
      : options_(std::move(options)),
        process_(std::move(process)),
        owner_(owner),
        kept_(options_.plan->recording_memory_bytes),
        number_(process_->Add(*this)) {}

  ~ProcessEngine() override {
    process_->Forget(number_);
    owner_.GiveBack(process_);
  }

  absl::Status Make(MakeEngine request) {
    EngineCommand command;
    *command.mutable_make() = std::move(request);
    const absl::StatusOr<EngineReport> report = Call(std::move(command));
    if (!report.ok()) return report.status();
    const EngineMade& made = report->made();
    address_ = made.address();
    peers_.assign(made.peers().begin(), made.peers().end());
    absl::Status status = FromCommandStatus(made.status());
    absl::MutexLock lock(&mutex_);
    status.Update(loss_);
    is_made_ = status.ok();
    return status;
  }

  pid_t pid() const override { return process_->pid(); }
  const std::string& address() const override { return address_; }
  const std::vector<int>& peers() const override { return peers_; }

  absl::Status Connect(const std::vector<std::string>& addresses,
                       absl::Time deadline) override {
    EngineCommand command;
    ConnectEngine& connect = *command.mutable_connect();
    connect.mutable_addresses()->Assign(addresses.begin(), addresses.end());
    connect.set_timeout_ns(absl::ToInt64Nanoseconds(deadline - absl::Now()));
    const absl::StatusOr<EngineReport> report = Call(std::move(command));
    if (!report.ok()) return report.status();
    return FromCommandStatus(report->connected());
  }

  void Start(int64_t start_ns) override {
    {
      absl::MutexLock lock(&mutex_);
      is_started_ = true;
    }
    EngineCommand command;
    command.mutable_start()->set_start_ns(start_ns);
    // OnLost() may have come before the traffic could be reported as finished.
    if (!Call(std::move(command)).ok()) Finish();
  }

  void Stop(absl::string_view reason) override {
    EngineCommand command;
    command.set_engine(number_);
    command.mutable_stop()->set_reason(std::string(reason));
    process_->Send(command);
  }

  EngineProgress progress() const override {
    absl::MutexLock lock(&mutex_);
    return progress_;
  }

  void TakeRecent(SeriesByRpc& recent) override {
    SeriesByRpc taken;
    {
      absl::MutexLock lock(&mutex_);
      taken.swap(recent_);
    }
    for (const auto& [rpc, series] : taken) series.AddTo(recent[rpc]);
  }

  void Shutdown() override {
    EngineCommand command;
    command.mutable_shut_down();
    // A process that was lost has nothing left to shut down.
    (void)Call(std::move(command));
  }

  absl::Status Collect(
      absl::FunctionRef<void(ResultChunk chunk)> emit) override {
    bool has_results = false;
    for (;;) {
      EngineCommand command;
      command.mutable_collect();
      absl::StatusOr<EngineReport> report = Call(std::move(command));
      if (!report.ok()) {
        EmitLoss(report.status(), has_results, emit);
        return report.status();
      }
      EngineResults& results = *report->mutable_results();
      for (ResultChunk& chunk : *results.mutable_chunks()) {
        has_results = true;
        emit(std::move(chunk));
      }
      if (!results.is_last()) continue;
      usage_ = results.usage();
      return absl::OkStatus();
    }
  }

  std::optional<RUsage> process_usage() const override { return usage_; }

 private:
  // has_results: whether some of the engine's own results were emitted before.
  // The kept measurements would count these a second time.
  void EmitLoss(const absl::Status& loss, bool has_results,
                absl::FunctionRef<void(ResultChunk chunk)> emit) const {
    absl::MutexLock lock(&mutex_);
    const std::string& name = options_.plan->instances[options_.instance].name;
    ResultChunk chunk;
    chunk.set_instance(name);
    ServicePerformanceLog& log = *chunk.mutable_instance_log();
    log.set_engine_error_message(
        absl::StrCat(loss.message(), WhatIsLeft(has_results)));
    // An instance that calls nobody has no measurements to lose.
    if (!has_results && !peers_.empty()) {
      log.set_measurements_end_timestamp_ns(kept_.end_timestamp_ns());
      kept_.Emit(name, emit);
    }
    emit(std::move(chunk));
  }

  std::string WhatIsLeft(bool has_results) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    if (has_results) return "; what it had not yet handed over is lost";
    if (peers_.empty()) return "";
    if (kept_.end_timestamp_ns() == 0) return "; what it measured is lost";
    return absl::StrCat(
        "; what it measured until ",
        absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                         absl::FromUnixNanos(kept_.end_timestamp_ns()),
                         absl::UTCTimeZone()),
        " is kept, as series and totals of its RPCs, and the rest is lost");
  }

  absl::StatusOr<EngineReport> Call(EngineCommand command) {
    command.set_engine(number_);
    return process_->Call(command);
  }

  // EngineListener
  void OnProgress(const EngineTotals& totals) override { Take(totals); }

  void OnOverload(const absl::Status& status) override {
    options_.on_overload(status);
  }

  void OnFinished(const EngineTotals& totals) override {
    Take(totals);
    Finish();
  }

  // Until the engine is made, its loss is an error of Make().
  void OnLost(const absl::Status& status) override {
    {
      absl::MutexLock lock(&mutex_);
      loss_ = status;
      if (!is_made_) return;
    }
    options_.on_overload(status);
    Finish();
  }

  void Take(const EngineTotals& totals) {
    absl::MutexLock lock(&mutex_);
    progress_ = FromEngineTotals(totals);
    SeriesByRpc recent;
    for (const auto& [rpc, series] : totals.recent()) {
      const absl::Status status = AddTimeSeries(series, recent[rpc]);
      LOG_IF(ERROR, !status.ok()) << status;
    }
    kept_.Add(recent);
    for (const auto& [rpc, series] : recent) series.AddTo(recent_[rpc]);
  }

  // Reports the end of the traffic, once, and not before Start().
  void Finish() {
    {
      absl::MutexLock lock(&mutex_);
      if (!is_started_ || std::exchange(is_finished_, true)) return;
    }
    options_.on_traffic_finished();
  }

  const EngineOptions options_;
  const std::shared_ptr<EngineProcess> process_;
  ProcessEngines& owner_;
  std::string address_;
  std::vector<int> peers_;
  std::optional<RUsage> usage_;

  mutable absl::Mutex mutex_;
  EngineProgress progress_ ABSL_GUARDED_BY(mutex_);
  SeriesByRpc recent_ ABSL_GUARDED_BY(mutex_);
  KeptMeasurements kept_ ABSL_GUARDED_BY(mutex_);
  absl::Status loss_ ABSL_GUARDED_BY(mutex_);
  bool is_made_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_started_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;

  // From here on, the process's reader may call this object.
  const int number_;
};

// ---- The processes ----------------------------------------------------------

ProcessEngines::ProcessEngines(EngineLimits limits)
    : limits_(limits), keeper_([this] { Keep(); }) {}

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

void ProcessEngines::Expect(int count) {
  absl::MutexLock lock(&mutex_);
  if (count == 0) return KeepOneAhead();
  is_expecting_ = true;
  to_start_ = std::max(to_start_, count - IdleCount());
  keeper_wakeup_.Wake();
}

absl::StatusOr<std::unique_ptr<HostedEngine>> ProcessEngines::Make(
    EngineRequest request) {
  const absl::StatusOr<TlsContents> tls =
      ReadTls(request.environment.tls.get());
  if (!tls.ok()) return tls.status();
  const MakeEngine make = ToMakeEngine(request, *tls);
  bool was_idle = false;
  for (;;) {
    absl::StatusOr<ProcessPointer> process = Take(request, *tls, was_idle);
    if (!process.ok()) return process.status();
    auto engine =
        std::make_unique<ProcessEngine>(request.options, *process, *this);
    absl::Status status = engine->Make(make);
    if (status.ok()) return engine;
    // The loss of an idle process is no fault of the test.
    if (!was_idle || (*process)->is_alive()) return status;
  }
}

// The keeper buries what has ended, at its next beat.
void ProcessEngines::AwaitEnds(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(this, &ProcessEngines::HasNoEnding),
                          patience);
}

absl::StatusOr<ProcessEngines::ProcessPointer> ProcessEngines::Take(
    const EngineRequest& request, const TlsContents& tls, bool& was_idle) {
  const bool is_shared = StaysInProcess(request);
  ProcessPointer process;
  {
    absl::MutexLock lock(&mutex_);
    if (is_shared) process = TakeShared(*request.options.plan);
    // After a failed idle process, the next one is a new one.
    const bool may_be_idle = !request.binding && request.group < 0 && !was_idle;
    was_idle = false;
    if (process != nullptr) return process;
    if (may_be_idle) process = TakeIdle();
    was_idle = process != nullptr;
  }
  if (process == nullptr) {
    auto started = EngineProcess::Launch(EngineProcess::Start::kCold, limits_,
                                         request.group);
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

ProcessEngines::ProcessPointer ProcessEngines::TakeShared(const Plan& plan) {
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

// ---- Keeper -----------------------------------------------------------------

// Sleeps by the monotonic clock: after a step of the host's clock, beats must
// come neither faster nor slower.
void ProcessEngines::Keep() {
  int64_t next_beat_ns = 0;
  int64_t next_renewal_ns = 0;
  while (!IsOver()) {
    StartAhead();
    const int64_t now_ns = RealClock().MonotonicNs();
    if (now_ns >= next_beat_ns) {
      next_beat_ns =
          now_ns + absl::ToInt64Nanoseconds(EngineProcess::kBeatInterval);
      BeatAll();
      Bury();
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
    auto start = EngineProcess::Start::kWarm;
    {
      absl::MutexLock lock(&mutex_);
      if (to_start_ == 0) return;
      // There is no time to warm up processes that are needed at once.
      if (is_expecting_) start = EngineProcess::Start::kCold;
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
void ProcessEngines::Bury() {
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
    const absl::StatusOr<TlsContents> contents = ReadTls(busy.tls.get());
    // Files that are just being replaced are checked again later.
    if (!contents.ok() || *contents == busy.sent) continue;
    EngineCommand command;
    *command.mutable_tls() = ToTlsMaterial(*contents);
    if (busy.process->TrySend(command)) busy.sent = *contents;
  }
}

}  // namespace distbench
