#include "distbench/dashboard/http/http_server.h"

#include <netinet/in.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <exception>
#include <list>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/threads.h"

namespace distbench {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::ip::tcp;
using RawResponse = http::response<http::string_body>;
using RequestParser = http::request_parser<http::string_body>;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

constexpr int kThreadsPerLane = 2;

// How long the server accepts nothing after an error, such as too many files.
constexpr std::chrono::milliseconds kAcceptPause(100);

// How long a connection that is given up may still send what nobody reads, so
// that its client reads the reason before it is cut off.
constexpr std::chrono::seconds kLingerTime(2);

constexpr int kEventsPerResponseTime = 6;

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

HttpRequest ToRequest(RequestParser::value_type&& raw) {
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

RawResponse ToRaw(HttpResponse response, unsigned version, bool keep_alive,
                  bool with_body) {
  RawResponse raw(static_cast<http::status>(response.status), version);
  for (const auto& [name, value] : ProtectiveHeaders()) raw.set(name, value);
  for (const auto& [name, value] : response.headers) raw.set(name, value);
  raw.set(http::field::content_type, response.content_type);
  raw.keep_alive(keep_alive && !response.is_event_stream);
  if (!response.is_event_stream) raw.content_length(response.body.size());
  if (with_body) raw.body() = std::move(response.body);
  return raw;
}

HttpResponse ReadErrorResponse(const error_code& error) {
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

// Threads for one kind of request.
struct Lane {
  explicit Lane(int max_waiting) : max_waiting(max_waiting) {}

  const int max_waiting;
  int waiting = 0;  // used by the loop's thread
  net::thread_pool threads{kThreadsPerLane};
};

// A connection, with or without TLS. Used by the loop's thread.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void Begin() = 0;
  virtual void Send(std::shared_ptr<const std::string> event) = 0;
  virtual bool IsSending() const = 0;
  virtual void Close() = 0;
};

}  // namespace

class HttpServer::Impl {
 public:
  using Waiting = std::list<Connection*>;

  Impl(HttpServerOptions options, HttpHandler& handler)
      : limits_(options.limits),
        tls_(std::move(options.tls)),
        handler_(handler),
        ordinary_(limits_.waiting_requests),
        slow_(limits_.waiting_slow_requests) {}

  ~Impl() {
    loop_.stop();
    if (thread_.joinable()) thread_.join();
    for (Lane* lane : {&ordinary_, &slow_}) {
      lane->threads.stop();
      lane->threads.join();
    }
    // Connections must not outlive the loop.
    followers_.clear();
  }

  absl::Status Listen(const std::string& listen_address, int port);
  absl::Status Run();

  int port() const { return port_; }
  int follower_count() const { return follower_count_; }

  void SendState(std::string event) {
    net::post(loop_, [this, state = std::make_shared<const std::string>(
                                std::move(event))] {
      state_ = state;
      for (const auto& follower : followers_) follower->Send(state);
    });
  }

  void SendHeartbeat() {
    net::post(loop_, [this] {
      for (const auto& follower : followers_) {
        if (!follower->IsSending()) follower->Send(heartbeat_);
      }
    });
  }

  // ---- For connections, on the loop's thread

  const HttpLimits& limits() const { return limits_; }

  // The connection has begun to wait for a request, or waits no longer.
  Waiting::iterator BeginToWait(Connection* connection) {
    return waiting_.insert(waiting_.end(), connection);
  }
  void EndWaiting(Waiting::iterator place) { waiting_.erase(place); }
  void OnConnectionEnd() { --connection_count_; }

  // Whether there is a place for another connection that follows events.
  bool Follow(const std::shared_ptr<Connection>& connection) {
    if (follower_count_ >= limits_.event_streams) return false;
    followers_.insert(connection);
    follower_count_ = static_cast<int>(followers_.size());
    if (state_ != nullptr) connection->Send(state_);
    return true;
  }
  void Unfollow(const std::shared_ptr<Connection>& connection) {
    followers_.erase(connection);
    follower_count_ = static_cast<int>(followers_.size());
  }

