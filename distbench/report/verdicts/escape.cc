#include "distbench/report/verdicts/escape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/base/json.h"

namespace distbench::report {
namespace {

// The text as valid UTF-8 without control characters.
std::string PrintableText(absl::string_view text) {
  std::string printable = base::ValidUtf8(text);
  for (char& c : printable) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return printable;
}

}  // namespace

std::string MarkdownText(absl::string_view text) {
  // A comment splits what GitHub would make a link of.
  return absl::StrReplaceAll(PrintableText(text), {{"&", "&amp;"},
                                                   {"<", "&lt;"},
                                                   {"$", "&#36;"},
                                                   {"\\", "\\\\"},
                                                   {"`", "\\`"},
                                                   {"*", "\\*"},
                                                   {"_", "\\_"},
                                                   {"~", "\\~"},
                                                   {"[", "\\["},
                                                   {"]", "\\]"},
                                                   {"|", "\\|"},
                                                   {"@", "@<!-- -->"},
                                                   {"#", "#<!-- -->"},
                                                   {"://", ":<!-- -->//"},
                                                   {"www.", "www<!-- -->."}});
}

std::string MarkdownTable(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    text += '|';
    for (const std::string& cell : row) {
      absl::StrAppend(&text, " ", MarkdownText(cell), " |");
    }
    text += '\n';
    if (&row != &rows.front()) continue;
    text += '|';
    for (size_t i = 0; i < row.size(); ++i) text += "---|";
    text += '\n';
  }
  return text;
}

std::string XmlText(absl::string_view text) {
  // XML 1.0 does not have the last two of the first 65536 characters.
  return absl::StrReplaceAll(PrintableText(text), {{"&", "&amp;"},
                                                   {"<", "&lt;"},
                                                   {">", "&gt;"},
                                                   {"\"", "&quot;"},
                                                   {"\xef\xbf\xbe", " "},
                                                   {"\xef\xbf\xbf", " "}});
}

}  // namespace distbench::report
