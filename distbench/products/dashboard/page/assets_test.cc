#include "distbench/products/dashboard/page/assets.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::string_view BytesOf(absl::string_view name) {
  for (const Asset& asset : DashboardAssets()) {
    if (asset.name == name) return asset.bytes;
  }
  ADD_FAILURE() << "no asset " << name;
  return "";
}

TEST(AssetsTest, ThePageLoadsAllOthersAndNothingElse) {
  const std::string page(BytesOf("index.html"));
  size_t references = 0;
  for (const Asset& asset : DashboardAssets()) {
    EXPECT_FALSE(asset.bytes.empty()) << asset.name;
    if (asset.name == "index.html") continue;
    EXPECT_THAT(page, HasSubstr(absl::StrCat("=\"/assets/", asset.name, "\"")));
    ++references;
  }
  size_t found = 0;
  for (size_t at = page.find("/assets/"); at != std::string::npos;
       at = page.find("/assets/", at + 1)) {
    ++found;
  }
  EXPECT_EQ(found, references);
}

TEST(AssetsTest, ThePageHasNoInlineScriptsOrStyles) {
  const std::string page(BytesOf("index.html"));
  for (const char* markup : {"<script>", "<style", " style=", " onclick=",
                             "javascript:", "unsafe-inline"}) {
    EXPECT_THAT(page, Not(HasSubstr(markup)));
  }
}

TEST(AssetsTest, ScriptsMakeNoMarkup) {
  const std::string script(BytesOf("dashboard.js"));
  for (const char* call : {"innerHTML", "outerHTML", "insertAdjacentHTML",
                           "document.write", "eval(", "new Function"}) {
    EXPECT_THAT(script, Not(HasSubstr(call)));
  }
}

TEST(AssetsTest, TheLibraryHasItsLicence) {
  EXPECT_TRUE(absl::StartsWith(BytesOf("library.js"), "/*!"));
  EXPECT_THAT(std::string(BytesOf("library.js")),
              HasSubstr("The above copyright notice"));
}

}  // namespace
}  // namespace distbench::dashboard
