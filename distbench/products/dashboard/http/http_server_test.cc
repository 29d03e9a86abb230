// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/http/http_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "distbench/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

TEST(TargetTest, SplitsAndDecodesTheQueryOnly) {
  HttpRequest request;
  ASSERT_TRUE(SetTarget("/a%20b?x=1%2B+2&y&x=%C3%A4&z=a=b", request).ok());
  EXPECT_EQ(request.path, "/a%20b");
  EXPECT_THAT(request.parameters,
              ElementsAre(Pair("x", "1+ 2"), Pair("x", "\xC3\xA4"),
                          Pair("y", ""), Pair("z", "a=b")));
}

TEST(TargetTest, RefusesWhatNoPageOfOursSends) {
  for (const char* text : {"", "http://a/", "*", "/?a=%", "/?a=%4", "/?a=%zz",
                           "/?a=%00", "/?a=%0d%0aX: y", "/?%0A=1"}) {
    HttpRequest request;
    EXPECT_EQ(SetTarget(text, request).code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

constexpr absl::Duration kDeadline = absl::Seconds(60);
constexpr absl::Duration kShort = absl::Milliseconds(1);

// A client that sends and receives what it is told.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&address),
                      sizeof(address)),
              0);
  }

  // The server may have closed the connection.
  void Send(const std::string& text) {
    send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }

  // Returns what has been received by the time when it contains `text`, or the
  // connection ended.
  std::string ReceiveUntil(const std::string& text) {
    const absl::Time end = absl::Now() + kDeadline;
    while (!absl::StrContains(received_, text) && Receive(end)) {
    }
    return received_;
  }

  std::string ReceiveAll() {
    const absl::Time end = absl::Now() + kDeadline;
    while (Receive(end)) {
    }
    return received_;
  }

  void Forget() { received_.clear(); }

 private:
  bool Receive(absl::Time end) {
    pollfd waiting = {socket_.get(), POLLIN, 0};
    if (poll(&waiting, 1, absl::ToInt64Milliseconds(end - absl::Now())) <= 0) {
      ADD_FAILURE() << "nothing more came after: " << received_;
      return false;
    }
    char buffer[4096];
    const ssize_t size = recv(socket_.get(), buffer, sizeof(buffer), 0);
    if (size > 0) received_.append(buffer, size);
    return size > 0;
  }

  const base::FileDescriptor socket_;
  std::string received_;
};

// More than the kernel keeps for a client that does not read.
constexpr size_t kLargeBytes = 64 << 20;

// Answers with what it was asked. "/slow..." waits for Release(), "/large" has
// a large answer, and "/live" is a stream of the states that were set.
class EchoHandler final : public HttpHandler {
 public:
  std::optional<HttpResponse> Refuse(
      const HttpRequest& request) const override {
    if (request.Header("Host") != "stranger") return std::nullopt;
    return ErrorResponse(403, "a stranger");
  }
  HttpLane LaneOf(const HttpRequest& request) const override {
    if (absl::StartsWith(request.path, "/slow")) return HttpLane::kSlow;
    if (absl::StartsWith(request.path, "/query")) return HttpLane::kOrdinary;
    return HttpLane::kInstant;
  }

  HttpResponse Answer(const HttpRequest& request) override {
    HttpResponse response;
    if (LaneOf(request) != HttpLane::kInstant) {
      std::call_once(has_slow_once_, [this] { has_slow_request_.Notify(); });
      released_.WaitForNotification();
    }
    response.body = absl::StrCat(request.method, " ", request.path, " ",
                                 request.Header("X-Test"), " ", request.body);
    if (request.path == "/large") response.body.resize(kLargeBytes, ' ');
    if (request.path == "/live") {
      response.newest_events = [this] {
        const absl::MutexLock lock(&mutex_);
        return states_;
      };
    }
    return response;
  }

  void AwaitSlowRequest() { has_slow_request_.WaitForNotification(); }
  void Release() { released_.Notify(); }

  void SetState(size_t index, const std::string& event) {
    const absl::MutexLock lock(&mutex_);
    states_[index] = std::make_shared<const std::string>(event);
  }

