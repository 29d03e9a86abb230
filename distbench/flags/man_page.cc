// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/man_page.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/flags.h"

namespace distbench::flags {
namespace {

// Makes troff print the text as it is: dashes that can be copied into a
// terminal, straight quotes, and no requests at the beginning of a line.
std::string Escape(absl::string_view line) {
  std::string escaped = absl::StrReplaceAll(line, {{"\\", "\\e"},
                                                   {"-", "\\-"},
                                                   {"'", "\\(aq"},
                                                   {"`", "\\(ga"},
                                                   {"^", "\\(ha"},
                                                   {"~", "\\(ti"}});
  return absl::StartsWith(escaped, ".") ? absl::StrCat("\\&", escaped)
                                        : escaped;
}

std::string Bold(absl::string_view text) {
  return absl::StrCat("\\fB", Escape(text), "\\fR");
}

std::string Italic(absl::string_view text) {
  return absl::StrCat("\\fI", Escape(text), "\\fR");
}

// A paragraph that is filled, except that an indented line stays one, and that
// of a flag's variable.
std::string Filled(absl::string_view paragraph) {
  std::string text;
  for (absl::string_view line : absl::StrSplit(paragraph, '\n')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (stripped.empty()) continue;
    const bool begins_line = stripped.size() < line.size() ||
                             absl::StartsWith(line, kEnvironmentLabel);
    if (begins_line) absl::StrAppend(&text, ".br\n");
    absl::StrAppend(&text, Escape(stripped), "\n");
  }
  return text;
}

std::string Verbatim(absl::string_view paragraph) {
  std::string text = ".nf\n";
  for (absl::string_view line : absl::StrSplit(paragraph, '\n')) {
    // An empty line is a warning of some troffs.
    absl::StrAppend(&text, line.empty() ? ".sp" : Escape(line), "\n");
  }
  return absl::StrCat(text, ".fi\n");
}

bool HasIndentedLine(absl::string_view paragraph) {
  return absl::StartsWith(paragraph, " ") ||
         absl::StrContains(paragraph, "\n ");
}

std::vector<std::string> Paragraphs(absl::string_view text) {
  std::vector<std::string> paragraphs;
  for (absl::string_view part : absl::StrSplit(text, "\n\n")) {
    // Indentation counts, so that only line breaks are stripped.
    while (absl::ConsumePrefix(&part, "\n")) continue;
    while (absl::ConsumeSuffix(&part, "\n")) continue;
    if (!part.empty()) paragraphs.emplace_back(part);
  }
  return paragraphs;
}

std::string Prose(absl::string_view text) {
  std::vector<std::string> blocks;
  for (const std::string& paragraph : Paragraphs(text)) {
    blocks.push_back(HasIndentedLine(paragraph) ? Verbatim(paragraph)
                                                : Filled(paragraph));
  }
  return absl::StrJoin(blocks, ".PP\n");
}

std::string Section(absl::string_view title, absl::string_view body) {
  if (body.empty()) return "";
  return absl::StrCat(".SH ", Escape(title), "\n", body);
}

bool IsExample(const std::string& paragraph) {
  return absl::StartsWith(paragraph, "Example");
}

// The parts of a footer that are examples, or those that are not.
std::string PartOfFooter(const CLI::App& command, bool examples) {
  std::vector<std::string> parts;
  bool in_examples = false;
  for (const std::string& paragraph : Paragraphs(FooterOf(command))) {
    // What is indented belongs to what is before it.
    if (!absl::StartsWith(paragraph, " ")) in_examples = IsExample(paragraph);
    if (in_examples == examples) parts.push_back(paragraph);
  }
  return absl::StrJoin(parts, "\n\n");
}

// The words with which the command is called.
std::string Invocation(const CLI::App& command, const std::string& program) {
  const std::string name = FullName(command);
  return name.empty() ? program : absl::StrCat(program, " ", name);
}

std::string Synopsis(const CLI::App& command, const std::string& program) {
  std::string text = Bold(Invocation(command, program));
  if (!FlagsOf(command).empty()) {
    absl::StrAppend(&text, " [", Italic("OPTIONS"), "]");
  }
  for (const Flag& argument : ArgumentsOf(command)) {
    std::string name = Italic(argument.argument_name);
    if (argument.most_values > 1) absl::StrAppend(&name, "...");
    absl::StrAppend(&text, " ",
                    argument.is_required ? name : absl::StrCat("[", name, "]"));
  }
  if (!CommandsOf(command).empty()) {
    absl::StrAppend(&text, " ", Italic("COMMAND"));
  }
  return absl::StrCat(text, Escape(TrailingUsage(command)), "\n");
}

std::string Names(const Flag& flag) {
  std::vector<std::string> names;
  for (const std::string& name : flag.short_names) {
    names.push_back(Bold(absl::StrCat("-", name)));
  }
  for (const std::string& name : flag.long_names) {
    names.push_back(Bold(absl::StrCat("--", name)));
  }
  std::string text = absl::StrJoin(names, ", ");
  if (flag.most_values > 0) {
    absl::StrAppend(&text, flag.long_names.empty() ? " " : "=",
                    Italic(flag.type));
  }
  return text;
}

std::string Item(const std::string& head, const Flag& flag) {
  std::string text =
      absl::StrCat(".TP\n", head, "\n", Filled(flag.description));
  if (flag.is_required) {
    absl::StrAppend(&text, ".br\nRequired.\n");
  }
  if (!flag.default_value.empty()) {
    absl::StrAppend(&text, ".br\nDefault: ", Escape(flag.default_value), "\n");
  }
  return text;
}

std::string Arguments(const CLI::App& command) {
  std::string text;
  for (const Flag& argument : ArgumentsOf(command)) {
    absl::StrAppend(&text, Item(Italic(argument.argument_name), argument));
  }
  return text;
}

std::string Flags(const CLI::App& command) {
  std::string text;
  for (const Flag& flag : FlagsOf(command)) {
    absl::StrAppend(&text, Item(Names(flag), flag));
  }
  return text;
}

std::string Commands(const CLI::App& command) {
  std::string text;
  for (const CLI::App* sub : CommandsOf(command)) {
    absl::StrAppend(&text, ".TP\n", Bold(NameOf(*sub)), "\n",
                    Filled(DescriptionOf(*sub)));
  }
  return text;
}

// The other pages of the same program, next to this one in the tree.
std::string SeeAlso(const CLI::App& command, const std::string& program) {
  std::vector<std::string> pages;
  const auto add = [&](const CLI::App& other) {
    pages.push_back(absl::StrCat(Bold(ManPageName(other, program)), "(1)"));
  };
  if (ParentOf(command) != nullptr) add(*ParentOf(command));
  for (const CLI::App* sub : CommandsOf(command)) add(*sub);
  return pages.empty() ? "" : absl::StrCat(absl::StrJoin(pages, ",\n"), "\n");
}

// What a line of the page index says about the command.
std::string Summary(const CLI::App& command) {
  const std::vector<std::string> sentences =
      absl::StrSplit(DescriptionOf(command), absl::MaxSplits(". ", 1));
  return absl::StrReplaceAll(absl::StripSuffix(sentences.front(), "."),
                             {{"\n", " "}});
}

}  // namespace

std::string ManPageName(const CLI::App& command, const std::string& program) {
  return absl::StrReplaceAll(Invocation(command, program), {{" ", "-"}});
}

std::string ManPage(const CLI::App& command, const ManPageOptions& options) {
  const std::string& program = options.program;
  const std::string name = ManPageName(command, program);
  std::string page = absl::StrCat(
      ".TH \"", Escape(absl::AsciiStrToUpper(name)), "\" 1 \"\" \"distbench ",
      options.version, "\" \"User Commands\"\n",
      // Neither hyphenated words nor gaps: flags stay what they are.
      ".nh\n.ad l\n",
      Section("NAME", absl::StrCat(Escape(name), " \\- ",
                                   Escape(Summary(command)), "\n")),
      Section("SYNOPSIS", Synopsis(command, program)),
      Section("DESCRIPTION", Prose(absl::StrCat(DescriptionOf(command), "\n\n",
                                                PartOfFooter(command, false)))),
      Section("COMMANDS", Commands(command)),
      Section("ARGUMENTS", Arguments(command)),
      Section("OPTIONS", Flags(command)));
  for (const ManSection& section : options.sections) {
    absl::StrAppend(&page, Section(section.title, Prose(section.text)));
  }
  if (HasConnectionFlags(command)) {
    absl::StrAppend(&page, Section("ENVIRONMENT AND FILES",
                                   Prose(ConnectionDefaultsHelp())));
  }
  absl::StrAppend(&page,
                  Section("EXAMPLES", Prose(PartOfFooter(command, true))),
                  Section("SEE ALSO", SeeAlso(command, program)));
  return page;
}

}  // namespace distbench::flags
