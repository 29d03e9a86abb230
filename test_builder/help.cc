// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/help.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/base/text_table.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/help_text.h"
#include "distbench/flags/man_page.h"
#include "test_builder/command_line.h"
#include "test_builder/help_texts.h"
#include "test_builder/library/library.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {
namespace {

constexpr size_t kWidth = 80;

// Breaks text into lines that are indented by `indent` spaces.
std::string Wrap(absl::string_view text, size_t indent) {
  std::string wrapped;
  std::string line(indent, ' ');
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(&wrapped, line, "\n");
      line.assign(indent, ' ');
    }
    absl::StrAppend(&line, line.size() > indent ? " " : "", word);
  }
  return absl::StrCat(wrapped, line, "\n");
}

// Lines of the names and summaries.
std::string List(const std::vector<flags::Candidate>& entries) {
  std::vector<base::TextRow> rows;
  for (const flags::Candidate& entry : entries) {
    rows.push_back({"", entry.word, entry.description});
  }
  return absl::StrCat(absl::StrJoin(base::AlignedLines(rows, "lll"), "\n"),
                      "\n");
}

template <typename Parameters>
std::string DescribeParameters(absl::string_view title,
                               const Parameters& parameters) {
  if (parameters.empty()) return "";
  std::string text = absl::StrCat("\n", title, ":\n");
  for (const Parameter& parameter : parameters) {
    const std::string by_default =
        parameter.default_value().empty()
            ? parameter.name()
            : absl::StrCat(parameter.name(), "=", parameter.default_value());
    absl::StrAppend(&text, "  ", by_default, "\n",
                    Wrap(absl::StrCat(parameter.meaning(), " (",
                                      DescribeType(parameter), ")"),
                         6));
  }
  return text;
}

std::string LibraryText() {
  std::vector<flags::Candidate> lines;
  for (const LibraryEntry& entry : Library().entries()) {
    lines.push_back(
        {entry.name(), absl::StrCat(IsSecondHand(entry) ? "s" : " ",
                                    entry.invented().empty() ? " " : "i", "  ",
                                    entry.summary())});
  }
  return absl::StrCat(kLibraryTxt, List(lines));
}

std::string SourceText(const Source& source) {
  return absl::StrCat(
      Wrap(source.publication(), 2), Wrap(source.place(), 4),
      Wrap(absl::StrCat("Licence: ", source.licence()), 4),
      Wrap(absl::StrCat(source.second_hand() ? "Second-hand: " : "Fit: ",
                        source.fitted_by()),
           4));
}

std::string EntryHelp(const LibraryEntry& entry) {
  std::string text =
      absl::StrCat(entry.name(), ": ", entry.summary(), "\n\nSources:\n");
  for (const Source& source : entry.sources()) {
    absl::StrAppend(&text, SourceText(source));
  }
  if (!entry.invented().empty()) absl::StrAppend(&text, "\nInvented:\n");
  for (const std::string& invented : entry.invented()) {
    absl::StrAppend(&text, Wrap(absl::StrCat("- ", invented), 2));
  }
  return absl::StrCat(
      text, "\nExample:\n  ",
      entry.has_test_builder_config()
          ? absl::StrCat("test_builder \\\n    ", entry.test_builder_config())
          : absl::StrCat("distbench run_tests --infile=workloads/real/",
                         entry.name(), "/test.config"),
      "\n");
}

// What the pages of patterns and protocols begin with.
template <typename Entry>
std::string Headline(const Entry& entry) {
  return absl::StrCat(entry.name(), ": ", entry.summary(), "\n");
}

// A part of the manual page, which has all of them.
template <typename Entry>
std::string Section(const Entry& entry, absl::string_view description) {
  return absl::StrCat(
      Headline(entry), description,
      DescribeParameters("Parameters of " + entry.name(), entry.parameters()),
      "\n");
}

std::string PatternHelp(const Pattern& pattern) {
  return absl::StrCat(
      Headline(pattern), "\n", Wrap(pattern.description(), 0),
      DescribeParameters("Parameters and their defaults", pattern.parameters()),
      DescribeParameters("Parameters of every test", CommonParameters()),
      "\nExample:\n  test_builder ", pattern.example(), "\n");
}

std::string ProtocolHelp(const Protocol& protocol) {
  return absl::StrCat(
      Headline(protocol),
      DescribeParameters("Parameters and their defaults",
                         protocol.parameters()),
      "\nExample:\n  test_builder client_server:", protocol.name(), "\n");
}

// All help but that on flags.
std::vector<flags::ManSection> ManSections() {
  std::string patterns;
  for (const Pattern& pattern : AllPatterns()) {
    patterns += Section(pattern, "\n" + Wrap(pattern.description(), 2));
  }
  std::string protocols;
  for (const Protocol& each : AllProtocols()) protocols += Section(each, "");
  return {
      {"CONFIGURATIONS", std::string(kSyntaxTxt)},
      {"PARAMETERS OF EVERY TEST",
       DescribeParameters("Every pattern takes", CommonParameters())},
      {"PATTERNS", patterns},
      {"PROTOCOLS", protocols},
      {"LIBRARY", LibraryText()},
      {"EXAMPLES", std::string(kExamplesTxt)},
  };
}

}  // namespace

std::string GeneralHelp() {
  constexpr size_t kFlagColumns = 28;
  const std::string flags = OfAllFlags(
      [](const CLI::App& app) { return flags::FlagsHelp(app, kFlagColumns); });
  return absl::StrCat(kUsageTxt, flags, kSyntaxTxt, "\nPatterns:\n",
                      List(PatternCandidates()), "\nProtocols:\n",
                      List(ProtocolCandidates()), LibraryText(), kExamplesTxt);
}

absl::StatusOr<std::string> TopicHelp(absl::string_view topic) {
  if (const Pattern* pattern = FindPattern(topic)) return PatternHelp(*pattern);
  if (const Protocol* protocol = FindProtocol(topic)) {
    return ProtocolHelp(*protocol);
  }
  if (const LibraryEntry* entry = FindLibraryEntry(topic)) {
    return EntryHelp(*entry);
  }
  std::vector<std::string> topics = PatternNames();
  for (std::string& name : ProtocolNames()) topics.push_back(std::move(name));
  for (const LibraryEntry& entry : Library().entries()) {
    topics.push_back(entry.name());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no help about ", config::Quoted(topic), "; ",
                   config::Suggestion(topic, topics)));
}

std::string TestBuilderManPage(absl::string_view version) {
  return OfAllFlags([&](const CLI::App& app) {
    return flags::ManPage(app, {.program = kName,
                                .version = std::string(version),
                                .sections = ManSections()});
  });
}

}  // namespace distbench::test_builder
