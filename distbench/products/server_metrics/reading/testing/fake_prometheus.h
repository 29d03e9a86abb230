// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// An HTTP server of which a test says what it does, for tests of what reads it.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_READING_TESTING_FAKE_PROMETHEUS_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_READING_TESTING_FAKE_PROMETHEUS_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/files.h"
#include "glog/logging.h"

namespace distbench::server_metrics {

// Listens on a port of loopback. Takes one connection at a time, reads the head
// of a request, and does what the script says of it.
class FakePrometheus {
 public:
  // The bytes to answer with before the connection is closed. An empty text
  // closes it at once; kNever keeps it open, without an answer, until the end.
  using Script = std::function<std::string(const std::string& request)>;
  static constexpr char kNever[] = "never";

  explicit FakePrometheus(Script script)
      : script_(std::move(script)),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                  sizeof(address)),
             0);
    CHECK_EQ(listen(listener_.get(), 16), 0);
    socklen_t size = sizeof(address);
    CHECK_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                         &size),
             0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }

  ~FakePrometheus() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  int port() const { return port_; }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }

  std::vector<std::string> requests() const {
    absl::MutexLock lock(&mutex_);
    return requests_;
  }

  // A whole answer with this body.
  static std::string Answer(absl::string_view body,
                            absl::string_view status = "200 OK") {
    return absl::StrCat(
        "HTTP/1.1 ", status,
        "\r\nContent-Type: application/json\r\nContent-Length: ", body.size(),
        "\r\n\r\n", body);
  }

  // The answer of a query with one element.
  static std::string Value(absl::string_view value,
                           absl::string_view timestamp = "1700000000.5") {
    return Answer(absl::StrCat(
        R"({"status":"success","data":{"resultType":"vector","result":[)",
        R"({"metric":{},"value":[)", timestamp, ",\"", value, "\"]}]}}"));
  }

 private:
  void Serve() {
    while (true) {
      base::FileDescriptor connection(
          accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (connection.get() < 0) {
        connection.Release();
        return;
      }
      std::string request;
      char bytes[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = read(connection.get(), bytes, sizeof(bytes));
        if (count <= 0) break;
        request.append(bytes, count);
      }
      {
        absl::MutexLock lock(&mutex_);
        requests_.push_back(request);
      }
      const std::string answer = script_(request);
      if (answer == kNever) {
        silent_.push_back(std::move(connection));
      } else {
        base::WriteAll(connection.get(), answer);
      }
    }
  }

  const Script script_;
  const base::FileDescriptor listener_;
  int port_ = 0;
  std::vector<base::FileDescriptor> silent_;
  mutable absl::Mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_READING_TESTING_FAKE_PROMETHEUS_H_
