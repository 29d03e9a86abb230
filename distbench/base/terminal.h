// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TERMINAL_H_
#define DISTBENCH_BASE_TERMINAL_H_

namespace distbench::base {

// What an output can show.
struct Terminal {
  // Otherwise a file or a pipe.
  bool is_terminal = false;

  // In characters.
  int columns = 80;
  int rows = 24;

  // Colours are for terminals only. Users forbid them with a non-empty
  // environment variable NO_COLOR (no-color.org), and TERM=dumb has none.
  bool has_color = false;
};

// Examines an open file descriptor.
Terminal TerminalOf(int fd);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TERMINAL_H_
