#include "distbench/report/html/page_template.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/report/html/page_files.h"

namespace distbench::report {
namespace {

// Replaces "{{name}}" of the page by its content, for each name once, in the
// order of the page. Inserted contents are not searched for further names.
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

// JSON that cannot end the script element that contains it.
std::string ScriptElement(const PageData& data) {
  return absl::StrCat("<script type=\"application/json\" id=\"", data.id, "\">",
                      absl::StrReplaceAll(data.json, {{"<", "\\u003c"}}),
                      "</script>\n");
}

}  // namespace

std::string RenderPage(const Page& page) {
  std::string data;
  for (const PageData& part : page.data) data += ScriptElement(part);
  // In page order.
  return FillIn(kFrameHtml, {{"title", page.title},
                             {"style", page.style},
                             {"body", page.body},
                             {"data", data},
                             {"library_licence", kLibraryLicenceTxt},
                             {"library", kChartMinJs},
                             {"script", page.script}});
}

}  // namespace distbench::report
