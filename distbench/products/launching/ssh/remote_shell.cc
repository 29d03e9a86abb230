#include "distbench/products/launching/ssh/remote_shell.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench::launching {
namespace {

// $1 is the folder, $2 the program.
constexpr char kRunInstalled[] =
    R"sh(if [ -n "$1" ]; then cd -- "$1" || exit 1; fi; )sh"
    R"sh(program=$2; shift 2; exec "$program" "$@")sh";

// $1 is the folder, $2 the number of bytes of the program. The shell stays, to
// remove the copy whatever becomes of the program. Nothing that follows the
// copy on stdin may be read ahead: `launch` sends it when the program asks.
constexpr char kRunCopy[] =
    R"sh(place=${TMPDIR:-/tmp}; )sh"
    R"sh(if [ -n "$1" ]; then cd -- "$1" || exit 1; place=$PWD; fi; )sh"
    R"sh(copy=$(mktemp -d "$place/distbench.XXXXXXXX") || exit 1; )sh"
    R"sh(trap 'rm -rf "$copy"' EXIT; trap 'exit 1' HUP INT TERM; )sh"
    R"sh(head -c "$2" >"$copy/distbench" || exit 1; )sh"
    R"sh([ "$(wc -c <"$copy/distbench")" -eq "$2" ] || exit 1; )sh"
    R"sh(chmod 700 "$copy/distbench"; shift 2; "$copy/distbench" "$@")sh";

bool IsPlain(char c) {
  return absl::ascii_isalnum(c) || absl::StrContains("_-./:=,@+", c);
}

}  // namespace

// Not everything can be in single quotes: the single quote in no shell, the
// backslash in fish, and '!' in csh. These are written between quoted parts, in
// ways that all shells understand.
std::string QuoteForShell(absl::string_view text) {
  std::string quoted;
  bool is_open = false;
  const auto set_open = [&](bool open) {
    if (open != is_open) quoted += '\'';
    is_open = open;
  };
  for (const char c : text) {
    if (c == '\'') {
      set_open(false);
      quoted += "\"'\"";
    } else if (c == '\\' || c == '!') {
      set_open(false);
      absl::StrAppend(&quoted, "\\", absl::string_view(&c, 1));
    } else {
      // zsh takes a word that begins with '=' for a command's path.
      if (!IsPlain(c) || (c == '=' && quoted.empty())) set_open(true);
      quoted += c;
    }
  }
  set_open(false);
  return quoted.empty() ? "''" : quoted;
}

std::string QuoteWords(absl::Span<const std::string> words) {
  return absl::StrJoin(words, " ",
                       [](std::string* text, const std::string& word) {
                         absl::StrAppend(text, QuoteForShell(word));
                       });
}

std::string RemoteCommand(const RemoteProgram& program,
                          absl::Span<const std::string> arguments) {
  const bool is_copied = program.copied_bytes > 0;
  std::vector<std::string> words = {
      "exec",
      "/bin/sh",
      "-c",
      is_copied ? kRunCopy : kRunInstalled,
      "distbench-launch",
      program.folder,
      is_copied ? absl::StrCat(program.copied_bytes) : program.path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return QuoteWords(words);
}

}  // namespace distbench::launching
