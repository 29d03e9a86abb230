// Which fields messages use: for tests that want all of them.

#ifndef DISTBENCH_CONFIG_LOAD_USED_FIELDS_H_
#define DISTBENCH_CONFIG_LOAD_USED_FIELDS_H_

#include <set>
#include <string>

#include "google/protobuf/message.h"

namespace distbench {

// Adds the full names of the fields that are set in the message and in those
// inside it.
void CollectUsedFields(const google::protobuf::Message& message,
                       std::set<std::string>& names);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_LOAD_USED_FIELDS_H_
