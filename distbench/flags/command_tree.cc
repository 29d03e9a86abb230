#include "distbench/flags/command_tree.h"

#include <CLI/CLI.hpp>
#include <functional>

#include "absl/strings/str_cat.h"

namespace distbench::flags {
namespace {

// CLI11's type of any text, which says nothing about the value.
constexpr char kAnyText[] = "TEXT";

std::string TypeOf(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const bool says_nothing = type.empty() || type == kAnyText;
  return says_nothing && option.get_positional() ? option.get_name(true) : type;
}

Flag Described(const CLI::Option& option) {
  return {
      .short_names = option.get_snames(),
      .long_names = option.get_lnames(),
      .argument_name = option.get_positional() ? option.get_name(true) : "",
      .type = TypeOf(option),
      .description = option.get_description(),
      .default_value = option.get_default_str(),
      .most_values = option.get_items_expected_max(),
      .is_required = option.get_required(),
  };
}

// Of those that users see, the arguments or the others.
std::vector<Flag> Visible(const CLI::App& command, bool arguments) {
  std::vector<Flag> found;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const bool is_wanted =
        arguments ? option->get_positional() : option->nonpositional();
    if (is_wanted) found.push_back(Described(*option));
  }
  return found;
}

}  // namespace

std::vector<const CLI::App*> CommandsOf(const CLI::App& command) {
  return command.get_subcommands(
      [](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<CLI::App*> AllCommandsOf(CLI::App& command) {
  return command.get_subcommands(std::function<bool(CLI::App*)>());
}

const CLI::App* FindCommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* sub : CommandsOf(command)) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

const CLI::App* ParentOf(const CLI::App& command) {
  return command.get_parent();
}

std::string NameOf(const CLI::App& command) { return command.get_name(); }

std::string FullName(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr) return "";
  const std::string before = FullName(*parent);
  return before.empty() ? command.get_name()
                        : absl::StrCat(before, " ", command.get_name());
}

std::string DescriptionOf(const CLI::App& command) {
  return command.get_description();
}

std::string FooterOf(const CLI::App& command) { return command.get_footer(); }

std::string TrailingUsage(const CLI::App& command) {
  const bool has_flag =
      command.get_option_no_throw(kTrailingCommandFlag) != nullptr;
  return has_flag ? " [-- COMMAND...]" : "";
}

std::vector<Flag> FlagsOf(const CLI::App& command) {
  return Visible(command, /*arguments=*/false);
}

std::vector<Flag> ArgumentsOf(const CLI::App& command) {
  return Visible(command, /*arguments=*/true);
}

std::vector<std::string> LongNamesOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& own = option->get_lnames();
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

bool IsGiven(const CLI::App& command, const std::string& flag) {
  return command.get_option(flag)->count() > 0;
}

}  // namespace distbench::flags
