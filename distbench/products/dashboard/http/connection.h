// A connection of an HTTP server, and what the server does for it. All of this
// is used by the server's thread for connections only.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_HTTP_CONNECTION_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_HTTP_CONNECTION_H_

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/products/dashboard/http/http_message.h"
#include "distbench/products/dashboard/http/http_server.h"
#include "distbench/security/tls_session.h"

namespace distbench::dashboard {

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void Begin() = 0;

  // Sends an event now, or after the one that is being sent: then it replaces
  // another one of this name that waits.
  virtual void Send(const std::string& name,
                    std::shared_ptr<const std::string> event) = 0;
  virtual void Close() = 0;
};

class ConnectionHost {
 public:
  using Waiting = std::list<Connection*>;

  virtual ~ConnectionHost() = default;
  virtual const HttpLimits& limits() const = 0;

  // The connection has begun to wait for a request, and may be closed in favour
  // of others; or waits no longer.
  virtual Waiting::iterator BeginToWait(Connection* connection) = 0;
  virtual void EndWaiting(Waiting::iterator place) = 0;

  // Called once by each connection.
  virtual void OnConnectionEnd() = 0;

  // Whether there is a place for another connection that follows events.
  virtual bool Follow(const std::shared_ptr<Connection>& connection) = 0;
  virtual void Unfollow(const std::shared_ptr<Connection>& connection) = 0;

  // Whether a response of this size may be sent now; EndResponse() follows.
  virtual bool BeginResponse(int64_t bytes) = 0;
  virtual void EndResponse(int64_t bytes) = 0;

  // Calls on_answer later, unless the server ends before.
  virtual void Answer(HttpRequest request,
                      std::function<void(HttpResponse)> on_answer) = 0;
};

// Boost.Beast's messages and ours. Only for http_server.cc: Beast takes long to
// compile.

using RawResponse =
    boost::beast::http::response<boost::beast::http::string_body>;
using RequestParser =
    boost::beast::http::request_parser<boost::beast::http::string_body>;

inline std::string ToText(boost::beast::string_view text) {
  return std::string(text.data(), text.size());
}

// Such as "127.0.0.1", also for "::ffff:127.0.0.1".
inline std::string LocalAddress(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const boost::asio::ip::address address =
      socket.local_endpoint(error).address();
  if (error) return "";
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) {
    return address.to_string();
  }
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped,
                                          address.to_v6())
      .to_string();
}