  // Whether a response of this size may be sent now; EndResponse() follows.
  bool BeginResponse(int64_t bytes) {
    if (response_bytes_ > 0 &&
        response_bytes_ + bytes > limits_.response_bytes) {
      return false;
    }
    response_bytes_ += bytes;
    return true;
  }
  void EndResponse(int64_t bytes) { response_bytes_ -= bytes; }

  // Calls on_answer later, on the loop's thread.
  template <typename OnAnswer>
  void Answer(HttpRequest request, OnAnswer on_answer);

 private:
  void Accept(tcp::acceptor& acceptor);
  void OnAccept(tcp::acceptor& acceptor, const error_code& error,
                tcp::socket socket);

  const HttpLimits limits_;
  const std::shared_ptr<TlsContext> tls_;
  HttpHandler& handler_;
  int port_ = 0;
  int connection_count_ = 0;
  int64_t response_bytes_ = 0;
  Waiting waiting_;  // oldest first
  const std::shared_ptr<const std::string> heartbeat_ =
      std::make_shared<const std::string>(": heartbeat\n\n");
  std::shared_ptr<const std::string> state_;
  std::set<std::shared_ptr<Connection>> followers_;
  std::atomic<int> follower_count_ = 0;

  // What is above outlives the connections, which end with the loop at the
  // latest.
  net::io_context loop_{1};
  std::list<tcp::acceptor> acceptors_;
  net::steady_timer accept_pause_{loop_};
  Lane ordinary_;
  Lane slow_;
  std::thread thread_;
};

namespace {

template <typename Stream>
class StreamConnection final
    : public Connection,
      public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  template <typename... Args>
  explicit StreamConnection(HttpServer::Impl& server, Args&&... args)
      : server_(server), stream_(std::forward<Args>(args)...) {}

  ~StreamConnection() override {
    StopWaiting();
    server_.OnConnectionEnd();
  }

  void Begin() override {
    local_address_ = LocalAddress(Tcp().socket());
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      Wait(server_.limits().handshake_time);
      stream_.async_handshake(
          net::ssl::stream_base::server,
          [self = this->shared_from_this()](const error_code& error) {
            self->StopWaiting();
            if (error) return;
            self->caller_names_ = PeerNames(self->stream_.native_handle());
            self->ReadRequest();
          });
    } else {
      ReadRequest();
    }
  }

  void Close() override { Tcp().close(); }

  void Send(std::shared_ptr<const std::string> event) override {
    next_event_ = std::move(event);
    if (sent_event_ == nullptr) SendNextEvent();
  }

  bool IsSending() const override {
    return sent_event_ != nullptr || next_event_ != nullptr;
  }

