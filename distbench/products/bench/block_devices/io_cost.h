// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// io.cost of a disk: its parameters in the kernel's text form, and their
// derivation from measurements.

#ifndef DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_COST_H_
#define DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_COST_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/products/bench/block_devices/io_phase.h"
#include "proto/bench.pb.h"
#include "proto/experiment.pb.h"

namespace distbench::bench {

// io.cost.model and io.cost.qos, in the kernel's text form.

// Parses the settings behind a device number, such as "enable=1 ctrl=user
// rpct=95.00 ...". What is missing or no number is left out.
IoCostModel ParseIoCostModel(absl::string_view settings);
IoCostQos ParseIoCostQos(absl::string_view settings);

// The settings of a device, read from the root of the hierarchy; absent if the
// kernel has none for it.
std::optional<IoCostSettings> ReadIoCost(const std::string& number,
                                         const std::string& hierarchy);

// "rbps=1348822120 rseqiops=235687 rrandiops=218614" and the same of writes.
std::string ReadModelText(const IoCostModel& model);
std::string WriteModelText(const IoCostModel& model);

// "rpct=95.00 rlat=19562 wpct=95.00 wlat=65667 min=60.00 max=100.00".
std::string QosText(const IoCostQos& qos);

// "iocost model: ..." and "iocost QoS: ...": three lines with line ends, each
// after `indent`.
std::string IoCostText(const IoCostModel& model, const IoCostQos& qos,
                       absl::string_view indent);

// Derives io.cost's parameters of a disk from measurements of it.
//
// The model's six numbers are those that the kernel documents: bytes per second
// of large sequential reads and writes, and operations of 4 KiB per second,
// sequential and random.
//
// QoS: a mixed phase then reads and writes 4 KiB blocks at random, each at half
// of the rate that the model says is possible, which together should just use
// the device fully. The latency targets are percentiles in this phase: when the
// kernel sees more, the device does worse than its model. `min`, the lowest
// share of the model's rates to which the kernel may slow down, is the share of
// the asked operations that the device did in this phase; `max` is 100 %.

struct IoCostMeasurementOptions {
  int64_t bandwidth_block_bytes = int64_t{1} << 20;
  int queue_depth = 64;
  absl::Duration warmup = absl::Seconds(2);  // of each phase
  absl::Duration runtime = absl::Seconds(10);
};

using IoPhaseRecords = google::protobuf::RepeatedPtrField<IoPhaseRecord>;

// The kernel's definition of an operation.
inline constexpr int64_t kIoCostBlockBytes = 4096;

// The phases that the model needs, which are named after its numbers.
std::vector<IoPhase> CapacityPhases(const IoCostMeasurementOptions& options);

// The phase that the QoS parameters need, called "mixed".
IoPhase MixedPhase(const IoCostModel& model,
                   const IoCostMeasurementOptions& options);

// From the records of these phases. INVALID_ARGUMENT if one is missing, invalid
// or has counted nothing. `percentile` is between 0 and 100.
absl::StatusOr<IoCostModel> ModelFrom(const IoPhaseRecords& records);
absl::StatusOr<IoCostQos> QosFrom(const IoPhaseRecords& records,
                                  double percentile);

// Says which phases measured the CPUs of the host and not the device, because
// the measurement itself took nearly all of their time; one sentence each.
std::vector<std::string> CpuBoundPhases(const IoPhaseRecords& records);

// Runs a phase, as RunIoPhase() does.
using IoPhaseRunner =
    std::function<absl::StatusOr<IoPhaseRecord>(const IoPhase& phase)>;

// Runs those phases that `records` lacks, and adds their records. Calls
// `observe` after each; its error ends the measurement.
absl::Status MeasureIoCost(
    const IoCostMeasurementOptions& options, const IoPhaseRunner& run,
    const std::function<absl::Status(const IoPhaseRecord&)>& observe,
    IoPhaseRecords& records);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_COST_H_
