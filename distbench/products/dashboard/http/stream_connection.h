// A connection with or without TLS. Only for http_server.cc: Boost.Beast takes
// long to compile.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_HTTP_STREAM_CONNECTION_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_HTTP_STREAM_CONNECTION_H_

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "distbench/products/dashboard/http/beast_messages.h"
#include "distbench/products/dashboard/http/connection.h"
#include "distbench/security/tls_session.h"

namespace distbench::dashboard {

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

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_STREAM_CONNECTION_H_
