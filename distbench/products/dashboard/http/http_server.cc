// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/http/http_server.h"

#include <array>
#include <boost/asio.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <list>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"
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

// ---- Requests and responses -------------------------------------------------

// Decodes "%41" and "+" of a query.
absl::StatusOr<std::string> Decode(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    char byte = text[i] == '+' ? ' ' : text[i];
    if (byte == '%') {
      if (text.size() - i < 3 || !absl::ascii_isxdigit(text[i + 1]) ||
          !absl::ascii_isxdigit(text[i + 2])) {
        return absl::InvalidArgumentError(
            "the query has a % without two hexadecimal digits; write %25 for "
            "the character itself");
      }
      byte = absl::HexStringToBytes(text.substr(i + 1, 2))[0];
      i += 2;
    }
    if (absl::ascii_iscntrl(byte)) {
      return absl::InvalidArgumentError(
          "the query contains a control character; leave it out");
    }
    decoded.push_back(byte);
  }
  return decoded;
}

std::string ToText(beast::string_view text) {
  return std::string(text.data(), text.size());
}

// Such as "127.0.0.1", also for "::ffff:127.0.0.1".
std::string LocalAddress(const tcp::socket& socket) {
  error_code error;
  const std::string address =
      socket.local_endpoint(error).address().to_string();
  return std::string(absl::StripPrefix(address, "::ffff:"));
}

// How the answer to a request is sent.
struct ResponseForm {
  bool keep_alive = false;
  bool with_body = true;
};

RawResponse ToRaw(HttpResponse response, const ResponseForm& form) {
  constexpr unsigned kVersion = 11;  // HTTP/1.1
  RawResponse raw(static_cast<http::status>(response.status), kVersion);
  for (const auto& [name, value] : ProtectiveHeaders()) raw.set(name, value);
  for (const auto& [name, value] : response.headers) raw.set(name, value);
  raw.set(http::field::content_type, response.content_type);
  raw.keep_alive(form.keep_alive && !response.newest_events);
  if (!response.newest_events) raw.content_length(response.body.size());
  if (form.with_body) raw.body() = std::move(response.body);
  return raw;
}

