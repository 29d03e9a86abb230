#include "distbench/products/dashboard/http/http_server.h"

#include <netinet/in.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/threads.h"
#include "distbench/products/dashboard/http/connection.h"
#include "glog/logging.h"

namespace distbench::dashboard {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

constexpr int kThreadsPerLane = 2;

// Responses up to this size are sent even while large ones are many: the number
// of connections limits them.
constexpr int64_t kSmallResponseBytes = 64 << 10;

// How long the server accepts nothing after an error, such as too many files.
constexpr std::chrono::milliseconds kAcceptPause(100);

// Threads for one kind of request.
struct Lane {
  explicit Lane(int max_waiting) : max_waiting(max_waiting) {}

  const int max_waiting;
  int waiting = 0;  // used by the loop's thread
  net::thread_pool threads{kThreadsPerLane};
};

}  // namespace

class HttpServer::Impl final : public ConnectionHost {
 public:
  Impl(HttpServerOptions options, HttpHandler& handler)
      : limits_(options.limits),
        tls_(std::move(options.tls)),
        handler_(handler),
        instant_(limits_.waiting_requests),
        ordinary_(limits_.waiting_requests),
        slow_(limits_.waiting_slow_requests) {}

  ~Impl() override {
    loop_.stop();
    if (thread_.joinable()) thread_.join();
    for (Lane* lane : {&instant_, &ordinary_, &slow_}) {
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

  void SendState(const std::string& name, std::string event) {
    net::post(loop_,
              [this, name,
               state = std::make_shared<const std::string>(std::move(event))] {
                states_[name] = state;
                for (const auto& follower : followers_)
                  follower->Send(name, state);
              });
  }

  void SendHeartbeat() {
    net::post(loop_, [this] {
      for (const auto& follower : followers_) follower->Send("", heartbeat_);
    });
  }

  // ConnectionHost:
  const HttpLimits& limits() const override { return limits_; }
  Waiting::iterator BeginToWait(Connection* connection) override {
    return waiting_.insert(waiting_.end(), connection);
  }
  void EndWaiting(Waiting::iterator place) override { waiting_.erase(place); }
  void OnConnectionEnd() override { --connection_count_; }
  bool Follow(const std::shared_ptr<Connection>& connection) override {
    if (follower_count_ >= limits_.event_streams) return false;
    followers_.insert(connection);
    follower_count_ = static_cast<int>(followers_.size());
    for (const auto& [name, state] : states_) connection->Send(name, state);
    return true;
  }
  void Unfollow(const std::shared_ptr<Connection>& connection) override {
    followers_.erase(connection);
    follower_count_ = static_cast<int>(followers_.size());
  }
  bool BeginResponse(int64_t bytes) override {
    if (bytes > kSmallResponseBytes && response_bytes_ > 0 &&
        response_bytes_ + bytes > limits_.response_bytes) {
      return false;
    }
    response_bytes_ += bytes;
    return true;
  }
  void EndResponse(int64_t bytes) override { response_bytes_ -= bytes; }
  void Answer(HttpRequest request,
              std::function<void(HttpResponse)> on_answer) override;

 private:
  void RunLoop();
  void Accept(tcp::acceptor& acceptor);
  void AcceptLater(tcp::acceptor& acceptor);
  void Welcome(tcp::socket socket);

  Lane& LaneOf(const HttpRequest& request) {
    switch (handler_.LaneOf(request)) {
      case HttpLane::kInstant:
        return instant_;
      case HttpLane::kOrdinary:
        return ordinary_;
      case HttpLane::kSlow:
        return slow_;
    }
    return slow_;
  }

  const HttpLimits limits_;
  const std::shared_ptr<security::TlsContext> tls_;
  HttpHandler& handler_;
  int port_ = 0;
  int connection_count_ = 0;
  int64_t response_bytes_ = 0;
  Waiting waiting_;  // oldest first
  const std::shared_ptr<const std::string> heartbeat_ =
      std::make_shared<const std::string>(": heartbeat\n\n");
  std::map<std::string, std::shared_ptr<const std::string>> states_;
  std::set<std::shared_ptr<Connection>> followers_;
  std::atomic<int> follower_count_ = 0;

  // What is above outlives the connections, which end with the loop at the
  // latest.
  net::io_context loop_{1};
  std::list<tcp::acceptor> acceptors_;
  Lane instant_;
  Lane ordinary_;
  Lane slow_;
  std::thread thread_;
};

absl::Status HttpServer::Impl::Listen(const std::string& listen_address,
                                      int port) {
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

absl::Status HttpServer::Impl::Run() {
  for (tcp::acceptor& acceptor : acceptors_) Accept(acceptor);
  absl::StatusOr<std::thread> thread =
      base::StartThread("the dashboard", [this] { RunLoop(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

// Where memory is short, Asio and Beast throw, and a connection is lost. The
// process has work that must not end by that.
void HttpServer::Impl::RunLoop() {
  while (!loop_.stopped()) {
    try {
      loop_.run();
    } catch (const std::exception& error) {
      LOG(WARNING) << "the dashboard lost a connection: " << error.what();
    }
  }
}

void HttpServer::Impl::Accept(tcp::acceptor& acceptor) {
  acceptor.async_accept(
      [this, &acceptor](const error_code& error, tcp::socket socket) {
        if (error) {
          AcceptLater(acceptor);
          return;
        }
        Accept(acceptor);
        Welcome(std::move(socket));
      });
}

void HttpServer::Impl::AcceptLater(tcp::acceptor& acceptor) {
  auto pause = std::make_shared<net::steady_timer>(loop_, kAcceptPause);
  pause->async_wait(
      [this, &acceptor, pause](const error_code&) { Accept(acceptor); });
}

void HttpServer::Impl::Welcome(tcp::socket socket) {
  if (connection_count_ >= limits_.connections && !waiting_.empty()) {
    waiting_.front()->Close();
  }
  // All of them are being answered: this one has to try again.
  if (connection_count_ >= 2 * limits_.connections) return;
  std::shared_ptr<Connection> connection;
  if (tls_ == nullptr) {
    connection = std::make_shared<StreamConnection<boost::beast::tcp_stream>>(
        *this, std::move(socket));
  } else {
    net::ssl::context context(tls_->NewReference());
    connection = std::make_shared<StreamConnection<TlsStream>>(
        *this, boost::beast::tcp_stream(std::move(socket)), context);
  }
  ++connection_count_;
  connection->Begin();
}

void HttpServer::Impl::Answer(HttpRequest request,
                              std::function<void(HttpResponse)> on_answer) {
  Lane& lane = LaneOf(request);
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
          wanted == 0 ? base::FindFreePort(address) : wanted;
      if (!port.ok()) return port.status();
      status = impl->Listen(address, *port);
      if (status.ok()) break;
    }
    if (status.ok()) status = impl->Run();
    if (!status.ok()) return status;
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
  } catch (const std::system_error& error) {
    return base::NoThreadError("the dashboard", error);
  }
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->port(); }

int HttpServer::event_streams() const { return impl_->follower_count(); }

void HttpServer::SendState(const std::string& name, std::string event) {
  impl_->SendState(name, std::move(event));
}

void HttpServer::SendHeartbeat() { impl_->SendHeartbeat(); }

}  // namespace distbench::dashboard
