// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Lists the fields that messages use, for tests that must cover all of them.

#ifndef DISTBENCH_CONFIG_TESTING_USED_FIELDS_H_
#define DISTBENCH_CONFIG_TESTING_USED_FIELDS_H_

#include <set>
#include <string>

#include "google/protobuf/message.h"

namespace distbench::config {

// Adds the full names of all fields that are set in the message and its
// submessages.
void CollectUsedFields(const google::protobuf::Message& message,
                       std::set<std::string>& names);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_TESTING_USED_FIELDS_H_
