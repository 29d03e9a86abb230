// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Adds subcommands, flags and arguments to a program's command line, which
// CLI11 holds, so that all commands read and fail alike; and walks it. CLI11
// takes longer to compile than all else in a file that has to do with flags:
// this is there so that others need not include it.

#ifndef DISTBENCH_FLAGS_FLAGS_H_
#define DISTBENCH_FLAGS_FLAGS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace CLI {
class App;
}

namespace distbench::flags {

// ---- Programs ---------------------------------------------------------------

// A program's command line. Commands keep references to it.
class Program {
 public:
  Program(const std::string& description, const std::string& name);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  CLI::App& app() { return *app_; }

 private:
  std::unique_ptr<CLI::App> app_;
};

// The flag that asks for help, such as "-h,--help", instead of CLI11's.
void SetHelpFlag(CLI::App& program, const std::string& flag,
                 const std::string& description);

struct Parsed {
  enum class Outcome { kOk, kHelp, kUnknownWord, kError };
  Outcome outcome = Outcome::kOk;
  std::string text;  // the unknown word, or the error
};

// `arguments` are those of the program, without its name. Throws nothing.
Parsed Parse(CLI::App& program, std::vector<std::string> arguments);

// ---- Subcommands ------------------------------------------------------------

// Adds a subcommand to the program, or to another subcommand, which owns it.
CLI::App& AddSubcommand(CLI::App& parent, const std::string& name,
                        const std::string& description);

// Sets the end of the command's help.
void SetFooter(CLI::App& command, const std::string& text);

// Leaves the command out of lists: it is not for users.
void HideSubcommand(CLI::App& command);

// Says that users name at most one of the command's own subcommands.
void AllowOneSubcommand(CLI::App& command);

// Called by the parse after and before it, if the user names the command.
void AfterParsing(CLI::App& command, std::function<void()> call);
void BeforeParsing(CLI::App& command, std::function<void()> call);

// ---- Flags and arguments ----------------------------------------------------
//
// All of these write to variables that must outlive the parsing. The variables'
// initial values are the defaults. `flag` includes the dashes; of a flag with a
// short name, both: "-o,--output".

// Adds --flag=TYPE, which takes any text.
void AddTextFlag(CLI::App& command, const std::string& flag, std::string& text,
                 const std::string& type, absl::string_view description);

// The same, for a flag that names a file which the command writes, and does not
// go on with what is in it; see FilesNamedIn().
void AddOutputFlag(CLI::App& command, const std::string& flag,
                   std::string& path, absl::string_view description);

// The same, for a flag that takes one of these texts. A text that it already
// has is the default.
void AddChoiceFlag(CLI::App& command, const std::string& flag,
                   std::string& text, const std::vector<std::string>& choices,
                   const std::string& type, const std::string& description);

// As AddTextFlag(), for a flag that may be repeated and takes one value each
// time.
void AddRepeatedFlag(CLI::App& command, const std::string& flag,
                     std::vector<std::string>& texts, const std::string& type,
                     absl::string_view description);

// The same, for values that may also be separated by commas.
void AddListFlag(CLI::App& command, const std::string& flag,
                 std::vector<std::string>& texts, const std::string& type,
                 absl::string_view description);

// Such a list of names.
void AddNamesFlag(CLI::App& command, const std::string& flag,
                  std::vector<std::string>& names,
                  absl::string_view description);

// Adds --flag, which takes no value.
void AddSwitch(CLI::App& command, const std::string& flag, bool& is_set,
               const std::string& description);

// Adds --flag=true|false.
void AddBoolFlag(CLI::App& command, const std::string& flag, bool& value,
                 const std::string& description);

// Adds a flag that takes a number from `least` to `most`. A number that it
// already has is the default, unless it is out of this range. `Number` is int,
// int64_t, uint64_t or double.
template <typename Number>
void AddNumberFlag(CLI::App& command, const std::string& flag, Number& number,
                   std::type_identity_t<Number> least,
                   std::type_identity_t<Number> most, const std::string& type,
                   const std::string& description);

// The same, for a number that stays empty if the flag is not given.
template <typename Number>
void AddNumberFlag(CLI::App& command, const std::string& flag,
                   std::optional<Number>& number,
                   std::type_identity_t<Number> least,
                   std::type_identity_t<Number> most, const std::string& type,
                   const std::string& description);

// Adds a flag that takes a positive duration, such as "1m30s", or seconds.
void AddDurationFlag(CLI::App& command, const std::string& flag,
                     absl::Duration& duration, absl::string_view description);

// Adds an argument that is known by its place. `name` stands for it in the
// help, and `type` says what it is, as with flags.
void AddArgument(CLI::App& command, const std::string& name, std::string& text,
                 const std::string& type, const std::string& description);

// The same, for any number of arguments.
void AddArguments(CLI::App& command, const std::string& name,
                  std::vector<std::string>& texts, const std::string& type,
                  const std::string& description);

// To be called when the command has all its arguments. Of one that takes any
// number of words, leaves the last ones to the required arguments behind it, as
// in `cp FILE... FOLDER`. Flags must come before the arguments then; one that
// comes later is an error, which says so.
void KeepLastArguments(CLI::App& command);

// ---- Of flags, with their dashes, and arguments that the command already has

// It must be given, or need not.
void Require(CLI::App& command, const std::string& name,
             bool is_required = true);

// The two are not given together.
void Exclude(CLI::App& command, const std::string& name,
             const std::string& other);

// `error_of` returns what is wrong with a value; empty: nothing.
void Check(CLI::App& command, const std::string& name,
           std::function<std::string(const std::string& value)> error_of);

// For Check(): of a value that has to be a number from `least` to `most`. NaN
// is none.
std::string NumberError(const std::string& text, double least, double most);

// The flag counts only if it is typed: what is set for all commands does not
// fill it in (connection_defaults.h).
void TakeOnlyFromCommandLine(CLI::App& command, const std::string& flag);
bool IsOnlyFromCommandLine(CLI::App& command, const std::string& flag);

// The help says the present value of the variable as the default.
void ShowDefault(CLI::App& command, const std::string& name);

void AppendToDescription(CLI::App& command, const std::string& name,
                         absl::string_view text);

// As if the command line, which has been parsed, had this value. The error is
// INVALID_ARGUMENT and does not name the flag.
absl::Status GiveValue(CLI::App& command, const std::string& name,
                       const std::string& value);

// ---- Durations --------------------------------------------------------------

// Parses durations as people type them, for flags, parameters and properties of
// jobs alike: numbers with their units, such as "1m30s" or "200ms", or a plain
// number, such as "90" or "0.5", which counts seconds. The result is from 0 to
// 2^63 - 1 nanoseconds, and rounded to the nearest one. INVALID_ARGUMENT quotes
// the text and shows the right form.
absl::StatusOr<absl::Duration> ParseDurationOrSeconds(absl::string_view text);

// ---- The command line as a tree ---------------------------------------------
//
// Help, errors, manual pages and completion all come from this one table.

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

// Whether values of flags and arguments of the type name files: FILE, or
// RESULT, which may also be a directory of them.
bool IsFileType(absl::string_view type);

// A file that the parsed command line names.
struct NamedFile {
  std::string flag;  // with dashes, or the name of an argument
  std::string path;
  bool is_output = false;  // of AddOutputFlag()
};

// Those of the command and of the commands that it is a subcommand of.
std::vector<NamedFile> FilesNamedIn(CLI::App& command);

// Whether the command line has the flag, which the command must have. `flag`
// includes the dashes.
bool IsGiven(const CLI::App& command, const std::string& flag);

// What a flag that takes one text was given, as it was written; empty if it was
// not given.
std::string GivenText(const CLI::App& command, const std::string& flag);

// What a repeated flag or the arguments were given.
std::vector<std::string> GivenTexts(const CLI::App& command,
                                    const std::string& name);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_FLAGS_H_
