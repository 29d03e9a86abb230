// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/help_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "distbench/flags/flags.h"

namespace distbench::flags {
namespace {

constexpr size_t kColumns = 30;

// The line of usage.
std::string Usage(const CLI::App& command) {
  const CLI::App* program = &command;
  while (ParentOf(*program) != nullptr) program = ParentOf(*program);
  const std::string name = FullName(command);
  std::string text =
      absl::StrCat("Usage: ", NameOf(*program), name.empty() ? "" : " ", name);
  if (!FlagsOf(command).empty()) absl::StrAppend(&text, " [OPTIONS]");
  for (const Flag& argument : ArgumentsOf(command)) {
    const std::string words = absl::StrCat(
        argument.argument_name, argument.most_values > 1 ? "..." : "");
    absl::StrAppend(
        &text, " ",
        argument.is_required ? words : absl::StrCat("[", words, "]"));
  }
  if (!CommandsOf(command).empty()) absl::StrAppend(&text, " [SUBCOMMAND]");
  return absl::StrCat(text, TrailingUsage(command), "\n");
}

// Such as "-o,--output DIR=here REQUIRED".
std::string Head(const Flag& flag) {
  if (!flag.argument_name.empty()) return flag.argument_name;
  std::vector<std::string> names;
  for (const std::string& name : flag.short_names) {
    names.push_back(absl::StrCat("-", name));
  }
  for (const std::string& name : flag.long_names) {
    names.push_back(absl::StrCat("--", name));
  }
  std::string text = absl::StrJoin(names, ",");
  if (flag.most_values == 0) return text;
  if (!flag.type.empty()) absl::StrAppend(&text, " ", flag.type);
  if (!flag.default_value.empty()) {
    absl::StrAppend(&text, "=", flag.default_value);
  }
  return absl::StrCat(text, flag.is_required ? " REQUIRED" : "");
}

// Descriptions have line breaks of their own. They begin on the line of the
// head if that is short enough.
std::string Item(absl::string_view head, absl::string_view description,
                 size_t columns) {
  const std::string indentation = absl::StrCat("\n", std::string(columns, ' '));
  std::string text = absl::StrCat("  ", head);
  if (description.empty()) return absl::StrCat(text, "\n");
  text.append(text.size() < columns ? std::string(columns - text.size(), ' ')
                                    : indentation);
  return absl::StrCat(
      text, absl::StrReplaceAll(description, {{"\n", indentation}}), "\n");
}

std::string Section(absl::string_view title, absl::string_view items) {
  return items.empty() ? "" : absl::StrCat("\n", title, ":\n", items);
}

std::string Items(const std::vector<Flag>& flags, size_t columns) {
  std::string text;
  for (const Flag& flag : flags) {
    absl::StrAppend(&text, Item(Head(flag), flag.description, columns));
  }
  return text;
}

std::string SubcommandItems(const CLI::App& command) {
  std::string text;
  for (const CLI::App* subcommand : CommandsOf(command)) {
    absl::StrAppend(
        &text, Item(NameOf(*subcommand), DescriptionOf(*subcommand), kColumns));
  }
  return text;
}

}  // namespace

std::string HelpText(const CLI::App& command) {
  const std::string footer = FooterOf(command);
  return absl::StrCat(
      DescriptionOf(command), "\n", Usage(command),
      Section("Positionals", Items(ArgumentsOf(command), kColumns)),
      FlagsHelp(command, kColumns),
      Section("Subcommands", SubcommandItems(command)),
      footer.empty() ? "" : absl::StrCat("\n", footer, "\n"));
}

std::string FlagsHelp(const CLI::App& command, size_t columns) {
  return Section("Options", Items(FlagsOf(command), columns));
}

}  // namespace distbench::flags
