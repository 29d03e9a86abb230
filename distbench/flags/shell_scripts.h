// The scripts with which shells complete a program's command line. They hold
// nothing about flags: they ask `distbench complete`, so that they fit every
// version of the programs.

#ifndef DISTBENCH_FLAGS_SHELL_SCRIPTS_H_
#define DISTBENCH_FLAGS_SHELL_SCRIPTS_H_

#include <string>
#include <vector>

namespace distbench::flags {

struct ShellScript {
  std::string path;  // below the folder of completions: "zsh/_distbench"
  std::string text;
};

// The scripts for bash, zsh and fish.
std::vector<ShellScript> CompletionScripts(const std::string& program);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_SHELL_SCRIPTS_H_
