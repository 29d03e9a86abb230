#include "distbench/products/dashboard/page_policy.h"

#include <openssl/evp.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace distbench::dashboard {
namespace {

std::string HashSource(absl::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::StrCat(" 'sha256-",
                      absl::Base64Escape(absl::string_view(
                          reinterpret_cast<char*>(digest), size)),
                      "'");
}

// Takes the element that begins at the page's start, such as <script>, out of
// the page. Appends the hash of its content, unless that is data.
void TakeElement(absl::string_view end_tag, absl::string_view& page,
                 std::string& sources) {
  const size_t begin = std::min(page.find('>'), page.size() - 1) + 1;
  const size_t end = std::min(page.find(end_tag, begin), page.size());
  if (!absl::StrContains(page.substr(0, begin), "application/json")) {
    absl::StrAppend(&sources, HashSource(page.substr(begin, end - begin)));
  }
  page.remove_prefix(end);
}

}  // namespace

std::string PolicyOf(absl::string_view page) {
  std::string scripts;
  std::string styles;
  while (true) {
    const size_t script = page.find("<script");
    const size_t style = page.find("<style");
    const size_t next = std::min(script, style);
    if (next == absl::string_view::npos) break;
    page.remove_prefix(next);
    if (next == script) {
      TakeElement("</script>", page, scripts);
    } else {
      TakeElement("</style>", page, styles);
    }
  }
  return absl::StrCat("default-src 'none'; script-src",
                      scripts.empty() ? " 'none'" : scripts, "; style-src",
                      styles.empty() ? " 'none'" : styles,
                      "; base-uri 'none'; form-action 'none'; "
                      "frame-ancestors 'none'");
}

}  // namespace distbench::dashboard
