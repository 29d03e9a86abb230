// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What may come next on a command line, from the table of flags: the same for
// all shells, which only pass on what was typed and show what is returned.

#ifndef DISTBENCH_FLAGS_COMPLETION_H_
#define DISTBENCH_FLAGS_COMPLETION_H_

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distbench::flags {

struct Candidate {
  // The whole word. More follows if it ends in '=', ':', ',', '.' or '/'.
  std::string word;
  std::string description = "";  // at most a line; may be empty
};

struct Completion {
  std::vector<Candidate> candidates;

  // Whether the word, or what follows the '=' of "--flag=", may be a path,
  // which the shell completes itself.
  enum class Paths { kNone, kFiles, kFolders };
  Paths paths = Paths::kNone;
};

struct ValueRequest {
  std::string type;   // as of Flag::type, without "[,...]": "RUN"
  std::string typed;  // the beginning of the value

  // The words before the current one, without the program's name.
  std::vector<std::string> words;
};

// Returns values of this type, whatever they begin with; none if there are none
// or nothing is known about them.
using ValueSource =
    std::function<std::vector<Candidate>(const ValueRequest& request)>;

// `words` is what was typed after the program's name; the last one, which may
// be empty, is completed. Types of files and choices ("text|json", or lines
// such as "  json: all of it" in the flag's description) need no source.
Completion Complete(const CLI::App& app, std::vector<std::string> words,
                    const ValueSource& values);

// For the scripts of the shells: ":files" or ":folders" on a line, then a line
// for each candidate, with a tab before its description. Leaves out words that
// a shell would not take as they are.
std::string CompletionText(const Completion& completion);

// The value of a flag ("--infile") among the words, as "--infile=VALUE" or as
// two words; empty if it is not there.
std::string FlagValue(const std::vector<std::string>& words,
                      const std::string& flag);

// The scripts with which shells complete a program's command line. They hold
// nothing about flags: they ask `distbench complete`, so that they fit every
// version of the programs.

struct ShellScript {
  std::string path;  // below the folder of completions: "zsh/_distbench"
  std::string text;
};

// The scripts for bash, zsh and fish.
std::vector<ShellScript> CompletionScripts(const std::string& program);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_COMPLETION_H_
