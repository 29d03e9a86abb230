// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/block_devices/io_phase.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::bench {
namespace {

// When the operations of one kind are due.
class Schedule {
 public:
  Schedule(double rate, int64_t start_ns)
      : interval_ns_(rate > 0 ? 1e9 / rate : 0),
        is_used_(rate != 0),
        start_ns_(start_ns) {}

  bool is_used() const { return is_used_; }

  // Of the next operation; one without a rate is always due.
  int64_t due_ns() const {
    return start_ns_ + static_cast<int64_t>(interval_ns_ * count_);
  }
  void Advance() { ++count_; }

 private:
  const double interval_ns_;
  const bool is_used_;
  const int64_t start_ns_;
  double count_ = 0;
};

struct PlannedOperation {
  int64_t due_ns = 0;
  bool is_write = false;
  int64_t offset = 0;
};

// Gives the threads of a phase their operations.
class Plan {
 public:
  Plan(const IoPhase& phase, int64_t block_count, int64_t start_ns)
      : phase_(phase),
        block_count_(block_count),
        reads_(phase.read_rate, start_ns),
        writes_(phase.write_rate, start_ns) {}

  PlannedOperation Next() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const bool is_write =
        writes_.is_used() &&
        (!reads_.is_used() || writes_.due_ns() < reads_.due_ns());
    Schedule& schedule = is_write ? writes_ : reads_;
    const PlannedOperation next = {schedule.due_ns(), is_write,
                                   NextBlock() * phase_.block_bytes};
    schedule.Advance();
    return next;
  }

 private:
  int64_t NextBlock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!phase_.is_random) return block_++ % block_count_;
    return std::uniform_int_distribution<int64_t>(0, block_count_ - 1)(random_);
  }

  const IoPhase& phase_;
  const int64_t block_count_;
  absl::Mutex mutex_;
  Schedule reads_ ABSL_GUARDED_BY(mutex_);
  Schedule writes_ ABSL_GUARDED_BY(mutex_);
  int64_t block_ ABSL_GUARDED_BY(mutex_) = 0;

  // The same offsets in each run of a phase.
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
};

struct Measurements {
  stats::LogHistogram read_ns;
  stats::LogHistogram write_ns;
  absl::Status status;
};

class PhaseRun {
 public:
  PhaseRun(const IoPhase& phase, const IoTarget& target)
      : phase_(phase),
        target_(target),
        start_ns_(target.clock->MonotonicNs()),
        measured_from_ns_(start_ns_ + absl::ToInt64Nanoseconds(phase.warmup)),
        end_ns_(measured_from_ns_ + absl::ToInt64Nanoseconds(phase.duration)),
        plan_(phase, target.size_bytes / phase.block_bytes, start_ns_) {}

  absl::StatusOr<IoPhaseRecord> Run() {
    const double cpu_before = base::ProcessCpuSeconds();
    std::vector<Measurements> measured(phase_.queue_depth);
    std::vector<std::thread> threads;
    for (int i = 1; i < phase_.queue_depth; ++i) {
      threads.emplace_back([this, i, &measured] { RunThread(i, measured[i]); });
    }
    RunThread(0, measured[0]);
    for (std::thread& thread : threads) thread.join();
    for (const Measurements& part : measured) {
      if (!part.status.ok()) return part.status;
    }
    if (target_.is_cancelled && target_.is_cancelled()) {
      return absl::CancelledError("cancelled");
    }
    return Record(measured, base::ProcessCpuSeconds() - cpu_before);
  }

 private:
  void RunThread(int thread, Measurements& measured) {
    while (!(target_.is_cancelled && target_.is_cancelled())) {
      const PlannedOperation next = plan_.Next();
      if (next.due_ns >= end_ns_) return;
      int64_t now_ns = target_.clock->MonotonicNs();
      if (next.due_ns > now_ns) {
        target_.sleep(next.due_ns);
        now_ns = target_.clock->MonotonicNs();
      }
      if (now_ns >= end_ns_) return;
      measured.status =
          target_.run({thread, next.is_write, next.offset, phase_.block_bytes});
      if (!measured.status.ok()) return;
      const int64_t ended_ns = target_.clock->MonotonicNs();
      if (ended_ns < measured_from_ns_ || ended_ns >= end_ns_) continue;
      (next.is_write ? measured.write_ns : measured.read_ns)
          .Record(ended_ns - now_ns);
    }
  }

  IoPhaseRecord Record(const std::vector<Measurements>& measured,
                       double cpu_seconds) const {
    stats::LogHistogram read_ns;
    stats::LogHistogram write_ns;
    for (const Measurements& part : measured) {
      read_ns.Merge(part.read_ns);
      write_ns.Merge(part.write_ns);
    }
    IoPhaseRecord record;
    record.set_name(phase_.name);
    record.set_block_bytes(phase_.block_bytes);
    record.set_is_random(phase_.is_random);
    record.set_queue_depth(phase_.queue_depth);
    if (phase_.read_rate > 0) record.set_wanted_read_rate(phase_.read_rate);
    if (phase_.write_rate > 0) record.set_wanted_write_rate(phase_.write_rate);
    record.set_duration_ns(end_ns_ - measured_from_ns_);
    results::EncodeHistogram(read_ns, *record.mutable_read_ns());
    results::EncodeHistogram(write_ns, *record.mutable_write_ns());
    // The warm-up loads the CPUs as the measurement does.
    record.set_cpu_ns(
        static_cast<int64_t>(cpu_seconds * 1e9 * (end_ns_ - measured_from_ns_) /
                             std::max<int64_t>(end_ns_ - start_ns_, 1)));
    record.set_cpu_count(
        static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    return record;
  }

  const IoPhase& phase_;
  const IoTarget& target_;
  const int64_t start_ns_;
  const int64_t measured_from_ns_;
  const int64_t end_ns_;
  Plan plan_;
};

}  // namespace

