#ifndef DISTBENCH_METRICS_PROCESS_METRICS_H_
#define DISTBENCH_METRICS_PROCESS_METRICS_H_

#include <prometheus/metric_family.h>

#include <vector>

namespace distbench {

// What Prometheus' own libraries say of each process (such as
// process_cpu_seconds_total), its threads and its sockets. What /proc does not
// tell is 0.
std::vector<prometheus::MetricFamily> ProcessMetrics();

}  // namespace distbench

#endif  // DISTBENCH_METRICS_PROCESS_METRICS_H_
