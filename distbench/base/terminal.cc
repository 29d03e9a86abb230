// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/string_view.h"

namespace distbench::base {
namespace {

absl::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Terminal TerminalOf(int fd) {
  Terminal terminal;
  terminal.is_terminal = isatty(fd) != 0;
  terminal.has_color = terminal.is_terminal &&
                       Environment("NO_COLOR").empty() &&
                       Environment("TERM") != "dumb";
  winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return terminal;
  // Some terminals do not know their size, and say 0.
  if (size.ws_col > 0) terminal.columns = size.ws_col;
  if (size.ws_row > 0) terminal.rows = size.ws_row;
  return terminal;
}

}  // namespace distbench::base