void SleepUntil(int64_t until_ns) {
  timespec until;
  until.tv_sec = until_ns / base::kNsPerSecond;
  until.tv_nsec = until_ns % base::kNsPerSecond;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) ==
         EINTR) {
  }
}

absl::StatusOr<IoPhaseRecord> RunIoPhase(const IoPhase& phase,
                                         const IoTarget& target) {
  if (target.size_bytes < phase.block_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a scratch file of ", target.size_bytes,
                     " bytes is smaller than a block of ", phase.block_bytes));
  }
  return PhaseRun(phase, target).Run();
}

namespace {

constexpr size_t kAlignment = 4096;  // at least that of any disk
constexpr mode_t kOwnerOnly = 0600;

absl::StatusOr<base::FileDescriptor> OpenUnnamed(const std::string& folder) {
  base::FileDescriptor file(open(
      folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, kOwnerOnly));
  if (file.get() >= 0) return file;
  if (errno == EINVAL || errno == EOPNOTSUPP) {
    return absl::FailedPreconditionError(
        absl::StrCat("the file system of ", folder,
                     " has no direct I/O or no unnamed files, "
                     "as those in memory; name a folder on a disk by dir="));
  }
  return absl::ErrnoToStatus(errno,
                             absl::StrCat("cannot make a file in ", folder));
}

absl::Status CheckSpace(int fd, const ScratchFile::Options& options) {
  struct statvfs space;
  if (fstatvfs(fd, &space) != 0) return absl::OkStatus();  // found when writing
  const double available = static_cast<double>(space.f_bavail) * space.f_frsize;
  if (available >= static_cast<double>(options.size_bytes)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      options.folder, " has ", static_cast<int64_t>(available),
      " bytes left, and the scratch file needs ", options.size_bytes,
      "; choose another folder by dir= or a smaller file by size="));
}

void FillRandomly(char* bytes, size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes + i, &word, sizeof(word));
  }
}

}  // namespace

void ScratchFile::Free::operator()(char* memory) const { std::free(memory); }

absl::StatusOr<std::unique_ptr<ScratchFile>> ScratchFile::Create(
    const Options& options) {
  absl::StatusOr<base::FileDescriptor> file = OpenUnnamed(options.folder);
  if (!file.ok()) return file.status();
  if (absl::Status space = CheckSpace(file->get(), options); !space.ok()) {
    return space;
  }
  auto scratch =
      absl::WrapUnique(new ScratchFile(*std::move(file), options.folder));
  for (int i = 0; i < options.threads; ++i) {
    char* memory = static_cast<char*>(
        std::aligned_alloc(kAlignment, options.largest_block_bytes));
    if (memory == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no memory for ", options.threads, " blocks of ",
          options.largest_block_bytes, " bytes; use a smaller depth="));
    }
    FillRandomly(memory, options.largest_block_bytes, i);
    scratch->buffers_.emplace_back(memory);
  }
  if (absl::Status filled = scratch->Fill(options); !filled.ok()) return filled;
  return scratch;
}

absl::Status ScratchFile::Fill(const Options& options) {
  const int64_t block = options.largest_block_bytes;
  for (int64_t offset = 0; offset + block <= options.size_bytes;
       offset += block) {
    if (options.is_cancelled && options.is_cancelled()) {
      return absl::CancelledError("cancelled");
    }
    // Every block differs: some devices store equal ones once.
    FillRandomly(buffers_[0].get(), block, offset + options.threads);
    if (absl::Status status = Run({0, true, offset, block}); !status.ok()) {
      return status;
    }
    size_bytes_ = offset + block;
  }
  if (fdatasync(file_.get()) != 0) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("cannot write in ", folder_));
  }
  return absl::OkStatus();
}

absl::Status ScratchFile::Run(const IoOperation& operation) {
  char* const buffer = buffers_[operation.thread].get();
  const ssize_t count =
      operation.is_write
          ? pwrite(file_.get(), buffer, operation.bytes, operation.offset)
          : pread(file_.get(), buffer, operation.bytes, operation.offset);
  if (count == operation.bytes) return absl::OkStatus();
  const absl::string_view what =
      operation.is_write ? "cannot write to" : "cannot read from";
  const std::string place = absl::StrCat(what, " the scratch file in ", folder_,
                                         " at ", operation.offset);
  if (count < 0) return absl::ErrnoToStatus(errno, place);
  return absl::DataLossError(absl::StrCat(
      place, ": ", count, " of ", operation.bytes, " bytes were transferred"));
}

}  // namespace distbench::bench
