#ifndef DISTBENCH_CONFIG_SYNTAX_MULTI_SERVER_CHANNELS_H_
#define DISTBENCH_CONFIG_SYNTAX_MULTI_SERVER_CHANNELS_H_

#include <vector>

#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The instances of the service that the channel reaches, ascending: the
// selected ones and those that match its constraints. Selected instances
// outside the grid are ignored.
std::vector<int> MembersOf(const MultiServerChannel& channel, const Grid& grid);

// Same, with the attributes of each instance of the service, by number.
std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const std::vector<Attributes>& instances);

// Whether the members depend on where instances run, because a constraint uses
// an attribute that instances do not have by themselves.
bool DependsOnPlacement(const MultiServerChannel& channel, const Grid& grid);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_MULTI_SERVER_CHANNELS_H_
