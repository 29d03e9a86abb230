// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/building/config_text.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace distbench::test_builder {
namespace {

constexpr size_t kLineWidth = 80;

using Lines = std::vector<std::string>;

absl::string_view WithoutMargin(absl::string_view line) {
  return absl::StripLeadingAsciiWhitespace(line);
}

bool AnyBeginsWith(const Lines& lines, absl::string_view begin) {
  return absl::c_any_of(lines, [begin](absl::string_view line) {
    return absl::StartsWith(WithoutMargin(line), begin);
  });
}

// Returns the message "name { contents }" on one line if it fits, and entries
// that map names to plain values, whose column is easier to read so, whatever
// their length. `name` has the margin.
Lines FoldMessage(absl::string_view name, const Lines& contents) {
  std::string folded = absl::StrCat(name, " { ");
  for (const std::string& line : contents) {
    absl::StrAppend(&folded, WithoutMargin(line), " ");
  }
  folded += "}";
  const bool is_plain_entry = contents.size() == 2 &&
                              AnyBeginsWith(contents, "key: ") &&
                              AnyBeginsWith(contents, "value: ");
  if (folded.size() <= kLineWidth || is_plain_entry) {
    const bool is_without_actions = WithoutMargin(name) == "action_lists" &&
                                    !AnyBeginsWith(contents, "action_names: ");
    if (is_without_actions) folded += "  # no actions: answered at once";
    return {folded};
  }
  Lines lines = {absl::StrCat(name, " {")};
  absl::c_copy(contents, std::back_inserter(lines));
  const size_t margin = name.size() - WithoutMargin(name).size();
  lines.push_back(absl::StrCat(std::string(margin, ' '), "}"));
  return lines;
}

// Folds the messages of a printed text, up to the end of the one that it is
// within, the inner ones first. Removes the lines that it reads.
Lines Fold(absl::Span<const absl::string_view>& text) {
  Lines folded;
  while (!text.empty()) {
    absl::string_view line = text.front();
    text.remove_prefix(1);
    if (WithoutMargin(line) == "}") break;
    if (absl::ConsumeSuffix(&line, " {")) {
      absl::c_copy(FoldMessage(line, Fold(text)), std::back_inserter(folded));
    } else {
      folded.emplace_back(line);
    }
  }
  return folded;
}

// Fields that readers look for first, in order; other fields follow.
constexpr int kFirstFields[] = {
    DistributedSystemDescription::kNameFieldNumber,
    DistributedSystemDescription::kAttributesFieldNumber,
    DistributedSystemDescription::kDefaultProtocolFieldNumber,
    DistributedSystemDescription::kProtocolDriverOptionsFieldNumber,
    DistributedSystemDescription::kServicesFieldNumber,
    DistributedSystemDescription::kRpcDescriptionsFieldNumber,
    DistributedSystemDescription::kPayloadDescriptionsFieldNumber,
    DistributedSystemDescription::kActionListsFieldNumber,
    DistributedSystemDescription::kActionsFieldNumber,
};

bool IsShellSafe(unsigned char c) {
  return absl::ascii_isalnum(c) ||
         absl::StrContains("_-+=:,./@%", std::string(1, c));
}

std::string ShellQuoted(const std::string& argument) {
  if (!argument.empty() && absl::c_all_of(argument, IsShellSafe)) {
    return argument;
  }
  // A line end would end the comment.
  return absl::StrCat(
      "'", absl::StrReplaceAll(argument, {{"'", "'\\''"}, {"\n", " "}}), "'");
}

}  // namespace

std::string ProducedBy(absl::Span<const std::string> arguments) {
  return absl::StrCat("# produced by test_builder ",
                      absl::StrJoin(arguments, " ",
                                    [](std::string* out, const std::string& s) {
                                      absl::StrAppend(out, ShellQuoted(s));
                                    }),
                      "\n");
}

std::string ConfigText(absl::Span<const DistributedSystemDescription> tests) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetInitialIndentLevel(1);
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  for (DistributedSystemDescription rest : tests) {
    std::string printed;
    const auto print = [&](const DistributedSystemDescription& part) {
      std::string lines;
      printer.PrintToString(part, &lines);
      printed += lines;
    };
    for (const int number : kFirstFields) {
      DistributedSystemDescription part;
      rest.GetReflection()->SwapFields(
          &rest, &part, {rest.GetDescriptor()->FindFieldByNumber(number)});
      print(part);
    }
    print(rest);
    const std::vector<absl::string_view> lines =
        absl::StrSplit(printed, '\n', absl::SkipEmpty());
    absl::Span<const absl::string_view> unread = lines;
    absl::StrAppend(&text, "tests {\n", absl::StrJoin(Fold(unread), "\n"),
                    lines.empty() ? "" : "\n", "}\n");
  }
  return text;
}

std::string ConfigFile(absl::string_view header,
                       absl::Span<const DistributedSystemDescription> tests,
                       config::ConfigFormat format) {
  if (format == config::ConfigFormat::kText) {
    return absl::StrCat(header, ConfigText(tests));
  }
  TestSequence sequence;
  for (const DistributedSystemDescription& test : tests) {
    *sequence.add_tests() = test;
  }
  return absl::StrCat(format == config::ConfigFormat::kJson ? "" : header,
                      config::ToFormat(sequence, format));
}

}  // namespace distbench::test_builder