 private:
  absl::Mutex mutex_;
  std::vector<HttpResponse::Event> states_ ABSL_GUARDED_BY(mutex_) = {
      std::make_shared<const std::string>("data: first\n\n"),
      std::make_shared<const std::string>("data: second\n\n")};
  std::once_flag has_slow_once_;
  absl::Notification has_slow_request_;
  absl::Notification released_;
};

std::string Get(const std::string& target) {
  return absl::StrCat("GET ", target,
                      " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
}

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpLimits limits = {}) {
    auto server = HttpServer::Start("127.0.0.1", 0, nullptr, handler_, limits);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Ask(const std::string& request) {
    RawClient client(server_->port());
    client.Send(request);
    return client.ReceiveAll();
  }

  EchoHandler handler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersAndProtectsItsAnswers) {
  Start();
  const std::string answer =
      Ask("POST /a HTTP/1.1\r\nHost: a\r\nx-test: b\r\nContent-Length: 3\r\n"
          "Connection: close\r\n\r\nxyz");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nPOST /a b xyz"));
  for (const auto& [name, value] : ProtectiveHeaders()) {
    EXPECT_THAT(answer, HasSubstr(absl::StrCat(name, ": ", value, "\r\n")));
  }
}

TEST_F(HttpServerTest, HeadHasTheSizeButNoBody) {
  Start();
  const std::string answer =
      Ask("HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, AnswersSeveralRequestsOfOneConnection) {
  Start();
  RawClient client(server_->port());
  client.Send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  client.ReceiveUntil("GET /1");
  client.Send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.ReceiveUntil("GET /2"), HasSubstr("GET /2"));
}

