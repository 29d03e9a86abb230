// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/products/server_metrics/prometheus_answer.h"
#include "distbench/products/server_metrics/reading/metric_source.h"

namespace distbench::server_metrics {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

// One number needs a few hundred.
constexpr uint32_t kMaxHeaderBytes = 16 * 1024;
constexpr uint64_t kMaxBodyBytes = 256 * 1024;

// A request and its answer, step by step, each of which ends by the deadline of
// the stream at the latest.
class Exchange {
 public:
  Exchange(asio::io_context& io, const tcp::resolver::results_type& addresses,
           http::request<http::empty_body> request, absl::Duration timeout)
      : stream_(io), request_(std::move(request)) {
    answer_.header_limit(kMaxHeaderBytes);
    answer_.body_limit(std::numeric_limits<uint64_t>::max());
    stream_.expires_after(
        std::chrono::nanoseconds(absl::ToInt64Nanoseconds(timeout)));
    stream_.async_connect(
        addresses, [this](beast::error_code error, const tcp::endpoint&) {
          if (Continues("cannot connect to", error)) Send();
        });
  }

  void Close() { stream_.close(); }

  // The error says what failed and why, to be followed by the address.
  const absl::Status& status() const { return status_; }
  const http::response<http::string_body>& answer() const {
    return answer_.get();
  }

 private:
  void Send() {
    http::async_write(stream_, request_,
                      [this](beast::error_code error, size_t) {
                        if (Continues("cannot send to", error)) Receive();
                      });
  }

  // The limit of bodies is checked here, before there is room for one, because
  // Beast does not hold it for responses that say how long they are.
  void Receive() {
    http::async_read_header(
        stream_, buffer_, answer_, [this](beast::error_code error, size_t) {
          if (!Continues("no answer from", error)) return;
          if (IsTooLong(answer_.content_length().value_or(0))) return;
          ReceiveBody();
        });
  }

  void ReceiveBody() {
    if (answer_.is_done()) return;
    http::async_read_some(stream_, buffer_, answer_,
                          [this](beast::error_code error, size_t) {
                            if (Continues("no answer from", error) &&
                                !IsTooLong(answer_.get().body().size())) {
                              ReceiveBody();
                            }
                          });
  }

  bool IsTooLong(uint64_t size) {
    if (size <= kMaxBodyBytes) return false;
    status_ = absl::ResourceExhaustedError(absl::StrCat(
        "the answer is longer than ", kMaxBodyBytes >> 10,
        " KiB; let the query give one number, for example with sum()"));
    return true;
  }

  bool Continues(absl::string_view what, beast::error_code error) {
    if (!error) return true;
    if (error == beast::error::timeout) {
      status_ = absl::DeadlineExceededError(
          absl::StrCat(what, " it within the timeout"));
    } else {
      status_ =
          absl::UnavailableError(absl::StrCat(what, " it: ", error.message()));
    }
    return false;
  }

  beast::tcp_stream stream_;
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_{kMaxHeaderBytes};
  http::response_parser<http::string_body> answer_;
  absl::Status status_;
};

class PrometheusSource final : public MetricSource {
 public:
  PrometheusSource(const PrometheusUrl& url, const std::string& query)
      : url_(url), query_(query) {
    tcp::resolver resolver(io_);
    beast::error_code error;
    addresses_ = resolver.resolve(url.host, url.port, error);
    if (error) {
      resolved_ = absl::UnavailableError(
          absl::StrCat(url.host, " has no address: ", error.message()));
    }
  }

  absl::StatusOr<SourceReading> Read(absl::Duration timeout) override {
    if (!resolved_.ok()) return resolved_;
    io_.restart();
    Exchange exchange(io_, addresses_, RequestFor(timeout), timeout);
    exchange_ = &exchange;
    if (is_cancelled_) exchange.Close();
    io_.run();
    exchange_ = nullptr;
    if (is_cancelled_) return absl::CancelledError("the traffic ended");
    if (!exchange.status().ok()) return exchange.status();
    const absl::StatusOr<PrometheusAnswer> answer = ParsePrometheusAnswer(
        exchange.answer().result_int(), exchange.answer().body());
    if (!answer.ok()) return answer.status();
    return SourceReading{.value = answer->value,
                         .timestamp_s = answer->timestamp_s};
  }

  void Cancel() override {
    is_cancelled_ = true;
    asio::post(io_, [this] {
      if (exchange_ != nullptr) exchange_->Close();
    });
  }

 private:
  http::request<http::empty_body> RequestFor(absl::Duration timeout) const {
    http::request<http::empty_body> request(
        http::verb::get,
        QueryTarget(url_, query_, absl::ToInt64Milliseconds(timeout)),
        /*version=*/11);
    request.set(http::field::host, HostHeader());
    request.set(http::field::user_agent, "distbench");
    request.set(http::field::connection, "close");
    return request;
  }

  // An IPv6 address has brackets there.
  std::string HostHeader() const {
    return absl::StrCat(absl::StrContains(url_.host, ':')
                            ? absl::StrCat("[", url_.host, "]")
                            : url_.host,
                        ":", url_.port);
  }

  const PrometheusUrl url_;
  const std::string query_;
  asio::io_context io_;
  tcp::resolver::results_type addresses_;
  absl::Status resolved_;
  Exchange* exchange_ = nullptr;  // only used by the thread that reads
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace

std::unique_ptr<MetricSource> MakePrometheusSource(const PrometheusUrl& url,
                                                   const std::string& query) {
  return std::make_unique<PrometheusSource>(url, query);
}

}  // namespace distbench::server_metrics