 private:
  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }

  void SetDeadline(absl::Duration duration) {
    Tcp().expires_after(absl::ToChronoNanoseconds(duration));
  }

  // From here on, this connection may be closed in favour of another one.
  void Wait(absl::Duration duration) {
    place_ = server_.BeginToWait(this);
    SetDeadline(duration);
  }
  void StopWaiting() {
    if (place_.has_value()) server_.EndWaiting(*place_);
    place_.reset();
  }

  void ReadRequest() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(server_.limits().header_bytes));
    parser_->body_limit(server_.limits().body_bytes);
    Wait(server_.limits().request_time);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](const error_code& error,
                                                       size_t /*bytes*/) {
                       self->StopWaiting();
                       self->OnRead(error);
                     });
  }

  void OnRead(const error_code& error) {
    with_body_ = true;
    keep_alive_ = false;
    if (error.category() == http::make_error_code(http::error::bad_method)
                                .category() &&
        error != http::error::end_of_stream &&
        error != http::error::partial_message) {
      Write(ReadErrorResponse(error));
      return;
    }
    if (error) return;  // the client is gone, or too slow
    RequestParser::value_type raw = parser_->release();
    version_ = raw.version();
    keep_alive_ = raw.keep_alive();
    HttpRequest request = ToRequest(std::move(raw));
    request.local_address = local_address_;
    request.caller_names = caller_names_;
    with_body_ = request.method != "HEAD";
    // There may be a long time until the answer.
    Tcp().expires_never();
    server_.Answer(std::move(request),
                   [self = this->shared_from_this()](HttpResponse response) {
                     self->Write(std::move(response));
                   });
  }

  void Write(HttpResponse response) {
    if (response.is_event_stream && !server_.Follow(this->shared_from_this())) {
      response = BusyResponse(
          "as many live views as it serves at a time; close one of them");
    }
    bytes_ = static_cast<int64_t>(response.body.size());
    if (!server_.BeginResponse(bytes_)) {
      response = BusyResponse("other large answers");
      bytes_ = 0;
    }
    const bool is_event_stream = response.is_event_stream;
    response_.emplace(
        ToRaw(std::move(response), version_, keep_alive_, with_body_));
    SetDeadline(server_.limits().response_time);
    http::async_write(
        stream_, *response_,
        [self = this->shared_from_this(), is_event_stream](
            const error_code& error, size_t /*bytes*/) {
          self->server_.EndResponse(self->bytes_);
          self->OnWritten(error, is_event_stream);
        });
  }

  void OnWritten(const error_code& error, bool is_event_stream) {
    const bool keep_alive = response_->keep_alive();
    response_.reset();
    if (is_event_stream) {
      error ? StopFollowing() : BeginEvents();
    } else if (!error) {
      keep_alive ? ReadRequest() : Linger();
    }
  }

  // ---- The end of a connection

  void Linger() {
    error_code ignored;
    Tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
    Tcp().expires_after(kLingerTime);
    Discard();
  }

  void Discard() {
    Tcp().async_read_some(
        net::buffer(discarded_),
        [self = this->shared_from_this()](const error_code& error, size_t) {
          if (!error) self->Discard();
        });
  }

  // ---- Events

  void BeginEvents() {
    // Notices that the client is gone; it has nothing more to say.
    Tcp().expires_never();
    stream_.async_read_some(
        net::buffer(discarded_),
        [self = this->shared_from_this()](const error_code&, size_t) {
          self->StopFollowing();
          self->Close();
        });
    is_following_ = true;
    SendNextEvent();
  }

  void SendNextEvent() {
    if (!is_following_ || next_event_ == nullptr) return;
    sent_event_ = std::move(next_event_);
    next_event_ = nullptr;
    SetDeadline(server_.limits().response_time / kEventsPerResponseTime);
    net::async_write(stream_, net::buffer(*sent_event_),
                     [self = this->shared_from_this()](const error_code& error,
                                                       size_t /*bytes*/) {
                       self->sent_event_ = nullptr;
                       error ? self->StopFollowing() : self->SendNextEvent();
                     });
  }

  void StopFollowing() {
    is_following_ = false;
    server_.Unfollow(this->shared_from_this());
  }

  HttpServer::Impl& server_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::string local_address_;
  std::vector<std::string> caller_names_;
  std::optional<HttpServer::Impl::Waiting::iterator> place_;

  // The current request and its response.
  std::optional<RequestParser> parser_;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool with_body_ = true;
  std::optional<RawResponse> response_;
  int64_t bytes_ = 0;

  bool is_following_ = false;
  std::shared_ptr<const std::string> sent_event_;
  std::shared_ptr<const std::string> next_event_;
  std::array<char, 4096> discarded_;
};

}  // namespace

