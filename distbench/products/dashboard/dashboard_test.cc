// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/dashboard.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/products/dashboard/report_pages.h"
#include "distbench/products/history/testing/daily_result.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(ResultQueryTest, ReadsAllParameters) {
  HttpRequest request;
  ASSERT_TRUE(
      SetTarget(
          "/api/results?search=a+b&test=t&label=l&host=h&after=-1&before=2&"
          "limit=500&cursor=c&attribute=k%3Dv%3Dw&attribute=m%3Dn",
          request)
          .ok());
  const auto query = ReadResultQuery(request);
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->search, "a b");
  EXPECT_EQ(query->test, "t");
  EXPECT_EQ(query->label, "l");
  EXPECT_EQ(query->host, "h");
  EXPECT_EQ(query->after_ms, -1);
  EXPECT_EQ(query->before_ms, 2);
  EXPECT_EQ(query->limit, 500);
  EXPECT_EQ(query->cursor, "c");
  EXPECT_THAT(query->attributes, ElementsAre(Pair("k", "v=w"), Pair("m", "n")));
}

TEST(ReportPolicyTest, KnowsScriptsAndStyles) {
  for (const std::string& policy : {ReportPolicy(), ComparisonPolicy()}) {
    EXPECT_THAT(policy, HasSubstr("script-src 'sha256-"));
    EXPECT_THAT(policy, HasSubstr("style-src 'sha256-"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  }
  EXPECT_NE(ReportPolicy(), ComparisonPolicy());
}

// A dashboard of nothing, at 127.0.0.1.
class DashboardTest : public testing::Test {
 protected:
  explicit DashboardTest(DashboardOptions options = {})
      : dashboard_(*Dashboard::Start(std::move(options))) {}

  HttpRequest Request(const std::string& method, const std::string& target,
                      const std::string& body = "") const {
    const std::vector<std::string> announcement =
        absl::StrSplit(dashboard_->Announcement(), absl::ByAnyChar("=\n"));
    HttpRequest request;
    request.method = method;
    EXPECT_TRUE(SetTarget(target, request).ok());
    request.headers = {{"Host", "127.0.0.1"},
                       {"Origin", "http://127.0.0.1"},
                       {"Content-Type", "application/json"},
                       {"X-Distbench-Token", announcement[1]}};
    request.body = body;
    request.local_address = "127.0.0.1";
    return request;
  }

  HttpResponse Ask(const std::string& method, const std::string& target,
                   const std::string& body = "") {
    return dashboard_->Answer(Request(method, target, body));
  }

  const std::unique_ptr<Dashboard> dashboard_;
};

TEST_F(DashboardTest, AnswersWithoutResults) {
  for (const char* target : {"/api/results", "/api/filters", "/api/problems",
                             "/api/series?test=a"}) {
    const HttpResponse response = Ask("GET", target);
    EXPECT_EQ(response.status, 200) << target << response.body;
    EXPECT_TRUE(nlohmann::json::accept(response.body)) << response.body;
  }
  for (const char* target :
       {"/results/0-0", "/results/0-0/file", "/compare?base=0-0&new=0-0"}) {
    const HttpResponse response = Ask("GET", target);
    EXPECT_EQ(response.status, 404) << target;
    EXPECT_THAT(response.body, HasSubstr("--results_dir"));
  }
  EXPECT_EQ(Ask("GET", "/api/trend?series=1").status, 404);
  EXPECT_EQ(Ask("GET", "/api/trend?series=a").status, 400);
  EXPECT_EQ(Ask("GET", "/api/live").status, 404);
}

TEST_F(DashboardTest, NamesWhatIsWrongInAQuery) {
  for (const char* parameter :
       {"limit=0", "limit=501", "limit=x", "after=now", "before=1.5",
        "attribute=a", "attribute=%3Dv"}) {
    const HttpResponse response =
        Ask("GET", std::string("/api/results?") + parameter);
    EXPECT_EQ(response.status, 400) << parameter;
    const std::string name(parameter, std::string(parameter).find('='));
    EXPECT_THAT(response.body, HasSubstr(name));
  }
}

TEST_F(DashboardTest, RefusesParametersThatItDoesNotKnow) {
  for (const char* path :
       {"results", "filters", "problems", "series", "trend"}) {
    const HttpResponse response =
        Ask("GET", std::string("/api/") + path + "?tset=a");
    EXPECT_EQ(response.status, 400) << path;
    EXPECT_THAT(response.body, HasSubstr("tset")) << path;
  }
  const HttpResponse twice = Ask("GET", "/api/results?test=a&test=b");
  EXPECT_EQ(twice.status, 400);
  EXPECT_THAT(twice.body, HasSubstr("only once"));
}

TEST_F(DashboardTest, ChangesNothingThatIsNotThere) {
  EXPECT_EQ(Ask("POST", "/api/notes", "{}").status, 409);
  EXPECT_EQ(Ask("POST", "/api/cancel", R"({"run": "1"})").status, 404);
  EXPECT_EQ(Ask("POST", "/api/results", "{}").status, 404);
}

TEST_F(DashboardTest, WhatIsLiveDoesNotWaitForTheIndex) {
  const auto lane = [&](const std::string& target,
                        const std::string& method = "GET") {
    return dashboard_->LaneOf(Request(method, target));
  };
  for (const char* target :
       {"/", "/assets/main.js", "/api/session", "/api/status", "/api/live"}) {
    EXPECT_EQ(lane(target), HttpLane::kInstant) << target;
  }
  EXPECT_EQ(lane("/api/cancel", "POST"), HttpLane::kInstant);
  for (const char* target : {"/api/results?search=a", "/api/series",
                             "/api/filters", "/api/problems"}) {
    EXPECT_EQ(lane(target), HttpLane::kOrdinary) << target;
  }
  EXPECT_EQ(lane("/api/notes", "POST"), HttpLane::kOrdinary);
  EXPECT_EQ(lane("/api/accepted", "POST"), HttpLane::kOrdinary);
  for (const char* target : {"/results/1-0", "/compare", "/api/trend"}) {
    EXPECT_EQ(lane(target), HttpLane::kSlow) << target;
  }
}

// ---- The page's files

TEST_F(DashboardTest, ThePageLoadsFilesThatAreThere) {
  const std::string page = Ask("GET", "/").body;
  int files = 0;
  constexpr char kFolder[] = "/assets/";
  for (size_t at = page.find(kFolder); at != std::string::npos;
       at = page.find(kFolder, at + 1)) {
    const std::string path = page.substr(at, page.find('"', at) - at);
    EXPECT_EQ(Ask("GET", path).status, 200) << path;
    ++files;
  }
  EXPECT_EQ(files, 3);
  EXPECT_EQ(Ask("GET", "/assets/other.js").status, 404);
}

TEST_F(DashboardTest, ThePageHasNoInlineScriptsOrStyles) {
  const HttpResponse page = Ask("GET", "/");
  EXPECT_THAT(page.content_type, testing::StartsWith("text/html"));
  for (const char* markup : {"<script>", "<style", " style=", " onclick=",
                             "javascript:", "unsafe-inline"}) {
    EXPECT_THAT(page.body, Not(HasSubstr(markup)));
  }
}

TEST_F(DashboardTest, ScriptsMakeNoMarkup) {
  const HttpResponse script = Ask("GET", "/assets/dashboard.js");
  EXPECT_THAT(script.content_type, testing::StartsWith("text/javascript"));
  EXPECT_THAT(script.body, HasSubstr("'use strict'"));
  for (const char* call : {"innerHTML", "outerHTML", "insertAdjacentHTML",
                           "document.write", "eval(", "new Function"}) {
    EXPECT_THAT(script.body, Not(HasSubstr(call)));
  }
}

TEST_F(DashboardTest, TheLibraryHasItsLicence) {
  const HttpResponse library = Ask("GET", "/assets/library.js");
  EXPECT_THAT(library.body, testing::StartsWith("/*!"));
  EXPECT_THAT(library.body, HasSubstr("The above copyright notice"));
}

// ---- One result

std::string FolderWithAResult() {
  std::string folder = testing::TempDir() + "/dashboardXXXXXX";
  mkdtemp(folder.data());
  TestSequenceResults results;
  *results.add_test_results() = history::MakeDailyResult(1);
  std::ofstream(folder + "/a.pb", std::ios::binary)
      << results.SerializeAsString();
  return folder;
}

class OneResultTest : public DashboardTest {
 protected:
  OneResultTest() : OneResultTest(FolderWithAResult()) {}
  ~OneResultTest() override { std::filesystem::remove_all(folder_); }

  std::string AwaitResult() {
    const absl::Time end = absl::Now() + absl::Seconds(60);
    while (absl::Now() < end) {
      const auto page = nlohmann::json::parse(Ask("GET", "/api/results").body);
      if (page["total"] == 1) return page["results"][0]["id"];
      absl::SleepFor(absl::Milliseconds(1));
    }
    ADD_FAILURE() << "the result is not in the index";
    return "";
  }

  const std::string folder_;

 private:
  explicit OneResultTest(const std::string& folder)
      : DashboardTest(
            {.results_dirs = {folder}, .index_path = folder + "/index.db"}),
        folder_(folder) {}
};

TEST_F(OneResultTest, NotesThatCannotBeKeptSayWhatToDo) {
  const std::string id = AwaitResult();
  // Changes fail where a link is in the file's place.
  std::filesystem::create_symlink("/dev/full",
                                  folder_ + "/distbench_notes.jsonl");
  for (const auto& [path, change] :
       {std::pair("/api/notes", R"("note": "new switch")"),
        std::pair("/api/accepted", R"("accepted": true)")}) {
    const HttpResponse response =
        Ask("POST", path,
            absl::StrCat(R"({"result": ")", id, R"(", )", change, "}"));
    EXPECT_EQ(response.status, 507) << response.body;
    EXPECT_THAT(response.body, HasSubstr("remove the symbolic link"));
  }
  EXPECT_EQ(
      Ask("POST", "/api/notes", R"({"result": "0-0", "note": ""})").status,
      404);
}

TEST_F(OneResultTest, FilesAndPagesThatAreTooLargeAreNotMade) {
  const std::string id = AwaitResult();
  // Sparse, and larger than what may be reported.
  std::filesystem::resize_file(folder_ + "/a.pb", kMaxReportedBytes + 1);
  for (const char* suffix : {"", ".json", "/file"}) {
    const HttpResponse response =
        Ask("GET", absl::StrCat("/results/", id, suffix));
    EXPECT_EQ(response.status, 413) << suffix;
    EXPECT_THAT(response.body, HasSubstr("use distbench report"));
  }
}

}  // namespace
}  // namespace distbench::dashboard
