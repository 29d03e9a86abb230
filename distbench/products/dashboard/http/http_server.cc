// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/http/http_server.h"

#include <netinet/in.h>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/threads.h"
#include "glog/logging.h"

namespace distbench::dashboard {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::use_awaitable;
using net::ip::tcp;

using TlsStream = beast::ssl_stream<beast::tcp_stream>;
using RawResponse = http::response<http::string_body>;
using RequestParser = http::request_parser<http::string_body>;

constexpr int kThreadsPerLane = 2;

// Responses up to this size are sent even while large ones are many: the number
// of connections limits them.
constexpr int64_t kSmallResponseBytes = 64 << 10;

// How long the server accepts nothing after an error, such as too many files.
constexpr absl::Duration kAcceptPause = absl::Milliseconds(100);

// How long a connection that is given up may still send what nobody reads, so
// that its client reads the reason before it is cut off.
constexpr absl::Duration kLingerTime = absl::Seconds(2);

constexpr char kHeartbeat[] = ": heartbeat\n\n";

// ---- Beast's messages and ours ----------------------------------------------

std::string ToText(beast::string_view text) {
  return std::string(text.data(), text.size());
}

// Such as "127.0.0.1", also for "::ffff:127.0.0.1".
std::string LocalAddress(const tcp::socket& socket) {
  error_code error;
  const net::ip::address address = socket.local_endpoint(error).address();
  if (error) return "";
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) {
    return address.to_string();
  }
  return net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6())
      .to_string();
}

// What a response must be like, beyond what the handler says.
struct ResponseForm {
  unsigned version = 11;  // of HTTP/1.1
  bool keep_alive = false;
  bool with_body = true;
};

HttpRequest ToRequest(RequestParser::value_type raw) {
  HttpRequest request;
  request.method = ToText(raw.method_string());
  request.target = ToText(raw.target());
  for (const auto& field : raw) {
    request.headers.emplace_back(ToText(field.name_string()),
                                 ToText(field.value()));
  }
  request.body = std::move(raw.body());
  return request;
}

RawResponse ToRaw(HttpResponse response, const ResponseForm& form) {
  RawResponse raw(static_cast<http::status>(response.status), form.version);
  for (const auto& [name, value] : ProtectiveHeaders()) raw.set(name, value);
  for (const auto& [name, value] : response.headers) raw.set(name, value);
  raw.set(http::field::content_type, response.content_type);
  raw.keep_alive(form.keep_alive && !response.newest_events);
  if (!response.newest_events) raw.content_length(response.body.size());
  if (form.with_body) raw.body() = std::move(response.body);
  return raw;
}

// Whether what was read is wrong, rather than the connection at its end.
bool IsBadRequest(const error_code& error) {
  return error.category() ==
             http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream &&
         error != http::error::partial_message;
}

HttpResponse BadRequestResponse(const error_code& error) {
  if (error == http::error::body_limit) {
    return ErrorResponse(413, "the request's body is too large; send less");
  }
  if (error == http::error::header_limit) {
    return ErrorResponse(431, "the request's headers are too large; send less");
  }
  return ErrorResponse(400, "this is not a request of HTTP/1.1");
}