inline HttpRequest ToRequest(RequestParser::value_type&& raw) {
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

inline RawResponse ToRaw(HttpResponse response, unsigned version,
                         bool keep_alive, bool with_body) {
  RawResponse raw(static_cast<boost::beast::http::status>(response.status),
                  version);
  for (const auto& [name, value] : ProtectiveHeaders()) raw.set(name, value);
  for (const auto& [name, value] : response.headers) raw.set(name, value);
  raw.set(boost::beast::http::field::content_type, response.content_type);
  raw.keep_alive(keep_alive && !response.is_event_stream);
  if (!response.is_event_stream) raw.content_length(response.body.size());
  if (with_body) raw.body() = std::move(response.body);
  return raw;
}

inline HttpResponse ReadErrorResponse(const boost::system::error_code& error) {
  if (error == boost::beast::http::error::body_limit) {
    return ErrorResponse(413, "the request's body is too large; send less");
  }
  if (error == boost::beast::http::error::header_limit) {
    return ErrorResponse(431, "the request's headers are too large; send less");
  }
  return ErrorResponse(400, "this is not a request of HTTP/1.1");
}

inline HttpResponse BusyResponse(absl::string_view with_what) {
  HttpResponse response = ErrorResponse(
      503, absl::StrCat("the server is busy with ", with_what, "; try again"));
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

// A connection with or without TLS. Only for http_server.cc: Boost.Beast takes
// long to compile.

using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

// How long a connection that is given up may still send what nobody reads, so
// that its client reads the reason before it is cut off.
inline constexpr std::chrono::seconds kLingerTime(2);

inline constexpr int kEventsPerResponseTime = 6;

template <typename Stream>
class StreamConnection final
    : public Connection,
      public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  template <typename... Args>
  explicit StreamConnection(ConnectionHost& server, Args&&... args)
      : server_(server), stream_(std::forward<Args>(args)...) {}

  ~StreamConnection() override {
    StopWaiting();
    server_.OnConnectionEnd();
  }

  void Begin() override {
    local_address_ = LocalAddress(Tcp().socket());
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      Wait(server_.limits().handshake_time);
      stream_.async_handshake(boost::asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](
                                  const boost::system::error_code& error) {
                                self->StopWaiting();
                                if (error) return;
                                self->caller_names_ = security::PeerNames(
                                    self->stream_.native_handle());
                                self->ReadRequest();
                              });
    } else {
      ReadRequest();
    }
  }

  // It no longer counts as waiting at once, or the next connection to come
  // would close it again instead of another one.
  void Close() override {
    StopWaiting();
    Tcp().close();
  }

  void Send(const std::string& name,
            std::shared_ptr<const std::string> event) override {
    next_events_[name] = std::move(event);
    if (sent_event_ == nullptr) SendNextEvent();
  }

 private:
  boost::beast::tcp_stream& Tcp() {
    return boost::beast::get_lowest_layer(stream_);
  }

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
    boost::beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](
            const boost::system::error_code& error, size_t /*bytes*/) {
          self->StopWaiting();
          self->OnRead(error);
        });
  }

  void OnRead(const boost::system::error_code& error) {
    with_body_ = true;
    keep_alive_ = false;
    if (error.category() == boost::beast::http::make_error_code(
                                boost::beast::http::error::bad_method)
                                .category() &&
        error != boost::beast::http::error::end_of_stream &&
        error != boost::beast::http::error::partial_message) {
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
    bytes_ = static_cast<int64_t>(response.body.size());
    if (!server_.BeginResponse(bytes_)) {
      response = BusyResponse("other large answers");
      bytes_ = 0;
    } else if (response.is_event_stream &&
               !server_.Follow(this->shared_from_this())) {
      response = BusyResponse(
          "as many live views as it serves at a time; close one of them");
    }
    const bool is_event_stream = response.is_event_stream;
    response_.emplace(
        ToRaw(std::move(response), version_, keep_alive_, with_body_));
    SetDeadline(server_.limits().response_time);
    boost::beast::http::async_write(
        stream_, *response_,
        [self = this->shared_from_this(), is_event_stream](
            const boost::system::error_code& error, size_t /*bytes*/) {
          self->server_.EndResponse(self->bytes_);
          self->OnWritten(error, is_event_stream);
        });
  }

  void OnWritten(const boost::system::error_code& error, bool is_event_stream) {
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
    boost::system::error_code ignored;
    Tcp().socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send,
                            ignored);
    Tcp().expires_after(kLingerTime);
    Discard();
  }

  void Discard() {
    Tcp().async_read_some(boost::asio::buffer(discarded_),
                          [self = this->shared_from_this()](
                              const boost::system::error_code& error, size_t) {
                            if (!error) self->Discard();
                          });
  }

  // ---- Events

  void BeginEvents() {
    // Notices that the client is gone; it has nothing more to say.
    Tcp().expires_never();
    stream_.async_read_some(boost::asio::buffer(discarded_),
                            [self = this->shared_from_this()](
                                const boost::system::error_code&, size_t) {
                              self->StopFollowing();
                              self->Close();
                            });
    is_following_ = true;
    SendNextEvent();
  }

  void SendNextEvent() {
    if (!is_following_ || next_events_.empty()) return;
    sent_event_ = std::move(next_events_.begin()->second);
    next_events_.erase(next_events_.begin());
    SetDeadline(server_.limits().response_time / kEventsPerResponseTime);
    boost::asio::async_write(
        stream_, boost::asio::buffer(*sent_event_),
        [self = this->shared_from_this()](
            const boost::system::error_code& error, size_t /*bytes*/) {
          self->sent_event_ = nullptr;
          error ? self->StopFollowing() : self->SendNextEvent();
        });
  }

  void StopFollowing() {
    is_following_ = false;
    server_.Unfollow(this->shared_from_this());
  }

  ConnectionHost& server_;
  Stream stream_;
  boost::beast::flat_buffer buffer_;
  std::string local_address_;
  std::vector<std::string> caller_names_;
  std::optional<ConnectionHost::Waiting::iterator> place_;

  // The current request and its response.
  std::optional<RequestParser> parser_;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool with_body_ = true;
  std::optional<RawResponse> response_;
  int64_t bytes_ = 0;

  bool is_following_ = false;
  std::shared_ptr<const std::string> sent_event_;
  std::map<std::string, std::shared_ptr<const std::string>> next_events_;
  std::array<char, 4096> discarded_;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_CONNECTION_H_
