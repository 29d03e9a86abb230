// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_server.h"

#include <glog/logging.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/base/memory.h"
#include "distbench/base/queues.h"
#include "distbench/base/silence_watch.h"
#include "distbench/base/threads.h"
#include "distbench/base/version.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/reading/unknown_fields.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/results/resource_usage.h"
#include "distbench/results/time_series.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_files.h"
#include "distbench/stats/interval_series.h"

namespace distbench::hosting {
namespace {

// Results are sent in pieces of about this size.
constexpr size_t kPieceBytes = 256 << 10;

[[noreturn]] void EndOfSilence() {
  LOG(ERROR) << "the node manager has said nothing for "
             << absl::FormatDuration(kNodeManagerSilence)
             << "; this engine process ends";
  _exit(EXIT_FAILURE);
}

// The hard limit is unchanged: if it is lower, that is an error.
absl::Status LimitFiles(int64_t max_files) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = static_cast<rlim_t>(max_files);
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot limit the process to ",
                                                 max_files, " open files"));
}

// Whether this program, which is not of the node manager's build, can host an
// instance of the test.
absl::Status CheckTest(const DistributedSystemDescription& test) {
  if (const std::string unknown = config::FirstUnknownField(test);
      !unknown.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this engine is distbench ", base::ProgramVersion(),
        ", which does not know ", unknown,
        " of the test; build it from newer sources, or leave that out"));
  }
  TestSequence sequence;
  *sequence.add_tests() = test;
  const absl::Status status =
      config::CheckTestSequence(std::move(sequence)).status();
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("this engine cannot host the test: ", status.message()));
}

// An engine, from its creation to the end of the process.
struct ServedEngine {
  explicit ServedEngine(int64_t clock_offset_ns)
      : clock(base::RealClock(), clock_offset_ns) {}

  const base::ShiftedClock clock;
  std::optional<numa::ResolvedBinding> binding;
  std::unique_ptr<HostedEngine> hosted;

  // The main list has ended, which was not reported yet.
  std::atomic<bool> has_finished = false;

  // Recent measurements are taken and sent by one thread at a time.
  absl::Mutex report_mutex;
};

// Commands arrive on the thread that calls Run(). Those that may take long
// ("steps") are run in order by another thread; the others run at once.
class EngineServer {
 public:
  EngineServer(base::FileDescriptor socket, EngineFactory& engines)
      : factory_(engines), socket_(std::move(socket)) {}

  // Throws if a thread cannot be started.
  void Run() {
    base::SilenceWatch watch(absl::InfiniteDuration(), EndOfSilence);
    std::thread steps([this] {
      steps_.RunUntilClosed([] { return absl::InfiniteDuration(); }, [] {});
    });
    for (EngineCommand command; socket_.Receive(command); command.Clear()) {
      watch.Hear();
      if (command.has_ask_progress() && !watches_) {
        watches_ = true;
        watch.SetTimeout(kNodeManagerSilence);
      }
      Handle(std::move(command));
    }
    watch.SetTimeout(absl::InfiniteDuration());
    for (const auto& [number, engine] : All()) {
      engine->hosted->Stop("the node manager has ended");
    }
    OnEnd();
    steps_.Close();
    steps.join();
  }

 private:
  using EnginePointer = std::shared_ptr<ServedEngine>;

  void Handle(EngineCommand command) {
    switch (command.command_case()) {
      case EngineCommand::kAskProgress:
        return ReportProgress();
      case EngineCommand::kTls:
        return UpdateTls(command.tls());
      case EngineCommand::kStop: {
        const EnginePointer engine = Find(command.engine());
        if (engine != nullptr) engine->hosted->Stop(command.stop().reason());
        return;
      }
      case EngineCommand::kCollect:
        if (AllowPiece()) return;
        break;
      default:
        break;
    }
    steps_.Push([this, command = std::move(command)] { Execute(command); });
  }

  // ---- Reader ---------------------------------------------------------------

  void ReportProgress() {
    // Sent so that the node manager hears something even without engines.
    socket_.Send(EngineReport());
    for (const auto& [number, engine] : All()) {
      SendProgress(number, *engine, &EngineReport::mutable_progress);
    }
  }

  void UpdateTls(const TlsMaterial& tls) {
    absl::MutexLock lock(&mutex_);
    const absl::Status status = tls_files_.Update(FromTlsMaterial(tls));
    LOG_IF(ERROR, !status.ok()) << "renewed certificates are lost: " << status;
  }

