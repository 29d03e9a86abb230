#ifndef DISTBENCH_CONFIG_LOAD_CONFIG_HASH_H_
#define DISTBENCH_CONFIG_LOAD_CONFIG_HASH_H_

#include <string>

#include "proto/traffic_config.pb.h"

namespace distbench {

// Of a canonical test: 16 hexadecimal digits, equal for tests that ask for the
// same. The seed is no part of it, as runs of one test have different ones.
std::string ConfigHash(DistributedSystemDescription test);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_LOAD_CONFIG_HASH_H_
