// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures a disk, and derives the parameters of io.cost from that.

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/threads.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/bench/block_devices/io_cost.h"
#include "distbench/products/bench/block_devices/io_phase.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/bench/kinds/values.h"

namespace distbench::bench {
namespace {

constexpr char kPercentile[] = "percentile";
constexpr double kMaxPercentile = 99.99;

// As many as the queue of an NVMe disk usually holds. Each takes a thread and a
// block of memory.
constexpr int kMaxDepth = 1024;

IoCostMeasurementOptions OptionsOf(const PropertyValues& values) {
  IoCostMeasurementOptions options;
  options.queue_depth = values.Count("depth").value_or(options.queue_depth);
  options.warmup = values.Duration("warmup").value_or(options.warmup);
  options.runtime = values.Duration("runtime").value_or(options.runtime);
  return options;
}

absl::Status CheckOptions(const PropertyValues& values) {
  const IoCostMeasurementOptions options = OptionsOf(values);
  if (values.Size("size").value_or(0) < options.bandwidth_block_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("size=", values.Text("size"), " is less than a block of ",
                     options.bandwidth_block_bytes,
                     " bytes; use a larger "
                     "file, at best one larger than the disk's cache"));
  }
  if (values.Number(kPercentile).value_or(0) > kMaxPercentile) {
    return absl::InvalidArgumentError(
        absl::StrCat(kPercentile, "=", values.Text(kPercentile),
                     " is too much; use at most ", kMaxPercentile));
  }
  return absl::OkStatus();
}

absl::Status CheckThreads(int depth, const base::ThreadRoom& room) {
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("depth=", depth, " is too much; use at most ", kMaxDepth));
  }
  if (depth <= room.left) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("depth=", depth, " needs as many threads, but ", room.limit,
                   "; raise that limit, or use a smaller depth="));
}

absl::Status Measure(const JobRun& run) {
  const IoCostMeasurementOptions options = OptionsOf(run.values);
  Cancellation& cancellation = *run.environment.cancellation;
  const auto is_cancelled = [&] { return cancellation.is_cancelled(); };
  run.environment.say(
      absl::StrCat("Writing a scratch file in ", run.values.Text("dir")));
  absl::StatusOr<std::unique_ptr<ScratchFile>> file =
      ScratchFile::Create({.folder = run.values.Text("dir"),
                           .size_bytes = *run.values.Size("size"),
                           .largest_block_bytes = options.bandwidth_block_bytes,
                           .threads = options.queue_depth,
                           .is_cancelled = is_cancelled});
  if (!file.ok()) return file.status();
  const IoTarget target = {
      .size_bytes = (*file)->size_bytes(),
      .run =
          [&](const IoOperation& operation) { return (*file)->Run(operation); },
      .is_cancelled = is_cancelled};
  return MeasureIoCost(
      options,
      [&](const IoPhase& phase) {
        run.environment.say(absl::StrCat("  phase ", phase.name));
        return RunIoPhase(phase, target);
      },
      [&](const IoPhaseRecord&) { return run.save(); },
      *run.job.mutable_io_phases());
}

// What limited the disk from outside while it was measured.
void AddLimits(const BlockDeviceFacts& device, BenchJob& job) {
  if (device.io_cost().enable()) {
    job.add_missed_requirements(absl::StrCat(
        "io.cost is on for ", device.name(), ", and may have limited it"));
  }
  for (const std::string& controller : device.other_controllers()) {
    job.add_missed_requirements(absl::StrCat(controller, " is set for ",
                                             device.name(),
                                             ", and may have limited it"));
  }
}

class IoCostParams final : public JobKind {
 public:
  const JobDeclaration& declaration() const override {
    static const auto& declaration = *new JobDeclaration{
        "iocost-params",
        "Measures this host's disk, for io.cost.model and io.cost.qos",
        {{"dir", PropertyType::kText,
          "Folder on the disk, for a scratch file without a name", "/var/tmp"},
         {"size", PropertyType::kSize, "Size of the scratch file", "1GiB"},
         {"runtime", PropertyType::kDuration, "Measured time of each phase",
          "10s"},
         {"warmup", PropertyType::kDuration, "Time before that", "2s"},
         {"depth", PropertyType::kCount,
          "Operations in flight, a thread for each", "64"},
         {kPercentile, PropertyType::kNumber, "Of the latency targets", "95"}}};
    return declaration;
  }

  absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const override {
    if (absl::Status status = CheckOptions(values); !status.ok()) return status;
    absl::Status threads =
        CheckThreads(OptionsOf(values).queue_depth,
                     base::ReadThreadRoom(environment.host_root));
    if (!threads.ok()) return threads;
    const absl::StatusOr<std::string> disk =
        DiskOfFile(values.Text("dir"), environment.host_root);
    if (!disk.ok()) return disk.status();
    return TestSequence();
  }

  bool StartsAnew() const override { return false; }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<std::string> disk =
        DiskOfFile(run.values.Text("dir"), run.environment.host_root);
    if (!disk.ok()) return disk.status();
    const absl::Status described =
        DescribeDisk(*disk, run.environment.host_root, run.job);
    if (!described.ok()) return described;
    run.job.clear_parameters();
    BenchValues& parameters = *run.job.mutable_parameters();
    AddNumber("size", *run.values.Size("size"), parameters, "bytes");
    AddNumber("depth", *run.values.Count("depth"), parameters);
    AddNumber(kPercentile, *run.values.Number(kPercentile), parameters);
    return Measure(run);
  }

  absl::Status Study(BenchJob& job) const override {
    absl::StatusOr<IoCostModel> model = ModelFrom(job.io_phases());
    if (!model.ok()) return model.status();
    absl::StatusOr<IoCostQos> qos =
        QosFrom(job.io_phases(),
                FindNumber(job.parameters(), kPercentile).value_or(95));
    if (!qos.ok()) return qos.status();
    if (job.systems().empty() || job.systems(0).devices().empty()) {
      return absl::InvalidArgumentError("the device is not recorded");
    }
    job.clear_missed_requirements();
    AddStorageRequirements(job);
    AddLimits(job.systems(0).devices(0), job);
    for (std::string& phase : CpuBoundPhases(job.io_phases())) {
      job.add_missed_requirements(std::move(phase));
    }
    IoCostSettings settings;
    settings.set_device(job.systems(0).devices(0).number());
    *settings.mutable_model() = *std::move(model);
    *settings.mutable_qos() = *std::move(qos);
    job.clear_outcome();
    AddIoCost(settings, *job.mutable_outcome());
    job.set_exit_code(0);
    return absl::OkStatus();
  }

  std::string ResultText(const BenchJob& job) const override {
    const IoCostSettings settings = IoCostFrom(job.outcome());
    return IoCostText(settings.model(), settings.qos(), "");
  }
};

}  // namespace

const JobKind& IoCostParamsKind() {
  static const IoCostParams& kind = *new IoCostParams();
  return kind;
}

}  // namespace distbench::bench
