// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The throughput of HTTP/2 without a framework around it, by nghttp2: requests
// and responses of gRPC's shape (a body with five bytes before the message, and
// trailers) on one connection per client thread. Each side answers everything
// from one read with as few writes as possible. Bodies are copied into frames,
// as nghttp2 does unless it is told otherwise.

#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/sockets.h"
#include "bench/throughput.h"

namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr size_t kMaxWriteBytes = 256 * 1024;
constexpr int32_t kStreamWindowBytes = 1 << 20;
constexpr int32_t kConnectionWindowBytes = 16 << 20;
constexpr int kPrefixBytes = 5;

// Of an nghttp2 function.
void Check(ssize_t result) {
  if (result >= 0) return;
  std::fprintf(stderr, "%s\n", nghttp2_strerror(static_cast<int>(result)));
  std::exit(1);
}

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {
      .name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
      .value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
      .namelen = name.size(),
      .valuelen = value.size(),
      .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

// One RPC on its stream.
struct Exchange {
  int64_t unsent_bytes = 0;  // of this side's body
  int64_t sent_ns = 0;       // on the client
};

// One connection with its session.
class Connection {
 public:
  Connection(int fd, bool is_server, bench::Waiter& waiter)
      : fd_(fd),
        waiter_(waiter),
        is_server_(is_server),
        buffer_(new uint8_t[kReadBytes]) {
    nghttp2_session_callbacks* callbacks = nullptr;
    Check(nghttp2_session_callbacks_new(&callbacks));
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    Check(is_server ? nghttp2_session_server_new(&session_, callbacks, this)
                    : nghttp2_session_client_new(&session_, callbacks, this));
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                           kStreamWindowBytes};
    Check(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1));
    Check(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                                kConnectionWindowBytes));
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() {
    nghttp2_session_del(session_);
    close(fd_);
  }

  // From now on, the waiter's thread calls OnReady().
  void Start() { waiter_.Watch(EPOLL_CTL_ADD, fd_, EPOLLIN, this); }

  // Handles what has arrived, and sends what that allows.
  void OnReady(uint32_t events) {
    if (events & ~EPOLLOUT) Read();
    Write();
  }

  void Write() {
    while (!closed_) {
      if (written_ == out_.size() && !Gather()) break;
      const ssize_t sent =
          send(fd_, out_.data() + written_, out_.size() - written_,
               MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0) break;  // no room, or a loss that the next read notices
      written_ += sent;
    }
    Await(written_ < out_.size());
  }

  bool closed() const { return closed_; }

 protected:
  nghttp2_session* session() { return session_; }
  int64_t read_ns() const { return read_ns_; }

  // The peer has sent all of its message.
  virtual void OnMessage(int32_t stream_id) = 0;

  // What reads an exchange's body.
  static nghttp2_data_provider BodyOf(Exchange& exchange) {
    return {.source = {.ptr = &exchange}, .read_callback = ReadBody};
  }

 private:
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
        (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS)) {
      static_cast<Connection*>(self)->OnMessage(frame->hd.stream_id);
    }
    return 0;
  }

  static int OnClose(nghttp2_session* session, int32_t stream_id, uint32_t,
                     void*) {
    delete static_cast<Exchange*>(
        nghttp2_session_get_stream_user_data(session, stream_id));
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session* session, int32_t stream_id,
                          uint8_t* out, size_t size, uint32_t* flags,
                          nghttp2_data_source* source, void* self) {
    auto& exchange = *static_cast<Exchange*>(source->ptr);
    const auto taken =
        std::min(exchange.unsent_bytes, static_cast<int64_t>(size));
    std::memset(out, 'D', taken);
    exchange.unsent_bytes -= taken;
    if (exchange.unsent_bytes > 0) return taken;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (static_cast<Connection*>(self)->is_server_) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      static const nghttp2_nv kTrailer = Field("grpc-status", "0");
      Check(nghttp2_submit_trailer(session, stream_id, &kTrailer, 1));
    }
    return taken;
  }

  void Read() {
    const ssize_t received = recv(fd_, buffer_.get(), kReadBytes, MSG_DONTWAIT);
    if (received < 0 && errno == EAGAIN) return;
    if (received <= 0) {
      closed_ = true;
      waiter_.Watch(EPOLL_CTL_DEL, fd_, 0, nullptr);
      return;
    }
    read_ns_ = bench::NowNs();
    Check(nghttp2_session_mem_recv(session_, buffer_.get(), received));
  }

  // Puts the next frames together. Returns whether there are any.
  bool Gather() {
    out_.clear();
    written_ = 0;
    while (out_.size() < kMaxWriteBytes) {
      const uint8_t* frame = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &frame);
      Check(size);
      if (size == 0) break;
      out_.append(reinterpret_cast<const char*>(frame), size);
    }
    return !out_.empty();
  }

  // Whether to wait for room.
  void Await(bool room) {
    if (closed_ || room == awaits_room_) return;
    awaits_room_ = room;
    waiter_.Watch(EPOLL_CTL_MOD, fd_, room ? EPOLLIN | EPOLLOUT : EPOLLIN,
                  this);
  }

  const int fd_;
  bench::Waiter& waiter_;
  const bool is_server_;
  const std::unique_ptr<uint8_t[]> buffer_;
  nghttp2_session* session_ = nullptr;
  int64_t read_ns_ = 0;
  std::string out_;  // frames that are being written
  size_t written_ = 0;
  bool awaits_room_ = false;
  bool closed_ = false;  // by the peer
};

