#ifndef DISTBENCH_CONFIG_LOAD_CONFIG_HASH_H_
#define DISTBENCH_CONFIG_LOAD_CONFIG_HASH_H_

#include <string>

#include "proto/traffic_config.pb.h"

namespace distbench {

// Hashes a canonical test into 16 hexadecimal digits, which are equal for
// equivalent tests. The seed is not included, because runs of one test have
// different seeds.
std::string ConfigHash(DistributedSystemDescription test);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_LOAD_CONFIG_HASH_H_
