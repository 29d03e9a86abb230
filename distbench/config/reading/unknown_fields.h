// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fields that another build of distbench has written, and this one does not
// know.

#ifndef DISTBENCH_CONFIG_READING_UNKNOWN_FIELDS_H_
#define DISTBENCH_CONFIG_READING_UNKNOWN_FIELDS_H_

#include <string>

#include "google/protobuf/message.h"

namespace distbench::config {

// Returns where the message has a field that this program does not know, the
// first one, such as "field 1020 of actions[2].iterations"; empty if it knows
// all of them. A program that ignored such a field would run another test than
// was asked for.
std::string FirstUnknownField(const google::protobuf::Message& message);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_UNKNOWN_FIELDS_H_
