// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Messages as JSON and as rows of tables: one walk over their fields, for
// reports, and for configs that users read.

#ifndef DISTBENCH_BASE_MESSAGE_JSON_H_
#define DISTBENCH_BASE_MESSAGE_JSON_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "distbench/base/json.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::base {

enum class JsonForm {
  // All fields in the order of their declaration, zeros too. Null is what is
  // absent of the fields that can be, and what is no number. Values of enums
  // are in lower case. proto/json_options.proto has options.
  kReport,

  // Protobuf's JSON mapping, with the fields' own names: only fields that are
  // set, names first. Numbers of 64 bits are texts, as other programs would
  // round them.
  kConfig,

  // The same, where numbers of 64 bits are numbers.
  kConfigOfNumbers,
};

// Fields have their own names, unless they declare a json_name. Texts are valid
// UTF-8. Maps are objects, in the order of their keys.
Json MessageJson(const google::protobuf::Message& message,
                 JsonForm form = JsonForm::kReport);

// Rows are messages of single values, and of messages with a prefix: a cell for
// each value, in the order of their declaration.

std::vector<std::string> ColumnsOf(const google::protobuf::Descriptor& row);

// Passes the cells in the order of the columns: null, a truth value, a number
// or a text. They may be moved from.
void ForEachCell(const google::protobuf::Message& row,
                 absl::FunctionRef<void(Json cell)> visit);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_MESSAGE_JSON_H_
