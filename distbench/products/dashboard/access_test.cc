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

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

AccessOptions WithToken() {
  AccessOptions options;
  options.host_names = {"host1"};
  options.token = kToken;
  return options;
}

HttpRequest Request(const std::string& method, HttpHeaders headers) {
  HttpRequest request;
  request.method = method;
  request.headers = std::move(headers);
  request.local_address = "127.0.0.1";
  return request;
}

HttpHeaders OwnPost() {
  return {{"Host", "host1:80"},
          {"Origin", "http://host1:80"},
          {"Content-Type", "application/json; charset=utf-8"},
          {"X-Distbench-Token", kToken}};
}

// 200 if the request is allowed.
int StatusFor(const AccessOptions& options, const HttpRequest& request) {
  const auto refusal = AccessGuard(options).Refuse(request);
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
  EXPECT_EQ(StatusFor(WithToken(), Request("POST", OwnPost())), 200);
  for (size_t i = 0; i < OwnPost().size(); ++i) {
    HttpHeaders headers = OwnPost();
    headers.erase(headers.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_NE(StatusFor(WithToken(), Request("POST", headers)), 200) << i;
  }
}

TEST(AccessTest, TwiceTheSameHeaderIsNoValidOne) {
  HttpHeaders headers = OwnPost();
  headers.emplace_back("Origin", "http://evil");
  EXPECT_EQ(StatusFor(WithToken(), Request("POST", headers)), 403);
}

TEST(AccessTest, CertificatesDecideInsteadOfTokens) {
  AccessOptions options;
  options.host_names = {"host1"};
  options.has_client_certificates = true;
  options.rules.submit = {"alice"};
  HttpRequest request = Request("POST", OwnPost());
  request.caller_names = {"bob"};
  EXPECT_EQ(StatusFor(options, request), 403);
  request.caller_names = {"bob", "alice"};
  EXPECT_EQ(StatusFor(options, request), 200);
}

TEST(AccessTest, TokensAreLongAndDiffer) {
  EXPECT_EQ(DrawToken().size(), 32);
  EXPECT_NE(DrawToken(), DrawToken());
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
