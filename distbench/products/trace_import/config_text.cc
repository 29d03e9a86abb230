#include "distbench/products/trace_import/config_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/text_format.h"

namespace distbench::trace_import {
namespace {

std::string Indented(absl::string_view text, absl::string_view prefix) {
  std::string lines = absl::StrCat(
      prefix, absl::StrReplaceAll(text, {{"\n", absl::StrCat("\n", prefix)}}));
  if (!text.empty() && text.back() == '\n') {
    lines.resize(lines.size() - prefix.size());
  }
  return lines;
}

void AddSentences(absl::string_view title,
                  const std::vector<std::string>& sentences,
                  std::string& text) {
  absl::StrAppend(&text, "#\n# ", title, ":\n");
  for (const std::string& sentence : sentences) {
    absl::StrAppend(&text, "# - ", sentence, "\n");
  }
}

}  // namespace

std::string ConfigText(const Provenance& from,
                       const std::vector<ConfigPart>& parts) {
  std::string text = "# Made from traces by distbench import.\n";
  AddSentences("In the data", from.in_the_data, text);
  AddSentences("Inferred", from.inferred, text);
  AddSentences("Invented", from.invented, text);
  absl::StrAppend(&text, "tests {\n");
  for (const ConfigPart& part : parts) {
    if (!part.comment.empty()) {
      absl::StrAppend(&text, "\n", Indented(part.comment, "  # "), "\n");
    }
    std::string content;
    google::protobuf::TextFormat::PrintToString(part.content, &content);
    absl::StrAppend(&text, Indented(content, "  "));
  }
  return absl::StrCat(text, "}\n");
}

}  // namespace distbench::trace_import
