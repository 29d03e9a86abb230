// Boost.Beast's messages and ours. Only for http_server.cc: Beast takes long to
// compile.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_HTTP_BEAST_MESSAGES_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_HTTP_BEAST_MESSAGES_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/products/dashboard/http/http_message.h"

namespace distbench::dashboard {

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

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_BEAST_MESSAGES_H_
