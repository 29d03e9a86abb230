// What starts a test's traffic.

#ifndef DISTBENCH_CONFIG_SYNTAX_MAIN_ACTIONS_H_
#define DISTBENCH_CONFIG_SYNTAX_MAIN_ACTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "proto/traffic_config.pb.h"

namespace distbench {

// Names of the actions of main lists, with how many instances run each.
// `test`: canonical; names that stand for nothing do no harm.
std::map<std::string, int64_t> MainActions(
    const DistributedSystemDescription& test);

// Whether the action is an open loop, and whether it is a closed one.
bool IsOpenLoop(const Action& action);
bool IsClosedLoop(const Action& action);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SYNTAX_MAIN_ACTIONS_H_
