#include "distbench/products/dashboard/dashboard_handler.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
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

Target TargetOf(const std::string& text) { return *SplitTarget(text); }

TEST(ResultQueryTest, ReadsAllParameters) {
  const auto query = ReadResultQuery(TargetOf(
      "/api/results?search=a+b&test=t&label=l&host=h&after=-1&before=2&"
      "limit=500&cursor=c&attribute=k%3Dv%3Dw&attribute=m%3Dn"));
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

TEST(ResultQueryTest, NamesWhatIsWrong) {
  for (const char* parameter :
       {"limit=0", "limit=501", "limit=x", "after=now", "before=1.5",
        "attribute=a", "attribute=%3Dv", "tset=a", "test=a&test=b"}) {
    const auto query =
        ReadResultQuery(TargetOf(std::string("/api/results?") + parameter));
    ASSERT_EQ(query.status().code(), absl::StatusCode::kInvalidArgument)
        << parameter;
    const std::string name(parameter, std::string(parameter).find('='));
    EXPECT_THAT(std::string(query.status().message()), HasSubstr(name));
  }
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
class DashboardHandlerTest : public testing::Test {
 protected:
  DashboardHandlerTest() {
    handler_.emplace(
        DashboardContents{
            .name = "nothing", .assets = {}, .why_no_history = "no dir"},
        Access());
  }

  static AccessOptions Access() {
    return {.host_names = {}, .rules = {}, .token = "secret"};
  }

  HttpResponse Ask(const std::string& method, const std::string& target,
                   const std::string& body = "") {
    HttpRequest request;
    request.method = method;
    request.target = target;
    request.headers = {{"Host", "127.0.0.1"},
                       {"Origin", "http://127.0.0.1"},
                       {"Content-Type", "application/json"},
                       {"X-Distbench-Token", "secret"}};
    request.body = body;
    request.local_address = "127.0.0.1";
    return handler_->Answer(request);
  }

  std::optional<DashboardHandler> handler_;
};

TEST_F(DashboardHandlerTest, AnswersWithoutResults) {
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
    EXPECT_THAT(response.body, HasSubstr("no dir"));
  }
  EXPECT_EQ(Ask("GET", "/api/trend?series=1").status, 400);
  EXPECT_EQ(Ask("GET", "/api/live").status, 404);
}

TEST_F(DashboardHandlerTest, RefusesParametersThatItDoesNotKnow) {
  for (const char* path :
       {"results", "filters", "problems", "series", "trend"}) {
    const HttpResponse response =
        Ask("GET", std::string("/api/") + path + "?tset=a");
    EXPECT_EQ(response.status, 400) << path;
    EXPECT_THAT(response.body, HasSubstr("tset")) << path;
  }
}

TEST_F(DashboardHandlerTest, ChangesNothingThatIsNotThere) {
  EXPECT_EQ(Ask("POST", "/api/notes", "{}").status, 409);
  EXPECT_EQ(Ask("POST", "/api/cancel", R"({"run": "1"})").status, 404);
  EXPECT_EQ(Ask("POST", "/api/results", "{}").status, 404);
}

TEST_F(DashboardHandlerTest, WhatIsLiveDoesNotWaitForTheIndex) {
  const auto lane = [&](const std::string& target) {
    HttpRequest request;
    request.target = target;
    return handler_->LaneOf(request);
  };
  for (const char* target : {"/", "/assets/main.js", "/api/session",
                             "/api/status", "/api/live", "/api/cancel"}) {
    EXPECT_EQ(lane(target), HttpLane::kInstant) << target;
  }
  for (const char* target : {"/api/results?search=a", "/api/series",
                             "/api/filters", "/api/problems", "/api/notes"}) {
    EXPECT_EQ(lane(target), HttpLane::kOrdinary) << target;
  }
  for (const char* target : {"/results/1-0", "/compare", "/api/trend"}) {
    EXPECT_EQ(lane(target), HttpLane::kSlow) << target;
  }
}

// The same with one result, whose notes are on a full disk.
class FullDiskTest : public DashboardHandlerTest {
 protected:
  FullDiskTest() {
    TestSequenceResults results;
    *results.add_test_results() = history::MakeDailyResult(1);
    std::ofstream(folder_ + "/a.pb", std::ios::binary)
        << results.SerializeAsString();
    source_ = *history::OpenResultFolder(folder_);
    // Every write to this device fails with ENOSPC.
    index_ = *history::HistoryIndex::Open(
        {.index_path = "", .notes_path = "/dev/full"});
    const auto never = [] { return false; };
    EXPECT_TRUE(index_->Synchronise(*source_, *source_->List(), never).ok());
    keeper_.emplace(*index_, *source_, IndexKeeper::Options());
    handler_.emplace(DashboardContents{.name = "full",
                                       .assets = {},
                                       .index = index_.get(),
                                       .results = source_.get(),
                                       .keeper = &*keeper_,
                                       .why_no_history = ""},
                     Access());
  }
  ~FullDiskTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = [] {
    std::string pattern = testing::TempDir() + "/dashboardXXXXXX";
    return std::string(mkdtemp(pattern.data()));
  }();
  std::unique_ptr<history::ResultSource> source_;
  std::unique_ptr<history::HistoryIndex> index_;
  std::optional<IndexKeeper> keeper_;
};

TEST_F(FullDiskTest, NotesThatCannotBeKeptSayWhatToDo) {
  const std::string id = index_->List({})->results(0).id();
  for (const auto& [path, change] :
       {std::pair("/api/notes", R"("note": "new switch")"),
        std::pair("/api/accepted", R"("accepted": true)")}) {
    const HttpResponse response =
        Ask("POST", path,
            absl::StrCat(R"({"result": ")", id, R"(", )", change, "}"));
    EXPECT_EQ(response.status, 507) << response.body;
    EXPECT_THAT(response.body, HasSubstr("No space left on device"));
    EXPECT_THAT(response.body, HasSubstr("make room"));
  }
  EXPECT_EQ(
      Ask("POST", "/api/notes", R"({"result": "0-0", "note": ""})").status,
      404);
}

}  // namespace
}  // namespace distbench::dashboard
