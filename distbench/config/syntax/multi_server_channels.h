#ifndef DISTBENCH_CONFIG_SYNTAX_MULTI_SERVER_CHANNELS_H_
#define DISTBENCH_CONFIG_SYNTAX_MULTI_SERVER_CHANNELS_H_

#include <vector>

#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The instances of the service that the channel reaches, ascending: those that
// it selects and those that match its constraints. Selected instances outside
// the grid are left out.
std::vector<int> MembersOf(const MultiServerChannel& channel, const Grid& grid);

// Likewise, with the attributes of each instance of the service, by number.
std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const std::vector<Attributes>& instances);

// Whether it depends on where instances run which of them are members: some
// constraint is about an attribute that instances do not have of themselves.
bool DependsOnPlacement(const MultiServerChannel& channel, const Grid& grid);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SYNTAX_MULTI_SERVER_CHANNELS_H_