absl::Status HttpServer::Impl::Listen(const std::string& listen_address,
                                      int port) {
  const absl::StatusOr<std::vector<std::string>> addresses =
      ListenAddresses(listen_address, port);
  if (!addresses.ok()) return addresses.status();
  acceptors_.clear();
  for (const std::string& address : *addresses) {
    absl::StatusOr<ListeningSocket> listening = ListenAt(address);
    if (!listening.ok()) return listening.status();
    sockaddr_storage bound = {};
    socklen_t size = sizeof(bound);
    getsockname(listening->socket.get(), reinterpret_cast<sockaddr*>(&bound),
                &size);
    acceptors_.emplace_back(
        loop_, bound.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(),
        listening->socket.Release());
  }
  port_ = port;
  return absl::OkStatus();
}

absl::Status HttpServer::Impl::Run() {
  for (tcp::acceptor& acceptor : acceptors_) Accept(acceptor);
  absl::StatusOr<std::thread> thread =
      StartThread("the dashboard", [this] { loop_.run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

void HttpServer::Impl::Accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([this, &acceptor](const error_code& error,
                                          tcp::socket socket) {
    OnAccept(acceptor, error, std::move(socket));
  });
}

void HttpServer::Impl::OnAccept(tcp::acceptor& acceptor,
                                const error_code& error, tcp::socket socket) {
  if (error) {
    accept_pause_.expires_after(kAcceptPause);
    accept_pause_.async_wait(
        [this, &acceptor](const error_code&) { Accept(acceptor); });
    return;
  }
  if (connection_count_ >= limits_.connections && !waiting_.empty()) {
    waiting_.front()->Close();
  }
  // All of them are being answered: this one has to try again.
  if (connection_count_ < 2 * limits_.connections) {
    ++connection_count_;
    std::shared_ptr<Connection> connection;
    if (tls_ == nullptr) {
      connection = std::make_shared<StreamConnection<beast::tcp_stream>>(
          *this, std::move(socket));
    } else {
      net::ssl::context context(tls_->NewReference());
      connection = std::make_shared<StreamConnection<TlsStream>>(
          *this, beast::tcp_stream(std::move(socket)), context);
    }
    connection->Begin();
  }
  Accept(acceptor);
}

template <typename OnAnswer>
void HttpServer::Impl::Answer(HttpRequest request, OnAnswer on_answer) {
  Lane& lane = handler_.IsSlow(request) ? slow_ : ordinary_;
  if (lane.waiting >= lane.max_waiting) {
    on_answer(BusyResponse("other requests"));
    return;
  }
  ++lane.waiting;
  net::post(lane.threads, [this, &lane, request = std::move(request),
                           on_answer = std::move(on_answer)]() mutable {
    HttpResponse response;
    // Libraries below may throw, and memory may be short.
    try {
      response = handler_.Answer(request);
    } catch (const std::exception& error) {
      response = ErrorResponse(
          500, absl::StrCat("the request failed: ", error.what()));
    }
    net::post(loop_, [&lane, on_answer = std::move(on_answer),
                      response = std::move(response)]() mutable {
      --lane.waiting;
      on_answer(std::move(response));
    });
  });
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    HttpServerOptions options, HttpHandler& handler) {
  // Another process may take a port after it was found and before it is used.
  constexpr int kAttempts = 10;
  const std::string address = options.listen_address;
  const int wanted = options.port;
  try {
    auto impl = std::make_unique<Impl>(std::move(options), handler);
    absl::Status status;
    for (int i = 0; i < (wanted == 0 ? kAttempts : 1); ++i) {
      const absl::StatusOr<int> port =
          wanted == 0 ? FindFreePort(address) : wanted;
      if (!port.ok()) return port.status();
      status = impl->Listen(address, *port);
      if (status.ok()) break;
    }
    if (status.ok()) status = impl->Run();
    if (!status.ok()) return status;
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
  } catch (const std::system_error& error) {
    return NoThreadError("the dashboard", error);
  }
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->port(); }

int HttpServer::event_streams() const { return impl_->follower_count(); }

void HttpServer::SendState(std::string event) {
  impl_->SendState(std::move(event));
}

void HttpServer::SendHeartbeat() { impl_->SendHeartbeat(); }

}  // namespace distbench
