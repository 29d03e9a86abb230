#include "distbench/report/html/page_template.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace distbench {

std::string ScriptSafe(absl::string_view json) {
  return absl::StrReplaceAll(json, {{"<", "\\u003c"}});
}

std::string FillIn(
    absl::string_view page,
    const std::vector<std::pair<absl::string_view, absl::string_view>>&
        contents) {
  std::string filled;
  for (const auto& [name, content] : contents) {
    const std::string mark = absl::StrCat("{{", name, "}}");
    const size_t position = page.find(mark);
    absl::StrAppend(&filled, page.substr(0, position), content);
    page.remove_prefix(position + mark.size());
  }
  absl::StrAppend(&filled, page);
  return filled;
}

}  // namespace distbench
