// Walks a program's command line as CLI11 holds it. Help, errors, manual pages
// and completion all come from this one table.
//
// CLI11 takes longer to compile than all else in a file that has to do with
// flags: this and flags.h are there so that others need not include it.

#ifndef DISTBENCH_FLAGS_COMMAND_TREE_H_
#define DISTBENCH_FLAGS_COMMAND_TREE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distbench::flags {

// The subcommands that users see, in the order of the help text.
std::vector<const CLI::App*> CommandsOf(const CLI::App& command);

// All of them, hidden ones too.
std::vector<CLI::App*> AllCommandsOf(CLI::App& command);

// Returns null if users see no such subcommand.
const CLI::App* FindCommand(const CLI::App& command, const std::string& name);

// The command that this is a subcommand of; null for the program itself.
const CLI::App* ParentOf(const CLI::App& command);

std::string NameOf(const CLI::App& command);

// A name such as "runs get"; empty for the program itself.
std::string FullName(const CLI::App& command);

std::string DescriptionOf(const CLI::App& command);

// The end of the command's help.
std::string FooterOf(const CLI::App& command);

// The hidden flag of a command behind which another command line may follow, as
// `-- COMMAND...`: it holds the words of that.
inline constexpr char kTrailingCommandFlag[] = "--trailing_command";

// What usage lines say about that; empty for other commands.
std::string TrailingUsage(const CLI::App& command);

// A flag, which begins with a dash, or an argument, which is known by its
// place.
struct Flag {
  std::vector<std::string> short_names;  // without dashes
  std::vector<std::string> long_names;
  std::string argument_name;  // empty for flags

  // What the value is, such as "FILE", "HOST:PORT", "DURATION",
  // "NAME[,NAME...]" or the choices "text|json": the type that was given where
  // it was added or, for an argument without one, its name. Empty if it takes
  // none.
  std::string type;

  std::string description;
  std::string default_value;  // empty if it has none
  int most_values = 0;        // 0: it takes none
  bool is_required = false;
};

// Those that users see.
std::vector<Flag> FlagsOf(const CLI::App& command);
std::vector<Flag> ArgumentsOf(const CLI::App& command);

// The long names of all flags, hidden ones too, without dashes.
std::vector<std::string> LongNamesOf(const CLI::App& command);

// Whether the command line has the flag, which the command must have. `flag`
// includes the dashes.
bool IsGiven(const CLI::App& command, const std::string& flag);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_COMMAND_TREE_H_
