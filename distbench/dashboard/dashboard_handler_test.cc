#include "distbench/dashboard/dashboard_handler.h"

#include <nlohmann/json.hpp>
#include <string>

#include "distbench/dashboard/report_pages.h"
#include "distbench/dashboard/result_query.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
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
  DashboardHandlerTest()
      : handler_({.name = "nothing", .assets = {}, .why_no_history = "no dir"},
                 {.host_names = {}, .rules = {}, .token = "secret"}) {}

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
    return handler_.Answer(request);
  }

  DashboardHandler handler_;
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

}  // namespace
}  // namespace distbench
