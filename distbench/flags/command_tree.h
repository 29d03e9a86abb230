// Walks a program's command line as CLI11 holds it. Help, errors, manual pages
// and completion all come from this one table.

#ifndef DISTBENCH_FLAGS_COMMAND_TREE_H_
#define DISTBENCH_FLAGS_COMMAND_TREE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace distbench::flags {

// The subcommands that users see, in the order of the help text.
std::vector<const CLI::App*> CommandsOf(const CLI::App& command);

// Returns null if users see no such subcommand.
const CLI::App* FindCommand(const CLI::App& command, const std::string& name);

// A name such as "runs get"; empty for the program itself.
std::string FullName(const CLI::App& command);

// The hidden flag of a command behind which another command line may follow, as
// `-- COMMAND...`: it holds the words of that.
inline constexpr char kTrailingCommandFlag[] = "--trailing_command";

// What usage lines say about that; empty for other commands.
std::string TrailingUsage(const CLI::App& command);

// A flag begins with a dash; an argument is known by its place.
std::vector<const CLI::Option*> FlagsOf(const CLI::App& command);
std::vector<const CLI::Option*> ArgumentsOf(const CLI::App& command);

// Whether the option is given with a value.
bool TakesValue(const CLI::Option& option);

// What the value of an option is, such as "FILE", "HOST:PORT", "DURATION",
// "NAME[,NAME...]" or the choices "text|json": the type that was given where
// the option was added or, for an argument without one, its name. Empty if it
// takes none.
std::string TypeOf(const CLI::Option& option);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_COMMAND_TREE_H_
