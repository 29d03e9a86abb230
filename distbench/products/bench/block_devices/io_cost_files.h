// io.cost.model and io.cost.qos, in the kernel's text form.

#ifndef DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_COST_FILES_H_
#define DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_COST_FILES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/experiment.pb.h"

namespace distbench::bench {

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

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_COST_FILES_H_
