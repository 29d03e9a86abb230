// Actions of main lists, which start a test's traffic.

#ifndef DISTBENCH_CONFIG_SYNTAX_MAIN_ACTIONS_H_
#define DISTBENCH_CONFIG_SYNTAX_MAIN_ACTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "proto/traffic_config.pb.h"

namespace distbench {

// Maps each action of a main list to the number of instances that run it.
// Requires a canonical test; undefined names are harmless.
std::map<std::string, int64_t> MainActions(
    const DistributedSystemDescription& test);

// Whether the action is an open loop or a closed loop, respectively.
bool IsOpenLoop(const Action& action);
bool IsClosedLoop(const Action& action);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SYNTAX_MAIN_ACTIONS_H_
