// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/access.h"

#include <cstddef>
#include <string>
#include <utility>

#include "distbench/products/dashboard/report_pages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using testing::HasSubstr;

AccessGuard WithToken() { return AccessGuard({"host1"}, {}, {}); }

HttpRequest Request(const std::string& method, HttpHeaders headers) {
  HttpRequest request;
  request.method = method;
  request.headers = std::move(headers);
  request.local_address = "127.0.0.1";
  return request;
}

HttpHeaders OwnPost(const std::string& scheme, const std::string& token) {
  return {{"Host", "host1:80"},
          {"Origin", scheme + "://host1:80"},
          {"Content-Type", "application/json; charset=utf-8"},
          {"X-Distbench-Token", token}};
}

// 200 if the request is allowed.
int StatusFor(const AccessGuard& guard, const HttpRequest& request) {
  const auto refusal = guard.Refuse(request);
  return refusal.has_value() ? refusal->status : 200;
}

TEST(AccessTest, KnowsItsOwnHosts) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:80", "localhost", "HOST1"}) {
    EXPECT_EQ(StatusFor(WithToken(), Request("GET", {{"Host", host}})), 200)
        << host;
  }
  for (const char* host : {"", "10.0.0.1", "host2", "host1.evil", "[::1]"}) {
    EXPECT_EQ(StatusFor(WithToken(), Request("GET", {{"Host", host}})), 403)
        << host;
  }
  HttpRequest ipv6 = Request("GET", {{"Host", "[::1]:80"}});
  ipv6.local_address = "::1";
  EXPECT_EQ(StatusFor(WithToken(), ipv6), 200);
  HttpRequest remote = Request("GET", {{"Host", "localhost"}});
  remote.local_address = "10.0.0.7";
  EXPECT_EQ(StatusFor(WithToken(), remote), 403);
}

TEST(AccessTest, APostNeedsAllOfItsHeaders) {
  const AccessGuard guard = WithToken();
  const HttpHeaders complete = OwnPost("http", guard.token());
  EXPECT_EQ(StatusFor(guard, Request("POST", complete)), 200);
  for (size_t i = 0; i < complete.size(); ++i) {
    HttpHeaders headers = complete;
    headers.erase(headers.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_NE(StatusFor(guard, Request("POST", headers)), 200) << i;
  }
}

TEST(AccessTest, AccessIsDecidedBeforeTheRestOfTheRequest) {
  const AccessGuard guard = WithToken();
  EXPECT_EQ(StatusFor(guard, Request("PUT", {{"Host", "host2"}})), 403);
  EXPECT_EQ(StatusFor(guard, Request("PUT", {{"Host", "host1"}})), 405);
  HttpHeaders text = OwnPost("http", guard.token());
  text[2].second = "text/plain";
  EXPECT_EQ(StatusFor(guard, Request("POST", text)), 415);
  text[3].second = "wrong";
  EXPECT_EQ(StatusFor(guard, Request("POST", text)), 403);
}

TEST(AccessTest, TwiceTheSameHeaderIsNoValidOne) {
  const AccessGuard guard = WithToken();
  HttpHeaders headers = OwnPost("http", guard.token());
  headers.emplace_back("Origin", "http://evil");
  EXPECT_EQ(StatusFor(guard, Request("POST", headers)), 403);
}

TEST(AccessTest, CertificatesDecideInsteadOfTokens) {
  const AccessGuard guard({"host1"},
                          {.ca = "ca.pem", .cert = "cert.pem", .key = "key"},
                          {.submit = {"alice"}, .node = {}});
  EXPECT_EQ(guard.token(), "");
  HttpRequest request = Request("POST", OwnPost("https", ""));
  request.caller_names = {"bob"};
  EXPECT_EQ(StatusFor(guard, request), 403);
  request.caller_names = {"bob", "alice"};
  EXPECT_EQ(StatusFor(guard, request), 200);
}

TEST(AccessTest, TokensAreLongAndDiffer) {
  EXPECT_EQ(WithToken().token().size(), 32);
  EXPECT_NE(WithToken().token(), WithToken().token());
}

TEST(PagePolicyTest, AllowsThePagesOwnScriptsAndStyles) {
  const std::string policy = PolicyOf(
      "<style>b{}</style><script type=\"application/json\">{}</script>"
      "<script>let a = '<style>';</script>");
  // From sha256sum | xxd -r -p | base64.
  EXPECT_THAT(
      policy,
      HasSubstr(
          "style-src 'sha256-7yqHVAesot11p6HczDsgKRipvI5UPgs97z80zNXlans='; "));
  EXPECT_THAT(
      policy,
      HasSubstr("script-src "
                "'sha256-GpC3AQyLlsJwzDyJENVNOCctoJ+Z5bS0dgoDHyexVaY='; "));
}

TEST(PagePolicyTest, SurvivesBrokenPages) {
  for (const char* page : {"", "<script", "<script>", "<style>a", "<styles"}) {
    EXPECT_THAT(PolicyOf(page), HasSubstr("default-src 'none'")) << page;
  }
}

}  // namespace
}  // namespace distbench::dashboard
