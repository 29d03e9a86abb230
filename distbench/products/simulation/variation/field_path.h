// Fields of messages by paths, such as "services[leaf].count".

#ifndef DISTBENCH_PRODUCTS_SIMULATION_VARIATION_FIELD_PATH_H_
#define DISTBENCH_PRODUCTS_SIMULATION_VARIATION_FIELD_PATH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace distbench::simulation {

// Sets one field of a message. `path` leads to it by the names of fields, as in
// "host.cpus". An element of a list is named in brackets, by its first field or
// by its number from 0, as in "services[leaf].count"; if several have the name,
// only by its number. Messages that are missing on the way are added, elements
// of lists are not. `value` is as in text format, but text has no quotes.
//
// INVALID_ARGUMENT says what is wrong with the path or the value; the message
// may then have changed.
absl::Status SetField(absl::string_view path, absl::string_view value,
                      google::protobuf::Message& message);

// What "PATH=VALUE,VALUE" may become of which the beginning was typed: with the
// next part of the path, which ends in '=' if a value follows, and in '.'
// otherwise, or with one of a field's words as the last value. The elements of
// lists are those of the message. Empty if the path leads nowhere.
std::vector<std::string> FieldCandidates(
    absl::string_view typed, const google::protobuf::Message& message);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_VARIATION_FIELD_PATH_H_
