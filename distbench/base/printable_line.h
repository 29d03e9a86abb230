// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_PRINTABLE_LINE_H_
#define DISTBENCH_BASE_PRINTABLE_LINE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace distbench::base {

// The text as one line of valid UTF-8 without control characters, each of which
// is a blank. For names and messages of other hosts, wherever they are shown to
// people: they must not end a line, move a cursor or change a terminal's
// colours.
std::string PrintableLine(absl::string_view text);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_PRINTABLE_LINE_H_
