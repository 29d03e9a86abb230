// What ssh has a host's shell do.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_REMOTE_SHELL_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_REMOTE_SHELL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::launching {

// Quotes a text, so that a shell takes it as one word with exactly these bytes,
// none of which is NUL. For POSIX shells and fish; csh cannot have line feeds
// in words.
std::string QuoteForShell(absl::string_view text);

// The words, each quoted, with spaces between them.
std::string QuoteWords(absl::Span<const std::string> words);

// The program that hosts run.
struct RemoteProgram {
  // On the hosts; without a '/' it is searched for in PATH. Not for copies.
  std::string path = "distbench";

  // Above 0, the program is this many bytes, which come first on stdin. The
  // host keeps them in a fresh folder while the program runs.
  int64_t copied_bytes = 0;

  // Where the program runs, and where copies get their folder. Empty: the
  // user's home, and $TMPDIR or /tmp.
  std::string folder = "";
};

// The command for ssh, whose user may have any login shell: runs the program
// with the arguments. It exits as the program does; with 126 or 127 if there is
// none that can run.
std::string RemoteCommand(const RemoteProgram& program,
                          absl::Span<const std::string> arguments);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_REMOTE_SHELL_H_
