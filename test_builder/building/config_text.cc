#include "test_builder/building/config_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace distbench::test_builder {
namespace {

using google::protobuf::FieldDescriptor;

constexpr size_t kLineWidth = 80;

// A message of the printed text: its name, after the margin, and the lines of
// its fields.
struct Block {
  std::string name;
  std::vector<std::string> lines;
};

absl::string_view WithoutMargin(absl::string_view line) {
  return absl::StripLeadingAsciiWhitespace(line);
}

// A column of entries that map names to plain values is easier to read if each
// is on one line, whatever its length.
bool IsPlainMapEntry(const Block& block) {
  return block.lines.size() == 2 &&
         absl::StartsWith(WithoutMargin(block.lines[0]), "key: ") &&
         absl::StartsWith(WithoutMargin(block.lines[1]), "value: ");
}

absl::string_view Comment(const Block& block) {
  const bool answers_at_once =
      WithoutMargin(block.name) == "action_lists" &&
      std::none_of(
          block.lines.begin(), block.lines.end(), [](absl::string_view line) {
            return absl::StartsWith(WithoutMargin(line), "action_names: ");
          });
  return answers_at_once ? "  # no actions: answered at once" : "";
}

// Returns "name { contents }" on one line if it fits.
std::vector<std::string> Fold(const Block& block) {
  std::string folded = absl::StrCat(block.name, " { ");
  for (const std::string& line : block.lines) {
    absl::StrAppend(&folded, WithoutMargin(line), " ");
  }
  folded += "}";
  if (folded.size() <= kLineWidth || IsPlainMapEntry(block)) {
    return {absl::StrCat(folded, Comment(block))};
  }
  std::vector<std::string> lines = {absl::StrCat(block.name, " {")};
  lines.insert(lines.end(), block.lines.begin(), block.lines.end());
  const size_t margin = block.name.size() - WithoutMargin(block.name).size();
  lines.push_back(absl::StrCat(std::string(margin, ' '), "}"));
  return lines;
}

// Folds the messages of a printed text, the inner ones first.
std::vector<std::string> FoldAll(absl::string_view text) {
  std::vector<Block> open(1);
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::ConsumeSuffix(&line, " {")) {
      open.push_back({std::string(line), {}});
    } else if (WithoutMargin(line) == "}") {
      const std::vector<std::string> folded = Fold(open.back());
      open.pop_back();
      std::vector<std::string>& lines = open.back().lines;
      lines.insert(lines.end(), folded.begin(), folded.end());
    } else {
      open.back().lines.emplace_back(line);
    }
  }
  return open.front().lines;
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

int Rank(const FieldDescriptor* field) {
  const auto* first = std::find(std::begin(kFirstFields),
                                std::end(kFirstFields), field->number());
  return first == std::end(kFirstFields)
             ? static_cast<int>(std::size(kFirstFields)) + field->number()
             : static_cast<int>(first - std::begin(kFirstFields));
}

bool IsShellSafe(unsigned char c) {
  return absl::ascii_isalnum(c) ||
         absl::StrContains("_-+=:,./@%", std::string(1, c));
}

std::string ShellQuoted(const std::string& argument) {
  if (!argument.empty() &&
      std::all_of(argument.begin(), argument.end(), IsShellSafe)) {
    return argument;
  }
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      // A line end would end the comment.
      quoted += c == '\n' ? ' ' : c;
    }
  }
  return quoted + "'";
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
    const google::protobuf::Reflection& reflection = *rest.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(rest, &fields);
    std::stable_sort(fields.begin(), fields.end(),
                     [](const FieldDescriptor* a, const FieldDescriptor* b) {
                       return Rank(a) < Rank(b);
                     });
    std::string printed;
    for (const FieldDescriptor* field : fields) {
      DistributedSystemDescription part;
      reflection.SwapFields(&rest, &part, {field});
      std::string lines;
      printer.PrintToString(part, &lines);
      printed += lines;
    }
    absl::StrAppend(&text, "tests {\n", absl::StrJoin(FoldAll(printed), "\n"),
                    printed.empty() ? "" : "\n", "}\n");
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
