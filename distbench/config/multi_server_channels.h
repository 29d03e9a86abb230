#ifndef DISTBENCH_CONFIG_MULTI_SERVER_CHANNELS_H_
#define DISTBENCH_CONFIG_MULTI_SERVER_CHANNELS_H_

#include <vector>

#include "distbench/config/instance_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The instances of the service that the channel reaches, ascending: those that
// it selects and those that match its constraints. Selected instances outside
// the grid are left out.
std::vector<int> MembersOf(const MultiServerChannel& channel, const Grid& grid);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_MULTI_SERVER_CHANNELS_H_
