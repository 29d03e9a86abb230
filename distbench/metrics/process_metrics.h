#ifndef DISTBENCH_METRICS_PROCESS_METRICS_H_
#define DISTBENCH_METRICS_PROCESS_METRICS_H_

#include <prometheus/metric_family.h>

#include <vector>

namespace distbench {

// Returns the standard metrics of Prometheus' client libraries (such as
// process_cpu_seconds_total), threads and sockets of this process. A value that
// /proc does not give is 0.
std::vector<prometheus::MetricFamily> ProcessMetrics();

}  // namespace distbench

#endif  // DISTBENCH_METRICS_PROCESS_METRICS_H_