HttpResponse BusyResponse(absl::string_view with_what) {
  HttpResponse response = ErrorResponse(
      503, absl::StrCat("the server is busy with ", with_what, "; try again"));
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

// ---- Resources --------------------------------------------------------------

// Threads for one kind of request.
struct Lane {
  int64_t max_waiting;
  int64_t waiting = 0;  // used by the loop's thread
  net::thread_pool threads{kThreadsPerLane};
};

// Counts something for as long as it lives.
class Counted {
 public:
  explicit Counted(int64_t& counter, int64_t amount = 1)
      : counter_(&counter), amount_(amount) {
    *counter_ += amount_;
  }
  Counted(Counted&& other) noexcept
      : counter_(other.counter_), amount_(std::exchange(other.amount_, 0)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() { *counter_ -= amount_; }

 private:
  int64_t* const counter_;
  int64_t amount_;
};

// A connection is a coroutine of the loop's thread, which ends with an
// exception if the client is gone or too slow.
class BeastServer final : public HttpServer {
 public:
  BeastServer(HttpServerOptions options, HttpHandler& handler)
      : limits_(options.limits),
        tls_(std::move(options.tls)),
        handler_(handler),
        instant_{limits_.waiting_requests},
        ordinary_{limits_.waiting_requests},
        slow_{limits_.waiting_slow_requests} {}

  ~BeastServer() override {
    loop_.stop();
    if (thread_.joinable()) thread_.join();
    for (Lane* lane : {&instant_, &ordinary_, &slow_}) {
      lane->threads.stop();
      lane->threads.join();
    }
  }

  absl::Status Listen(const std::string& listen_address, int port);
  absl::Status Run();
  int port() const override { return port_; }

 private:
  // Connections that wait for their clients, in the order in which they began.
  using Waiting = std::map<int64_t, beast::tcp_stream*>;
  class Wait;
  using NewestEvents = std::function<std::vector<HttpResponse::Event>()>;

  void RunLoop();
  net::awaitable<void> Accept(tcp::acceptor& acceptor);
  void Welcome(tcp::socket socket);

  // Serves the requests of a connection.
  template <typename Stream>
  net::awaitable<void> Serve(std::shared_ptr<Stream> stream, Counted counted);

  // Has the handler answer by other threads.
  net::awaitable<HttpResponse> Answer(const HttpRequest& request);
  template <typename Result>
  static net::awaitable<Result> Call(const std::function<Result()>& function) {
    co_return function();
  }

  // Returns whether another request may follow.
  template <typename Stream>
  net::awaitable<bool> Write(std::shared_ptr<Stream> stream,
                             HttpResponse response, ResponseForm form);
  template <typename Stream>
  net::awaitable<void> SendEvents(std::shared_ptr<Stream> stream,
                                  NewestEvents newest_events);
  static net::awaitable<void> Linger(beast::tcp_stream& tcp);

  Lane& LaneOf(const HttpRequest& request) {
    const HttpLane lane = handler_.LaneOf(request);
    return lane == HttpLane::kInstant    ? instant_
           : lane == HttpLane::kOrdinary ? ordinary_
                                         : slow_;
  }

  const HttpLimits limits_;
  const std::shared_ptr<security::TlsContext> tls_;
  HttpHandler& handler_;
  int port_ = 0;
  int64_t connections_ = 0;
  int64_t event_streams_ = 0;
  int64_t response_bytes_ = 0;  // of responses that are being sent
  Waiting waiting_;
  int64_t next_wait_ = 0;

  // What is above outlives the connections, which end with the loop at the
  // latest.
  net::io_context loop_{1};
  std::list<tcp::acceptor> acceptors_;
  Lane instant_;
  Lane ordinary_;
  Lane slow_;
  std::thread thread_;
};

// While it lives, the connection waits for its client until a deadline, and may
// be closed in favour of others.
class BeastServer::Wait {
 public:
  Wait(BeastServer& server, beast::tcp_stream& tcp, absl::Duration time)
      : server_(server), number_(server.next_wait_++) {
    server_.waiting_.emplace(number_, &tcp);
    tcp.expires_after(absl::ToChronoNanoseconds(time));
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() { server_.waiting_.erase(number_); }

 private:
  BeastServer& server_;
  const int64_t number_;
};

// ---- Connections begin ------------------------------------------------------

absl::Status BeastServer::Listen(const std::string& listen_address, int port) {
  const absl::StatusOr<std::vector<std::string>> addresses =
      base::ListenAddresses(listen_address, port);
  if (!addresses.ok()) return addresses.status();
  acceptors_.clear();
  for (const std::string& address : *addresses) {
    absl::StatusOr<base::ListeningSocket> listening = base::ListenAt(address);
    if (!listening.ok()) return listening.status();
    sockaddr_storage bound = {};
    socklen_t size = sizeof(bound);
    getsockname(listening->socket.get(), reinterpret_cast<sockaddr*>(&bound),
                &size);
    acceptors_.emplace_back(loop_,
                            bound.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(),
                            listening->socket.Release());
  }
  port_ = port;
  return absl::OkStatus();
}

absl::Status BeastServer::Run() {
  for (tcp::acceptor& acceptor : acceptors_) {
    net::co_spawn(loop_, Accept(acceptor), [](std::exception_ptr) {});
  }
  absl::StatusOr<std::thread> thread =
      base::StartThread("the dashboard", [this] { RunLoop(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

// Where memory is short, Asio and Beast throw, and a connection is lost. The
// process has work that must not end by that.
void BeastServer::RunLoop() {
  while (!loop_.stopped()) {
    try {
      loop_.run();
    } catch (const std::exception& error) {
      LOG(WARNING) << "the dashboard lost a connection: " << error.what();
    }
  }
}

net::awaitable<void> BeastServer::Accept(tcp::acceptor& acceptor) {
  bool has_failed = false;
  net::steady_timer pause(loop_);
  while (true) {
    try {
      if (std::exchange(has_failed, false)) {
        pause.expires_after(absl::ToChronoNanoseconds(kAcceptPause));
        co_await pause.async_wait(use_awaitable);
      }
      Welcome(co_await acceptor.async_accept(use_awaitable));
    } catch (const std::exception&) {
      has_failed = true;
    }
  }
}

void BeastServer::Welcome(tcp::socket socket) {
  if (connections_ >= limits_.connections && !waiting_.empty()) {
    // It no longer waits at once, or the next connection to come would close it
    // again instead of another one.
    waiting_.extract(waiting_.begin()).mapped()->close();
  }
  // All of them are being answered: this one has to try again.
  if (connections_ >= 2 * limits_.connections) return;
  const auto begin = [this](auto stream) {
    net::co_spawn(loop_, Serve(std::move(stream), Counted(connections_)),
                  [](std::exception_ptr) {});
  };
  if (tls_ == nullptr) {
    begin(std::make_shared<beast::tcp_stream>(std::move(socket)));
  } else {
    net::ssl::context context(tls_->NewReference());
    begin(std::make_shared<TlsStream>(beast::tcp_stream(std::move(socket)),
                                      context));
  }
}

// ---- Requests and responses -------------------------------------------------

template <typename Stream>
net::awaitable<void> BeastServer::Serve(std::shared_ptr<Stream> stream,
                                        [[maybe_unused]] Counted counted) {
  beast::tcp_stream& tcp = beast::get_lowest_layer(*stream);
  std::vector<std::string> caller_names;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    const Wait wait(*this, tcp, limits_.handshake_time);
    co_await stream->async_handshake(net::ssl::stream_base::server,
                                     use_awaitable);
    caller_names = security::PeerNames(stream->native_handle());
  }
  beast::flat_buffer buffer;
  bool has_more = true;
  while (has_more) {
    RequestParser parser;
    parser.header_limit(static_cast<uint32_t>(limits_.header_bytes));
    parser.body_limit(limits_.body_bytes);
    error_code error;
    {
      const Wait wait(*this, tcp, limits_.request_time);
      co_await http::async_read(*stream, buffer, parser,
                                net::redirect_error(use_awaitable, error));
    }
    if (IsBadRequest(error)) {
      has_more = co_await Write(stream, BadRequestResponse(error), {});
      continue;
    }
    if (error) co_return;  // the client is gone, or too slow
    ResponseForm form = {parser.get().version(), parser.keep_alive()};
    HttpRequest request = ToRequest(parser.release());
    form.with_body = request.method != "HEAD";
    request.local_address = LocalAddress(tcp.socket());
    request.caller_names = caller_names;
    HttpResponse response = co_await Answer(request);
    has_more = co_await Write(stream, std::move(response), form);
  }
}

net::awaitable<HttpResponse> BeastServer::Answer(const HttpRequest& request) {
  Lane& lane = LaneOf(request);
  if (lane.waiting >= lane.max_waiting) {
    co_return BusyResponse("other requests");
  }
  const Counted counted(lane.waiting);
  const std::function<HttpResponse()> answer = [this, &request] {
    return handler_.Answer(request);
  };
  // Libraries below may throw, and memory may be short.
  try {
    co_return co_await net::co_spawn(lane.threads, Call(answer), use_awaitable);
  } catch (const std::exception& error) {
    co_return ErrorResponse(500,
                            absl::StrCat("the request failed: ", error.what()));
  }
}

template <typename Stream>
net::awaitable<bool> BeastServer::Write(std::shared_ptr<Stream> stream,
                                        HttpResponse response,
                                        ResponseForm form) {
  if (!form.with_body) response.newest_events = nullptr;
  const auto wanted_bytes = static_cast<int64_t>(response.body.size());
  if (wanted_bytes > kSmallResponseBytes && response_bytes_ > 0 &&
      response_bytes_ + wanted_bytes > limits_.response_bytes) {
    response = BusyResponse("other large answers");
  } else if (response.newest_events &&
             event_streams_ >= limits_.event_streams) {
    response = BusyResponse(
        "as many live views as it serves at a time; close one of them");
  }
  const NewestEvents newest_events = response.newest_events;
  const Counted streams(event_streams_, newest_events ? 1 : 0);
  beast::tcp_stream& tcp = beast::get_lowest_layer(*stream);
  bool keep_alive = false;
  {
    const Counted bytes(response_bytes_,
                        static_cast<int64_t>(response.body.size()));
    RawResponse raw = ToRaw(std::move(response), form);
    keep_alive = raw.keep_alive();
    tcp.expires_after(absl::ToChronoNanoseconds(limits_.response_time));
    co_await http::async_write(*stream, raw, use_awaitable);
  }
  if (newest_events) {
    co_await SendEvents(stream, newest_events);
  } else if (!keep_alive) {
    co_await Linger(tcp);
  }
  co_return keep_alive;
}

template <typename Stream>
net::awaitable<void> BeastServer::SendEvents(std::shared_ptr<Stream> stream,
                                             NewestEvents newest_events) {
  beast::tcp_stream& tcp = beast::get_lowest_layer(*stream);
  // Notices that the client is gone; it has nothing more to say.
  tcp.expires_never();
  auto ignored = std::make_shared<char>();
  stream->async_read_some(net::buffer(ignored.get(), 1),
                          [stream, ignored](const error_code&, size_t) {
                            beast::get_lowest_layer(*stream).close();
                          });
  std::vector<HttpResponse::Event> sent;
  net::steady_timer pause(loop_);
  auto last_sent = std::chrono::steady_clock::now();
  while (tcp.socket().is_open()) {
    const std::vector<HttpResponse::Event> newest = co_await net::co_spawn(
        instant_.threads, Call(newest_events), use_awaitable);
    std::string text;
    sent.resize(newest.size());
    for (size_t i = 0; i < newest.size(); ++i) {
      if (newest[i] != sent[i]) text += *newest[i];
    }
    sent = newest;
    const auto now = std::chrono::steady_clock::now();
    if (text.empty() &&
        absl::FromChrono(now - last_sent) >= limits_.heartbeat_interval) {
      text = kHeartbeat;
    }
    if (!text.empty()) {
      tcp.expires_after(absl::ToChronoNanoseconds(limits_.event_time));
      co_await net::async_write(*stream, net::buffer(text), use_awaitable);
      last_sent = now;
    }
    pause.expires_after(absl::ToChronoNanoseconds(limits_.event_interval));
    co_await pause.async_wait(use_awaitable);
  }
}

net::awaitable<void> BeastServer::Linger(beast::tcp_stream& tcp) {
  error_code ignored;
  tcp.socket().shutdown(tcp::socket::shutdown_send, ignored);
  tcp.expires_after(absl::ToChronoNanoseconds(kLingerTime));
  std::array<char, 4096> discarded;
  while (true) {
    co_await tcp.async_read_some(net::buffer(discarded), use_awaitable);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    HttpServerOptions options, HttpHandler& handler) {
  // Another process may take a port after it was found and before it is used.
  constexpr int kAttempts = 10;
  const std::string address = options.listen_address;
  const int wanted = options.port;
  try {
    auto server = std::make_unique<BeastServer>(std::move(options), handler);
    absl::Status status;
    for (int i = 0; i < (wanted == 0 ? kAttempts : 1); ++i) {
      const absl::StatusOr<int> port =
          wanted == 0 ? base::FindFreePort(address) : wanted;
      if (!port.ok()) return port.status();
      status = server->Listen(address, *port);
      if (status.ok()) break;
    }
    if (status.ok()) status = server->Run();
    if (!status.ok()) return status;
    return server;
  } catch (const std::system_error& error) {
    return base::NoThreadError("the dashboard", error);
  }
}

}  // namespace distbench::dashboard