// Answers what is no request; nothing if the connection has ended instead.
std::optional<HttpResponse> ResponseToError(const error_code& error) {
  if (error == http::error::body_limit) {
    return ErrorResponse(413, "the request's body is too large; send less");
  }
  if (error == http::error::header_limit) {
    return ErrorResponse(431, "the request's headers are too large; send less");
  }
  if (error == http::error::end_of_stream ||
      error == http::error::partial_message ||
      error.category() !=
          http::make_error_code(http::error::bad_method).category()) {
    return std::nullopt;
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

// A connection is a coroutine of the loop's thread, which ends with an
// exception if the client is gone or too slow.
class BeastServer final : public HttpServer {
 public:
  BeastServer(std::shared_ptr<security::TlsContext> tls, HttpHandler& handler,
              const HttpLimits& limits)
      : limits_(limits),
        tls_(std::move(tls)),
        handler_(handler),
        lanes_{{{limits_.waiting_requests},
                {limits_.waiting_requests},
                {limits_.waiting_slow_requests}}} {}

  ~BeastServer() override {
    loop_.stop();
    if (thread_.joinable()) thread_.join();
    for (Lane& lane : lanes_) {
      lane.threads.stop();
      lane.threads.join();
    }
  }

  absl::Status Listen(const std::string& listen_address, int port) {
    const absl::StatusOr<std::vector<std::string>> addresses =
        base::ListenAddresses(listen_address, port);
    if (!addresses.ok()) return addresses.status();
    acceptors_.clear();
    for (const std::string& address : *addresses) {
      absl::StatusOr<base::ListeningSocket> listening = base::ListenAt(address);
      if (!listening.ok()) return listening.status();
      const bool is_ipv6 = absl::StartsWith(address, "[");
      acceptors_.emplace_back(loop_, is_ipv6 ? tcp::v6() : tcp::v4(),
                              listening->socket.Release());
    }
    port_ = port;
    return absl::OkStatus();
  }

  absl::Status Run() {
    for (tcp::acceptor& acceptor : acceptors_) {
      net::co_spawn(loop_, Accept(acceptor), [](std::exception_ptr) {});
    }
    absl::StatusOr<std::thread> thread =
        base::StartThread("the dashboard", [this] { RunLoop(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    return absl::OkStatus();
  }

  int port() const override { return port_; }

 private:
  using NewestEvents = std::function<std::vector<HttpResponse::Event>()>;

  // While the result lives, the connection waits for its client until a
  // deadline, and may be closed in favour of others.
  auto Wait(beast::tcp_stream& tcp) {
    tcp.expires_after(absl::ToChronoNanoseconds(limits_.request_time));
    const int64_t number = next_wait_++;
    waiting_.emplace(number, &tcp);
    return absl::MakeCleanup([this, number] { waiting_.erase(number); });
  }

  Lane& LaneAt(HttpLane lane) { return lanes_[static_cast<size_t>(lane)]; }

  template <typename Result>
  static net::awaitable<Result> Call(const std::function<Result()>& function) {
    co_return function();
  }

  // Where memory is short, Asio and Beast throw, and a connection is lost. The
  // process has work that must not end by that.
  void RunLoop() {
    while (!loop_.stopped()) {
      try {
        loop_.run();
      } catch (const std::exception& error) {
        LOG(WARNING) << "the dashboard lost a connection: " << error.what();
      }
    }
  }

  net::awaitable<void> Accept(tcp::acceptor& acceptor) {
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

  void Welcome(tcp::socket socket) {
    if (connections_ >= limits_.connections && !waiting_.empty()) {
      // It no longer waits at once, or the next connection to come would close
      // it again instead of another one.
      waiting_.extract(waiting_.begin()).mapped()->close();
    }
    // All of them are being answered: this one has to try again.
    if (connections_ >= 2 * limits_.connections) return;
    const auto begin = [this](auto stream) {
      ++connections_;
      // Counted until its last owner is gone, however that ends or fails to
      // begin.
      std::shared_ptr<void> counted(this, [this](void*) { --connections_; });
      net::co_spawn(loop_, Serve(std::move(stream), std::move(counted)),
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

  // Serves the requests of a connection.
  template <typename Stream>
  net::awaitable<void> Serve(std::shared_ptr<Stream> stream,
                             std::shared_ptr<void> /*counted*/) {
    beast::tcp_stream& tcp = beast::get_lowest_layer(*stream);
    std::vector<std::string> caller_names;
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      const auto wait = Wait(tcp);
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
        const auto wait = Wait(tcp);
        co_await http::async_read(*stream, buffer, parser,
                                  net::redirect_error(use_awaitable, error));
      }
      ResponseForm form;
      std::optional<HttpResponse> response = ResponseToError(error);
      if (error && !response.has_value()) co_return;  // gone, or too slow
      if (!error) {
        HttpRequest request;
        request.local_address = LocalAddress(tcp.socket());
        request.caller_names = caller_names;
        // A client of HTTP/1.0 would have to be told that it may go on.
        form = {parser.keep_alive() && parser.get().version() >= 11,
                parser.get().method() != http::verb::head};
        response = co_await Answer(parser.release(), std::move(request));
      }
      has_more = co_await Write(stream, *std::move(response), form);
    }
  }

  // Has the handler answer by other threads. `request` has what `raw` does not
  // tell.
  net::awaitable<HttpResponse> Answer(RequestParser::value_type raw,
                                      HttpRequest request) {
    request.method = ToText(raw.method_string());
    request.body = std::move(raw.body());
    for (const auto& field : raw) {
      request.headers.emplace_back(ToText(field.name_string()),
                                   ToText(field.value()));
    }
    const absl::Status status = SetTarget(ToText(raw.target()), request);
    if (std::optional<HttpResponse> refusal = handler_.Refuse(request)) {
      co_return *std::move(refusal);
    }
    if (!status.ok()) co_return ErrorResponse(400, status.message());
    Lane& lane = LaneAt(handler_.LaneOf(request));
    if (lane.waiting >= lane.max_waiting) {
      co_return BusyResponse("other requests");
    }
    ++lane.waiting;
    const absl::Cleanup answered = [&lane] { --lane.waiting; };
    const std::function<HttpResponse()> answer = [this, &request] {
      return handler_.Answer(request);
    };
    // Libraries below may throw, and memory may be short.
    try {
      co_return co_await net::co_spawn(lane.threads, Call(answer),
                                       use_awaitable);
    } catch (const std::exception& error) {
      co_return ErrorResponse(
          500, absl::StrCat("the request failed: ", error.what()));
    }
  }

  // Returns whether another request may follow.
  template <typename Stream>
  net::awaitable<bool> Write(std::shared_ptr<Stream> stream,
                             HttpResponse response, ResponseForm form) {
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
    const int64_t streams = newest_events ? 1 : 0;
    event_streams_ += streams;
    const absl::Cleanup ended = [this, streams] { event_streams_ -= streams; };
    beast::tcp_stream& tcp = beast::get_lowest_layer(*stream);
    bool keep_alive = false;
    {
      const auto bytes = static_cast<int64_t>(response.body.size());
      response_bytes_ += bytes;
      const absl::Cleanup written = [this, bytes] { response_bytes_ -= bytes; };
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
  net::awaitable<void> SendEvents(std::shared_ptr<Stream> stream,
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
      const std::vector<HttpResponse::Event> newest =
          co_await net::co_spawn(LaneAt(HttpLane::kInstant).threads,
                                 Call(newest_events), use_awaitable);
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
        tcp.expires_after(absl::ToChronoNanoseconds(limits_.request_time));
        co_await net::async_write(*stream, net::buffer(text), use_awaitable);
        last_sent = now;
      }
      pause.expires_after(absl::ToChronoNanoseconds(limits_.event_interval));
      co_await pause.async_wait(use_awaitable);
    }
  }

  static net::awaitable<void> Linger(beast::tcp_stream& tcp) {
    error_code ignored;
    tcp.socket().shutdown(tcp::socket::shutdown_send, ignored);
    tcp.expires_after(absl::ToChronoNanoseconds(kLingerTime));
    std::array<char, 4096> discarded;
    while (true) {
      co_await tcp.async_read_some(net::buffer(discarded), use_awaitable);
    }
  }

  const HttpLimits limits_;
  const std::shared_ptr<security::TlsContext> tls_;
  HttpHandler& handler_;
  int port_ = 0;
  int64_t connections_ = 0;
  int64_t event_streams_ = 0;
  int64_t response_bytes_ = 0;  // of responses that are being sent

  // Connections that wait for their clients, in the order in which they began.
  std::map<int64_t, beast::tcp_stream*> waiting_;
  int64_t next_wait_ = 0;

  // What is above outlives the connections, which end with the loop at the
  // latest.
  net::io_context loop_{1};
  std::list<tcp::acceptor> acceptors_;
  std::array<Lane, 3> lanes_;  // by HttpLane
  std::thread thread_;
};

}  // namespace

std::string HttpRequest::Parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? "" : found->second;
}

std::string HttpRequest::Header(absl::string_view name) const {
  std::string found;
  for (const auto& [header, value] : headers) {
    if (!absl::EqualsIgnoreCase(header, name)) continue;
    absl::StrAppend(&found, found.empty() ? "" : ",", value);
  }
  return found;
}

const HttpHeaders& ProtectiveHeaders() {
  static const auto* const headers = new HttpHeaders{
      {"Content-Security-Policy",
       "default-src 'none'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  return *headers;
}

HttpResponse ErrorResponse(int status, absl::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = base::DumpJson({{"error", std::string(message)}}) + "\n";
  return response;
}

absl::Status SetTarget(absl::string_view target, HttpRequest& request) {
  if (!absl::StartsWith(target, "/")) {
    return absl::InvalidArgumentError(
        "the request does not name a path, such as /api/results");
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  request.path = std::string(parts.first);
  for (absl::string_view parameter :
       absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(parameter, absl::MaxSplits('=', 1));
    absl::StatusOr<std::string> name = Decode(pair.first);
    absl::StatusOr<std::string> value = Decode(pair.second);
    if (!name.ok()) return name.status();
    if (!value.ok()) return value.status();
    request.parameters.emplace(*std::move(name), *std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& listen_address, int port,
    std::shared_ptr<security::TlsContext> tls, HttpHandler& handler,
    const HttpLimits& limits) {
  // Another process may take a port after it was found and before it is used.
  const int attempts = port == 0 ? 10 : 1;
  try {
    auto server =
        std::make_unique<BeastServer>(std::move(tls), handler, limits);
    absl::Status status;
    for (int i = 0; i < attempts && (i == 0 || !status.ok()); ++i) {
      const absl::StatusOr<int> free =
          port == 0 ? base::FindFreePort(listen_address) : port;
      if (!free.ok()) return free.status();
      status = server->Listen(listen_address, *free);
    }
    if (status.ok()) status = server->Run();
    if (!status.ok()) return status;
    return server;
  } catch (const std::system_error& error) {
    return base::NoThreadError("the dashboard", error);
  }
}

}  // namespace distbench::dashboard
