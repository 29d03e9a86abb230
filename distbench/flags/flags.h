// Adds subcommands, flags and arguments to a program's command line, which
// CLI11 holds, so that all commands read and fail alike.

#ifndef DISTBENCH_FLAGS_FLAGS_H_
#define DISTBENCH_FLAGS_FLAGS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
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

// The part of the help about flags, whose names take `columns`.
std::string FlagsHelp(const CLI::App& program, size_t columns);

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

// The help says the present value of the variable as the default.
void ShowDefault(CLI::App& command, const std::string& name);

void AppendToDescription(CLI::App& command, const std::string& name,
                         absl::string_view text);

// As if the command line, which has been parsed, had this value. The error is
// INVALID_ARGUMENT and does not name the flag.
absl::Status GiveValue(CLI::App& command, const std::string& name,
                       const std::string& value);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_FLAGS_H_
