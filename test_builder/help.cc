#include "test_builder/help.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/man_page.h"
#include "test_builder/command_line.h"
#include "test_builder/library/library.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {
namespace {

constexpr size_t kWidth = 80;

constexpr char kUsage[] =
    R"(test_builder makes traffic configs from patterns, and runs them.

Usage:
  test_builder [FLAGS] CONFIG...
  test_builder [FLAGS] parameter_sweep NAME START STEP END CONFIG...
  test_builder help [PATTERN | PROTOCOL | ENTRY]

Flags may stand anywhere.
)";

constexpr char kSyntax[] = R"(
A CONFIG is a pattern and settings, separated by ':':
  PATTERN, PROTOCOL, ipv4, ipv6   what to build; gRPC unless it says otherwise
  {PROTOCOL,PROTOCOL,...}         makes one test per protocol, also {ipv4,ipv6}
  NAME=VALUE                      sets a parameter of the pattern or protocol; a
                                  VALUE contains neither ':' nor '='
  NAME=VALUE,VALUE,...            makes one test per value; several lists make
                                  one per combination
  NAME=VALUE with a unit          rates, times and sizes also as 1.5k/s, 500ms
                                  or 256KiB, as the parameter requires
  NAME=<FILE                      takes the value from a file, as it is
Of a setting that is given twice the last one counts. A name that is nobody's
parameter becomes an attribute of the test, unless it looks like a typing error.

A sweep makes one test per value and CONFIG, several sweeps one per combination:
  parameter_sweep qps 100 100 500          100, 200, 300, 400, 500
  parameter_sweep qps 100 x2 1600          100, 200, 400, 800, 1600
  parameter_sweep load 0.1 0.05 0.2        0.10, 0.15, 0.20
  parameter_sweep request_size,response_size 1024 x4 65536
                                           the same value for both
)";

constexpr char kExamples[] = R"(
Examples:
  test_builder client_server                         print a config
  test_builder -o configs clique:node_count=4,8,16   write three configs
  test_builder 'client_server:{grpc,tcp}'            two stacks to compare
  test_builder -s localhost:10000 -o results -t 10s multi_level_rpc:qps=500/s
  test_builder -o results -s localhost:10000 -c grpc:ipv4 \
      parameter_sweep parallel_queries 1 x2 64 client_server tripartite

A run writes DIR/LABELtest.config and DIR/LABELtest.pb.gz. What is there already
is kept: the same command resumes where it was stopped.

Exit status: 0 all is well; 1 wrong usage or config, nothing was run; 2 an
objective was not met; 3 a test failed, or its numbers are false.
)";

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

template <typename Entry>
std::string List(const std::vector<Entry>& entries) {
  size_t longest = 0;
  for (const Entry& entry : entries) {
    longest = std::max(longest, entry.name.size());
  }
  std::string list;
  for (const Entry& entry : entries) {
    absl::StrAppendFormat(&list, "  %-*s  %s\n", static_cast<int>(longest),
                          entry.name, entry.summary);
  }
  return list;
}

std::string DescribeParameters(absl::string_view title,
                               absl::Span<const Parameter> parameters) {
  if (parameters.empty()) return "";
  std::string text = absl::StrCat("\n", title, ":\n");
  for (const Parameter& parameter : parameters) {
    const std::string by_default =
        parameter.default_value.empty()
            ? parameter.name
            : absl::StrCat(parameter.name, "=", parameter.default_value);
    absl::StrAppend(&text, "  ", by_default, "\n",
                    Wrap(absl::StrCat(parameter.meaning, " (",
                                      DescribeType(parameter), ")"),
                         6));
  }
  return text;
}

constexpr char kLibrary[] = R"(
Library of real traffic: ready tests, each with its sources (docs/library.md).
`test_builder help ENTRY` says how to run one. s: figures are second-hand;
i: parts are invented.
)";

std::string LibraryText() {
  struct Line {
    std::string name;
    std::string summary;
  };
  std::vector<Line> lines;
  for (const LibraryEntry& entry : Library().entries()) {
    lines.push_back(
        {entry.name(), absl::StrCat(IsSecondHand(entry) ? "s" : " ",
                                    entry.invented().empty() ? " " : "i", "  ",
                                    entry.summary())});
  }
  return absl::StrCat(kLibrary, List(lines));
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
  return absl::StrCat(entry.name, ": ", entry.summary, "\n");
}

std::string AllPatternsText() {
  std::string text;
  for (const Pattern& pattern : AllPatterns()) {
    absl::StrAppend(
        &text, Headline(pattern), "\n", Wrap(pattern.description, 2),
        DescribeParameters("Parameters of " + pattern.name, pattern.parameters),
        "\n");
  }
  return text;
}

std::string AllProtocolsText() {
  std::string text;
  for (const Protocol& protocol : AllProtocols()) {
    absl::StrAppend(&text, Headline(protocol),
                    DescribeParameters("Parameters of " + protocol.name,
                                       protocol.parameters),
                    "\n");
  }
  return text;
}

std::string PatternHelp(const Pattern& pattern) {
  return absl::StrCat(
      Headline(pattern), "\n", Wrap(pattern.description, 0),
      DescribeParameters("Parameters and their defaults", pattern.parameters),
      DescribeParameters("Parameters of every test", CommonParameters()),
      "\nExample:\n  test_builder ", pattern.example, "\n");
}

std::string ProtocolHelp(const Protocol& protocol) {
  return absl::StrCat(
      Headline(protocol),
      DescribeParameters("Parameters and their defaults", protocol.parameters),
      "\nExample:\n  test_builder client_server:", protocol.name, "\n");
}

// All help but that on flags.
std::vector<flags::ManSection> ManSections() {
  return {
      {"CONFIGURATIONS", kSyntax},
      {"PARAMETERS OF EVERY TEST",
       DescribeParameters("Every pattern takes", CommonParameters())},
      {"PATTERNS", AllPatternsText()},
      {"PROTOCOLS", AllProtocolsText()},
      {"LIBRARY", LibraryText()},
      {"EXAMPLES", kExamples},
  };
}

}  // namespace

std::string GeneralHelp() {
  return absl::StrCat(kUsage, FlagHelp(), kSyntax, "\nPatterns:\n",
                      List(AllPatterns()), "\nProtocols:\n",
                      List(AllProtocols()), LibraryText(), kExamples);
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
  return FlagManPage({.program = "test_builder",
                      .version = std::string(version),
                      .sections = ManSections()});
}

}  // namespace distbench::test_builder
