// Puts data and scripts into pages.

#ifndef DISTBENCH_REPORT_HTML_PAGE_TEMPLATE_H_
#define DISTBENCH_REPORT_HTML_PAGE_TEMPLATE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench {

// Escapes JSON so that it cannot end the script element that contains it.
std::string ScriptSafe(absl::string_view json);

// Replaces "{{name}}" of the page by its content, for each name once, in the
// order of the page. Inserted contents are not searched for further names.
std::string FillIn(
    absl::string_view page,
    const std::vector<std::pair<absl::string_view, absl::string_view>>&
        contents);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_HTML_PAGE_TEMPLATE_H_