// A client of HTTP/1.0 reads to the end, whatever it has asked for.
TEST_F(HttpServerTest, ClosesConnectionsOfHttp10) {
  Start();
  EXPECT_THAT(Ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpServerTest, SaysWhichLimitARequestExceeds) {
  Start({.header_bytes = 1000, .body_bytes = 1000});
  const std::string filler(5000, 'x');
  EXPECT_THAT(Ask(absl::StrCat("GET / HTTP/1.1\r\nHost: a\r\nX-Test: ", filler,
                               "\r\n\r\n")),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Ask(absl::StrCat("POST / HTTP/1.1\r\nHost: a\r\n"
                               "Content-Length: 5000\r\n\r\n",
                               filler)),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask(absl::StrCat("POST / HTTP/1.1\r\nHost: a\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n1388\r\n",
                               filler, "\r\n0\r\n\r\n")),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, SaysWhatIsWrongWithATarget) {
  Start();
  const std::string answer = Ask(Get("/?a=%zz"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer, HasSubstr("hexadecimal"));
}

TEST_F(HttpServerTest, WhoIsRefusedDoesNotLearnWhetherTheTargetIsRight) {
  Start();
  for (const char* target : {"/", "/?a=%zz", "nowhere"}) {
    EXPECT_THAT(Ask(absl::StrCat("GET ", target,
                                 " HTTP/1.1\r\nHost: stranger\r\n\r\n")),
                StartsWith("HTTP/1.1 403 "))
        << target;
  }
}

TEST_F(HttpServerTest, SlowClientsDelayNobodyAndAreClosed) {
  Start({.connections = 4, .request_time = absl::Milliseconds(500)});
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(std::make_unique<RawClient>(server_->port()));
    slow.back()->Send("GET / HTTP/1.1\r\nHo");
  }
  EXPECT_THAT(Ask(Get("/a")), HasSubstr("GET /a"));
  for (const auto& client : slow) EXPECT_EQ(client->ReceiveAll(), "");
}

TEST_F(HttpServerTest, SlowRequestsLeaveThreadsToOthersAndAreLimited) {
  Start({.waiting_slow_requests = 1});
  RawClient slow(server_->port());
  slow.Send(Get("/slow"));
  handler_.AwaitSlowRequest();
  const std::string refused = Ask(Get("/slow_too"));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("Retry-After"));
  EXPECT_THAT(Ask(Get("/a")), HasSubstr("GET /a"));
  handler_.Release();
  EXPECT_THAT(slow.ReceiveAll(), HasSubstr("GET /slow"));
}

TEST_F(HttpServerTest, LargeAnswersThatNobodyReadsDelayNoSmallOnes) {
  Start({.response_bytes = 1});
  RawClient idle(server_->port());
  idle.Send(Get("/large"));
  idle.ReceiveUntil("GET /large");
  EXPECT_THAT(Ask(Get("/large")), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Ask(Get("/a")), HasSubstr("GET /a"));
  RawClient follower(server_->port());
  follower.Send(Get("/live"));
  EXPECT_THAT(follower.ReceiveUntil("first"), HasSubstr("data: first"));
}

TEST_F(HttpServerTest, StreamsHaveTheNewestEventsAndThenWhatChanges) {
  Start({.event_interval = kShort});
  handler_.SetState(0, "data: 1\n\n");
  RawClient client(server_->port());
  client.Send(Get("/live"));
  const std::string begin = client.ReceiveUntil("second");
  EXPECT_THAT(begin, HasSubstr("GET /live"));
  EXPECT_THAT(begin, HasSubstr("data: 1\n\ndata: second\n\n"));
  EXPECT_THAT(begin, Not(HasSubstr("Content-Length")));
  client.Forget();
  handler_.SetState(0, "data: 2\n\n");
  // What has not changed is not sent again.
  EXPECT_EQ(client.ReceiveUntil("2\n\n"), "data: 2\n\n");
}

TEST_F(HttpServerTest, StreamsWithoutEventsShowThatTheyLive) {
  Start({.event_interval = kShort, .heartbeat_interval = kShort});
  RawClient client(server_->port());
  client.Send(Get("/live"));
  EXPECT_THAT(client.ReceiveUntil(": heartbeat"), HasSubstr(": heartbeat\n\n"));
}

TEST_F(HttpServerTest, HeadOfAStreamEnds) {
  Start();
  EXPECT_THAT(
      Ask("HEAD /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
      testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, OrdinaryRequestsThatWaitDelayNoInstantOnes) {
  Start();
  std::vector<std::unique_ptr<RawClient>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(std::make_unique<RawClient>(server_->port()));
    waiting.back()->Send(Get("/query"));
  }
  handler_.AwaitSlowRequest();
  EXPECT_THAT(Ask(Get("/a")), HasSubstr("GET /a"));
  handler_.Release();
  for (const auto& client : waiting) {
    EXPECT_THAT(client->ReceiveAll(), HasSubstr("GET /query"));
  }
}

TEST_F(HttpServerTest, LimitsFollowersAndFreesTheirPlaces) {
  Start({.event_streams = 2, .event_interval = kShort});
  auto first = std::make_unique<RawClient>(server_->port());
  RawClient second(server_->port());
  for (RawClient* client : {first.get(), &second}) {
    client->Send(Get("/live"));
    client->ReceiveUntil("GET /live");
  }
  EXPECT_THAT(Ask(Get("/live")), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Ask(Get("/a")), HasSubstr("GET /a"));
  first = nullptr;
  const absl::Time end = absl::Now() + kDeadline;
  std::string answer;
  do {
    RawClient third(server_->port());
    third.Send(Get("/live"));
    answer = third.ReceiveUntil("\r\n\r\n");
  } while (!absl::StartsWith(answer, "HTTP/1.1 200 ") && absl::Now() < end);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, EndsWhileClientsFollow) {
  Start();
  RawClient client(server_->port());
  client.Send(Get("/live"));
  client.ReceiveUntil("GET /live");
  const absl::Time begin = absl::Now();
  server_ = nullptr;
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
  client.ReceiveAll();
}

TEST_F(HttpServerTest, SaysThatAPortIsInUse) {
  Start();
  const auto second =
      HttpServer::Start("127.0.0.1", server_->port(), nullptr, handler_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
}

}  // namespace
}  // namespace distbench::dashboard
