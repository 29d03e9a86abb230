#ifndef DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_
#define DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_

#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Adds a problem for everything that is wrong with the message, which is at
// `path`, except for quantities whose text is wrong: these are left alone. A
// message without problems and such texts can be compiled.
void CheckArrivals(const Arrivals& arrivals, const Path& path,
                   Problems& problems);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_
