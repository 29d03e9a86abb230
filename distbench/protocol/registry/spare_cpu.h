#ifndef DISTBENCH_PROTOCOL_REGISTRY_SPARE_CPU_H_
#define DISTBENCH_PROTOCOL_REGISTRY_SPARE_CPU_H_

#include "distbench/config/plan/driver_options.h"

namespace distbench {

// How long an idle worker polls before it sleeps where it has a CPU to itself
// and the options do not say: what being woken costs on a virtual machine, so
// that polling costs twice as much as sleeping at worst.
inline constexpr int kSpareCpuSpinUs = 50;

// The options with a number for `spin_us` where it is kSpinByCpus: what the
// other side of the settings says, or else kSpareCpuSpinUs on a host with CPUs
// to spare and 0 (it is missing then) on others.
DriverOptions WithSpinning(DriverOptions options, bool has_spare_cpu);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_REGISTRY_SPARE_CPU_H_