// ---------------------------------------------------------------------------
// Server

class ServerConnection final : public Connection {
 public:
  ServerConnection(int fd, bench::Waiter& waiter, int response_bytes)
      : Connection(fd, /*is_server=*/true, waiter),
        body_bytes_(kPrefixBytes + response_bytes) {}

 private:
  void OnMessage(int32_t stream_id) override {
    static const nghttp2_nv kFields[] = {
        Field(":status", "200"), Field("content-type", "application/grpc")};
    auto* exchange = new Exchange{.unsent_bytes = body_bytes_};
    nghttp2_session_set_stream_user_data(session(), stream_id, exchange);
    const nghttp2_data_provider body = BodyOf(*exchange);
    Check(nghttp2_submit_response(session(), stream_id, kFields,
                                  std::size(kFields), &body));
  }

  const int64_t body_bytes_;
};

// Serves connections, which any thread may add.
class ServerThread {
 public:
  explicit ServerThread(const bench::Options& options)
      : response_bytes_(options.response_bytes),
        waiter_(options.spin_us),
        thread_([this] { Run(); }) {}

  void Serve(int fd) {
    (new ServerConnection(fd, waiter_, response_bytes_))->Start();
  }

 private:
  [[noreturn]] void Run() {
    while (true) {
      waiter_.RunOnce(bench::kForever, [](void* ready, uint32_t events) {
        static_cast<Connection*>(ready)->OnReady(events);
      });
    }
  }

  const int response_bytes_;
  bench::Waiter waiter_;
  std::thread thread_;
};

[[noreturn]] void RunServer(const bench::Options& options) {
  std::vector<std::unique_ptr<ServerThread>> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.push_back(std::make_unique<ServerThread>(options));
  }
  size_t next = 0;
  bench::AcceptForever(
      [&](int fd) { threads[next++ % threads.size()]->Serve(fd); });
}

// ---------------------------------------------------------------------------
// Client

// Keeps requests in flight.
class ClientConnection final : public Connection {
 public:
  ClientConnection(const bench::Options& options, bench::Waiter& waiter,
                   bench::Recorder& recorder)
      : Connection(bench::ConnectTo(options.target), /*is_server=*/false,
                   waiter),
        body_bytes_(kPrefixBytes + options.request_bytes),
        recorder_(recorder) {
    const int in_flight = options.in_flight / options.threads;
    for (int i = 0; i < in_flight; ++i) Send(bench::NowNs());
    Start();
    Write();
  }

  bool finished() const { return in_flight_ == 0; }

 private:
  void Send(int64_t now_ns) {
    static const nghttp2_nv kFields[] = {
        Field(":method", "POST"),
        Field(":scheme", "http"),
        Field(":path", "/distbench.Traffic/GenericRpc"),
        Field(":authority", "localhost"),
        Field("te", "trailers"),
        Field("content-type", "application/grpc")};
    ++in_flight_;
    auto* exchange =
        new Exchange{.unsent_bytes = body_bytes_, .sent_ns = now_ns};
    const nghttp2_data_provider body = BodyOf(*exchange);
    Check(nghttp2_submit_request(session(), nullptr, kFields,
                                 std::size(kFields), &body, exchange));
  }

  void OnMessage(int32_t stream_id) override {
    --in_flight_;
    const auto* exchange = static_cast<const Exchange*>(
        nghttp2_session_get_stream_user_data(session(), stream_id));
    recorder_.Record(exchange->sent_ns, read_ns());
    if (!recorder_.finished(read_ns())) Send(read_ns());
  }

  const int64_t body_bytes_;
  bench::Recorder& recorder_;
  int in_flight_ = 0;
};

void RunClient(const bench::Options& options) {
  if (options.per_second > 0) {
    std::fprintf(stderr, "this program has no open loop\n");
    std::exit(1);
  }
  bench::RunClientThreads(options, [&](bench::Recorder& recorder) {
    bench::Waiter waiter(options.spin_us);
    ClientConnection client(options, waiter, recorder);
    while (!client.finished()) {
      waiter.RunOnce(bench::kForever, [](void* ready, uint32_t events) {
        static_cast<Connection*>(ready)->OnReady(events);
      });
      if (!client.closed()) continue;
      std::fprintf(stderr, "the server has closed the connection\n");
      std::exit(1);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options =
      bench::ParseOptions(argc, argv, "Bare HTTP/2 by nghttp2: throughput.");
  if (options.server) RunServer(options);
  RunClient(options);
}