  // Whether the command to collect belongs to the collection that is in
  // progress.
  bool AllowPiece() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (!is_collecting_) {
      is_collecting_ = true;
      return false;
    }
    is_piece_wanted_ = true;
    return true;
  }

  void OnEnd() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_over_ = true;
  }

  // ---- Steps ----------------------------------------------------------------

  void Execute(const EngineCommand& command) {
    const int number = command.engine();
    EngineReport report;
    report.set_engine(number);
    if (command.has_make()) {
      *report.mutable_made() = Make(number, command.make());
      socket_.Send(report);
      return;
    }
    const EnginePointer engine = Find(number);
    // Cannot happen with a node manager that knows only engines that were made.
    if (engine == nullptr) return;
    switch (command.command_case()) {
      case EngineCommand::kConnect:
        *report.mutable_connected() =
            ToCommandStatus(Connect(*engine, command.connect()));
        break;
      case EngineCommand::kStart:
        engine->hosted->Start(command.start().start_ns());
        report.mutable_started();
        break;
      case EngineCommand::kShutDown:
        engine->hosted->Shutdown();
        ReportEnd(number, *engine);
        report.mutable_shut_down();
        break;
      case EngineCommand::kCollect:
        Collect(number, *engine, *report.mutable_results());
        break;
      default:
        return;
    }
    socket_.Send(report);
  }

  EngineMade Make(int number, const MakeEngine& request) {
    EngineMade made;
    auto engine = std::make_shared<ServedEngine>(request.clock_offset_ns());
    const absl::Status status = MakeHosted(number, request, *engine);
    *made.mutable_status() = ToCommandStatus(status);
    if (!status.ok()) return made;
    made.set_address(engine->hosted->address());
    for (int peer : engine->hosted->peers()) made.add_peers(peer);
    absl::MutexLock lock(&mutex_);
    engines_[number] = std::move(engine);
    return made;
  }

  absl::Status MakeHosted(int number, const MakeEngine& request,
                          ServedEngine& engine) {
    if (request.check_test()) {
      if (absl::Status status = CheckTest(request.test()); !status.ok()) {
        return status;
      }
    }
    if (request.has_binding()) {
      auto binding = FromEngineBinding(request.binding());
      if (!binding.ok()) return binding.status();
      engine.binding = *std::move(binding);
    }
    auto bound = Bind(engine);
    if (!bound.ok()) return bound.status();
    auto tls = LoadTls(request);
    if (!tls.ok()) return tls.status();
    // Engines that share a process belong to one test.
    if (plan_ == nullptr) {
      usage_at_start_ = results::ProcessUsage();
      plan_ =
          std::make_shared<const config::Plan>(config::Compile(request.test()));
    }
    engine::EngineOptions options;
    options.plan = plan_;
    options.instance = request.instance();
    options.worker_count = request.worker_count();
    options.clock = &engine.clock;
    options.sample_memory_bytes = request.sample_memory_bytes();
    // On a worker, which may still have to serve others.
    options.on_traffic_finished = [this, number, &engine] {
      engine.has_finished = true;
      steps_.Push([this, number, &engine] { ReportEnd(number, engine); });
    };
    options.on_overload = [this, number](const absl::Status& status) {
      EngineReport report;
      report.set_engine(number);
      *report.mutable_overload() = ToCommandStatus(status);
      socket_.Send(report);
    };
    auto hosted = factory_.Make(
        {.test = request.test(),
         .options = std::move(options),
         .environment = {.service_address = request.service_address(),
                         .listen_address = request.listen_address(),
                         .test_nonce = request.test_nonce(),
                         .tls = *std::move(tls),
                         .has_spare_cpu = request.has_spare_cpu()},
         .limits = {request.limits().begin(), request.limits().end()}});
    if (!hosted.ok()) return hosted.status();
    engine.hosted = *std::move(hosted);
    return absl::OkStatus();
  }

  absl::Status Connect(ServedEngine& engine, const ConnectEngine& request) {
    const auto bound = Bind(engine);
    if (!bound.ok()) return bound.status();
    return engine.hosted->Connect(
        {request.addresses().begin(), request.addresses().end()},
        absl::Now() + absl::Nanoseconds(request.timeout_ns()));
  }

  // Returns null if the engine has no binding.
  static absl::StatusOr<std::unique_ptr<numa::ScopedThreadBinding>> Bind(
      const ServedEngine& engine) {
    if (!engine.binding) return std::unique_ptr<numa::ScopedThreadBinding>();
    return numa::ScopedThreadBinding::Make(*engine.binding);
  }

  absl::StatusOr<std::shared_ptr<const security::TlsCredentials>> LoadTls(
      const MakeEngine& request) {
    if (!request.has_tls())
      return std::shared_ptr<const security::TlsCredentials>();
    absl::MutexLock lock(&mutex_);
    const absl::Status status =
        tls_files_.Update(FromTlsMaterial(request.tls()));
    if (!status.ok()) return status;
    return security::TlsCredentials::Load(tls_files_.files(),
                                          security::TlsRole::kNode);
  }

  // Reports the end of the main list if that has come.
  void ReportEnd(int number, ServedEngine& engine) {
    if (!engine.has_finished.exchange(false)) return;
    SendProgress(number, engine, &EngineReport::mutable_finished);
  }

  // Sends all pieces except the last, each when it is asked for.
  void Collect(int number, ServedEngine& engine, EngineResults& last) {
    EngineReport report;
    report.set_engine(number);
    size_t bytes = 0;
    const absl::Status status = engine.hosted->Collect([&](ResultChunk chunk) {
      bytes += chunk.ByteSizeLong();
      *report.mutable_results()->add_chunks() = std::move(chunk);
      if (bytes < kPieceBytes) return;
      socket_.Send(report);
      report.clear_results();
      bytes = 0;
      AwaitPiece();
    });
    LOG_IF(ERROR, !status.ok()) << status;
    last = std::move(*report.mutable_results());
    last.set_is_last(true);
    *last.mutable_usage() =
        results::UsageBetween(usage_at_start_, results::ProcessUsage())
            .rusage_diff();
    absl::MutexLock lock(&mutex_);
    is_collecting_ = false;
  }

  void AwaitPiece() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto may_go = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return is_piece_wanted_ || is_over_;
    };
    mutex_.Await(absl::Condition(&may_go));
    is_piece_wanted_ = false;
  }

  // ---- Both -----------------------------------------------------------------

  void SendProgress(int number, ServedEngine& engine,
                    EngineProgress* (EngineReport::*field)()) {
    stats::SeriesByRpc recent;
    EngineReport report;
    report.set_engine(number);
    absl::MutexLock lock(&engine.report_mutex);
    EngineProgress& progress = *(report.*field)();
    *progress.mutable_totals() = engine.hosted->progress();
    engine.hosted->TakeRecent(recent);
    for (const auto& [rpc, series] : recent) {
      RpcTimeSeries& encoded = (*progress.mutable_recent())[rpc];
      results::EncodeTimeSeries({&series}, [&encoded](RpcTimeSeries piece) {
        encoded.MergeFrom(piece);
      });
    }
    socket_.Send(report);
  }

  EnginePointer Find(int number) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto found = engines_.find(number);
    return found == engines_.end() ? nullptr : found->second;
  }

  absl::flat_hash_map<int, EnginePointer> All() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return engines_;
  }

  EngineFactory& factory_;
  MessageSocket socket_;
  base::CommandQueue steps_;  // engines use it to their end
  bool watches_ = false;      // used by the reader

  // Used by the steps.
  std::shared_ptr<const config::Plan> plan_;
  RUsage usage_at_start_;

  absl::Mutex mutex_;
  security::TlsFilesInMemory tls_files_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int, EnginePointer> engines_ ABSL_GUARDED_BY(mutex_);
  bool is_collecting_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_piece_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::Status ServeEngines(base::FileDescriptor socket, EngineFactory& engines) {
  try {
    EngineServer(std::move(socket), engines).Run();
  } catch (const std::system_error& error) {  // from starting its threads
    return base::NoThreadError("the commands of its node manager", error);
  }
  return absl::OkStatus();
}

absl::Status SetUpEngineProcess(int64_t max_files) {
  // The node manager has asked for the same, but the kernel forgets it when it
  // executes a program with capabilities of its own. SIGKILL also ends a
  // process that was stopped.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // For ps(1) and top(1): a program started through /proc/self/exe would be
  // called "exe".
  prctl(PR_SET_NAME, "engine");
  // The process serves one test, and frees everything when it ends.
  base::KeepFreedMemory();
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) signal(each, SIG_IGN);
  return max_files > 0 ? LimitFiles(max_files) : absl::OkStatus();
}

}  // namespace distbench::hosting
