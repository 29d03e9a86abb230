#include "distbench/flags/command_tree.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"

namespace distbench::flags {
namespace {

// CLI11's type of any text, which says nothing about the value.
constexpr char kAnyText[] = "TEXT";

}  // namespace

std::vector<const CLI::App*> CommandsOf(const CLI::App& command) {
  return command.get_subcommands(
      [](const CLI::App* sub) { return !sub->get_group().empty(); });
}

const CLI::App* FindCommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* sub : CommandsOf(command)) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

std::string FullName(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr) return "";
  const std::string before = FullName(*parent);
  return before.empty() ? command.get_name()
                        : absl::StrCat(before, " ", command.get_name());
}

std::string TrailingUsage(const CLI::App& command) {
  const bool has_flag =
      command.get_option_no_throw(kTrailingCommandFlag) != nullptr;
  return has_flag ? " [-- COMMAND...]" : "";
}

std::vector<const CLI::Option*> FlagsOf(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && option->nonpositional();
  });
}

std::vector<const CLI::Option*> ArgumentsOf(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && option->get_positional();
  });
}

bool TakesValue(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::string TypeOf(const CLI::Option& option) {
  if (!TakesValue(option)) return "";
  const std::string type = option.get_type_name();
  const bool says_nothing = type.empty() || type == kAnyText;
  return says_nothing && option.get_positional() ? option.get_name(true) : type;
}

}  // namespace distbench::flags
