// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The throughput of TCP without a framework around it: a stream of messages
// with a size and a timestamp each, and one epoll and one thread on each side.
// A server answers everything from one read with one write, and a client sends
// what one read allows with one write (at most --max_batch messages). With
// --max_batch=1 each message is a separate write. With --spin_us the threads
// poll before they block.
//
// Large messages are read into one buffer, over and over, and written from one
// block, so neither side looks at their bytes.
//
// With --tls_ca both sides show certificates, and OpenSSL works on the socket
// itself: it reads ahead, and each record of a write is a system call.

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/sockets.h"
#include "bench/throughput.h"

namespace {

// The header of each message.
struct MessageHeader {
  uint32_t bytes = 0;        // size of the message that follows
  uint32_t reply_bytes = 0;  // requested size of the reply
  int64_t sent_ns = 0;       // a reply repeats that of its request
};

constexpr size_t kReadBytes = 256 * 1024;
constexpr int64_t kMaxWriteBytes = 512 * 1024;
constexpr int kMaxPieces = 128;
constexpr int64_t kMaxCopiedBytes = 512;
constexpr size_t kMaxRecordBytes = 16 * 1024;
constexpr size_t kTlsReadBytes = 64 * 1024;

using bench::Fail;
using bench::kForever;

const char* Block() {
  static const std::string* const block = new std::string(64 << 20, 'D');
  return block->data();
}

// Null without TLS.
SSL_CTX* MakeTlsContext(const bench::Options& options) {
  if (options.tls_ca.empty()) return nullptr;
  SSL_CTX* context = SSL_CTX_new(TLS_method());
  if (SSL_CTX_load_verify_locations(context, options.tls_ca.c_str(), nullptr) !=
          1 ||
      SSL_CTX_use_certificate_chain_file(context, options.tls_cert.c_str()) !=
          1 ||
      SSL_CTX_use_PrivateKey_file(context, options.tls_key.c_str(),
                                  SSL_FILETYPE_PEM) != 1) {
    Fail("cannot use the certificates");
  }
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_default_read_buffer_len(context, kTlsReadBytes);
  return context;
}

// Performs the handshake on a socket that blocks until then.
SSL* Secure(int fd, SSL_CTX* context, bool is_server) {
  if (context == nullptr) return nullptr;
  SSL* tls = SSL_new(context);
  SSL_set_fd(tls, fd);
  if ((is_server ? SSL_accept(tls) : SSL_connect(tls)) != 1) {
    Fail("TLS handshake");
  }
  // Not before: it would read ahead what no epoll tells about.
  SSL_set_read_ahead(tls, 1);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return tls;
}

// One connection, for reading and writing messages.
class Connection {
 public:
  // With TLS unless `tls` is null.
  Connection(int fd, SSL* tls, bench::Waiter& waiter)
      : fd_(fd), tls_(tls), waiter_(waiter) {
    waiter.Watch(EPOLL_CTL_ADD, fd, EPOLLIN, this);
  }

  // Reads once, with TLS until nothing is left of what OpenSSL has read ahead,
  // and calls on_message(header) for each complete message.
  template <typename OnMessage>
  void Read(char* buffer, const OnMessage& on_message) {
    while (ReadSome(buffer, on_message) && tls_ != nullptr &&
           SSL_has_pending(tls_)) {
    }
  }

  void Send(const MessageHeader& header) {
    const auto* bytes = reinterpret_cast<const char*>(&header);
    out_.insert(out_.end(), bytes, bytes + sizeof(header));
    if (header.bytes <= kMaxCopiedBytes) {
      out_.insert(out_.end(), header.bytes, 'D');
    } else {
      bodies_.push_back({out_.size(), header.bytes});
    }
    ++batched_;
  }
  int batched() const { return batched_; }
  bool closed() const { return closed_; }

  void Flush() {
    batched_ = 0;
    if (!full_ && !empty()) WriteOnce();
  }

  void OnWritable() {
    full_ = false;
    WriteOnce();
    if (!full_) waiter_.Watch(EPOLL_CTL_MOD, fd_, EPOLLIN, this);
  }

 private:
  struct Body {
    size_t position;  // it follows this byte of out_
    int64_t bytes;    // left to write
  };

  // Returns whether anything was read.
  template <typename OnMessage>
  bool ReadSome(char* buffer, const OnMessage& on_message) {
    const ssize_t received = tls_ != nullptr
                                 ? ReceiveRecord(buffer)
                                 : recv(fd_, buffer, kReadBytes, MSG_DONTWAIT);
    if (received == 0) {
      closed_ = true;
      close(fd_);
      return false;
    }
    if (received < 0) {
      if (errno == EAGAIN) return false;
      Fail("recv");
    }
    Parse(buffer, received, on_message);
    return true;
  }

  // As recv().
  ssize_t ReceiveRecord(char* buffer) {
    errno = 0;
    const int received = SSL_read(tls_, buffer, kReadBytes);
    return received > 0 ? received : ToError(received);
  }

  // As sendmsg().
  ssize_t SendRecords(const iovec* pieces, int count) {
    char record[kMaxRecordBytes];
    ssize_t total = 0;
    size_t offset = 0;  // into the first piece
    while (count > 0) {
      size_t size = 0;
      while (count > 0 && size < kMaxRecordBytes) {
        const size_t part =
            std::min(pieces->iov_len - offset, kMaxRecordBytes - size);
        std::memcpy(record + size,
                    static_cast<const char*>(pieces->iov_base) + offset, part);
        size += part;
        offset += part;
        if (offset < pieces->iov_len) break;
        offset = 0;
        ++pieces;
        --count;
      }
      errno = 0;
      const int sent = SSL_write(tls_, record, static_cast<int>(size));
      if (sent <= 0) return total > 0 ? total : ToError(sent);
      total += sent;
    }
    return total;
  }

  // Converts a result of OpenSSL to that of a system call.
  ssize_t ToError(int result) {
    switch (SSL_get_error(tls_, result)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
      case SSL_ERROR_ZERO_RETURN:
        return 0;
      default:
        return errno == 0 ? 0 : -1;  // 0: closed without a word
    }
  }

  template <typename OnMessage>
  void Parse(const char* next, size_t left, const OnMessage& on_message) {
    while (left > 0) {
      if (header_bytes_ < sizeof(header_)) {
        const size_t part = std::min(left, sizeof(header_) - header_bytes_);
        std::memcpy(reinterpret_cast<char*>(&header_) + header_bytes_, next,
                    part);
        header_bytes_ += part;
        next += part;
        left -= part;
        if (header_bytes_ < sizeof(header_)) return;
        body_left_ = header_.bytes;
      }
      const size_t part = std::min(left, body_left_);
      next += part;
      left -= part;
      body_left_ -= part;
      if (body_left_ > 0) return;
      header_bytes_ = 0;
      on_message(header_);
    }
  }

  bool empty() const {
    return written_ == out_.size() && first_body_ == bodies_.size();
  }

  void WriteOnce() {
    iovec pieces[kMaxPieces];
    int count = 0;
    int64_t room = kMaxWriteBytes;
    size_t position = written_;
    const auto add = [&](const char* data, int64_t bytes) {
      bytes = std::min(bytes, room);
      if (bytes == 0) return;
      pieces[count++] = {const_cast<char*>(data), static_cast<size_t>(bytes)};
      room -= bytes;
    };
    for (size_t i = first_body_; room > 0 && count + 2 <= kMaxPieces; ++i) {
      const size_t until =
          i < bodies_.size() ? bodies_[i].position : out_.size();
      add(out_.data() + position, static_cast<int64_t>(until - position));
      position = until;
      if (i >= bodies_.size()) break;
      add(Block(), bodies_[i].bytes);
    }
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    const ssize_t sent =
        tls_ != nullptr ? SendRecords(pieces, count)
                        : sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) Fail("sendmsg");
    if (sent > 0) Drop(sent);
    if (empty()) {
      out_.clear();
      bodies_.clear();
      written_ = first_body_ = 0;
    } else if (!full_) {
      full_ = true;
      waiter_.Watch(EPOLL_CTL_MOD, fd_, EPOLLIN | EPOLLOUT, this);
    }
  }

  void Drop(int64_t bytes) {
    while (bytes > 0) {
      const bool has_body = first_body_ < bodies_.size();
      const size_t until =
          has_body ? bodies_[first_body_].position : out_.size();
      const auto part = std::min<int64_t>(bytes, until - written_);
      written_ += part;
      bytes -= part;
      if (written_ < until || !has_body) continue;
      Body& body = bodies_[first_body_];
      const int64_t body_part = std::min(bytes, body.bytes);
      body.bytes -= body_part;
      bytes -= body_part;
      if (body.bytes == 0) ++first_body_;
    }
  }

  const int fd_;
  SSL* const tls_;
  bench::Waiter& waiter_;

  MessageHeader header_;
  size_t header_bytes_ = 0;  // received so far
  size_t body_left_ = 0;

  std::vector<char> out_;  // headers and small bodies
  size_t written_ = 0;
  std::vector<Body> bodies_;
  size_t first_body_ = 0;
  int batched_ = 0;
  bool full_ = false;
  bool closed_ = false;  // by the peer
};

// Runs a thread's connections.
class Loop {
 public:
  explicit Loop(const bench::Options& options)
      : max_batch_(options.max_batch),
        waiter_(options.spin_us),
        buffer_(new char[kReadBytes]) {}

  bench::Waiter& waiter() { return waiter_; }

  void Send(Connection& connection, const MessageHeader& header) {
    connection.Send(header);
    if (connection.batched() >= max_batch_) connection.Flush();
  }

  // Waits for messages, until about until_ns at most.
  template <typename OnMessage>
  void RunOnce(int64_t until_ns, const OnMessage& on_message) {
    waiter_.RunOnce(until_ns, [&](void* ready, uint32_t events) {
      auto& connection = *static_cast<Connection*>(ready);
      if (events & EPOLLOUT) connection.OnWritable();
      if (events & ~EPOLLOUT) {
        int64_t read_ns = 0;
        connection.Read(buffer_.get(), [&](const MessageHeader& header) {
          if (read_ns == 0) read_ns = bench::NowNs();
          on_message(connection, header, read_ns);
        });
        connection.Flush();
      }
    });
  }

 private:
  const int max_batch_;
  bench::Waiter waiter_;
  const std::unique_ptr<char[]> buffer_;
};

// ---------------------------------------------------------------------------
// Server

// Serves connections, which any thread may add.
class ServerThread {
 public:
  explicit ServerThread(const bench::Options& options)
      : loop_(options), thread_([this] { Run(); }) {}

  void Serve(int fd, SSL* tls) { new Connection(fd, tls, loop_.waiter()); }

 private:
  [[noreturn]] void Run() {
    while (true) {
      loop_.RunOnce(kForever, [this](Connection& connection,
                                     const MessageHeader& request, int64_t) {
        loop_.Send(connection, {.bytes = request.reply_bytes,
                                .reply_bytes = 0,
                                .sent_ns = request.sent_ns});
      });
    }
  }

  Loop loop_;
  std::thread thread_;
};

[[noreturn]] void RunServer(const bench::Options& options) {
  Block();
  SSL_CTX* const tls = MakeTlsContext(options);
  std::vector<std::unique_ptr<ServerThread>> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.push_back(std::make_unique<ServerThread>(options));
  }
  size_t next = 0;
  bench::AcceptForever([&](int fd) {
    threads[next++ % threads.size()]->Serve(
        fd, Secure(fd, tls, /*is_server=*/true));
  });
}

// ---------------------------------------------------------------------------
// Client

class ClientThread {
 public:
  ClientThread(const bench::Options& options, bench::Recorder& recorder)
      : options_(options), recorder_(recorder), loop_(options) {
    SSL_CTX* const tls = MakeTlsContext(options);
    for (int i = 0; i < options.connections; ++i) {
      const int fd = bench::ConnectTo(options.target);
      connections_.push_back(std::make_unique<Connection>(
          fd, Secure(fd, tls, /*is_server=*/false), loop_.waiter()));
    }
  }

  void RunClosedLoop() {
    const int in_flight = options_.in_flight / options_.threads;
    for (int i = 0; i < in_flight; ++i) {
      Send(*connections_[i % connections_.size()], bench::NowNs());
    }
    Flush();
    while (in_flight_ > 0) {
      RunOnce(kForever, [&](Connection& connection, int64_t read_ns) {
        if (!recorder_.finished(read_ns)) Send(connection, read_ns);
      });
    }
  }

  void RunOpenLoop() {
    prctl(PR_SET_TIMERSLACK, 1);
    bench::Schedule schedule(options_);
    size_t next = 0;
    while (!recorder_.finished(schedule.next_ns()) || in_flight_ > 0) {
      const bool sends = !recorder_.finished(schedule.next_ns());
      const int64_t now_ns = bench::NowNs();
      if (sends && schedule.next_ns() <= now_ns) {
        Connection& connection = *connections_[next++ % connections_.size()];
        Send(connection, now_ns);
        connection.Flush();
        schedule.Advance();
      } else {
        RunOnce(sends ? schedule.next_ns() : kForever,
                [](Connection&, int64_t) {});
      }
    }
  }

 private:
  void Send(Connection& connection, int64_t now_ns) {
    ++in_flight_;
    loop_.Send(connection,
               {.bytes = static_cast<uint32_t>(options_.request_bytes),
                .reply_bytes = static_cast<uint32_t>(options_.response_bytes),
                .sent_ns = now_ns});
  }

  void Flush() {
    for (auto& connection : connections_) connection->Flush();
  }

  // Calls on_reply(connection, read_ns) for each reply that has arrived.
  template <typename OnReply>
  void RunOnce(int64_t until_ns, const OnReply& on_reply) {
    loop_.RunOnce(until_ns, [&](Connection& connection,
                                const MessageHeader& reply, int64_t read_ns) {
      --in_flight_;
      recorder_.Record(reply.sent_ns, read_ns);
      on_reply(connection, read_ns);
    });
    for (const auto& connection : connections_) {
      if (!connection->closed()) continue;
      std::fprintf(stderr, "the server has closed the connection\n");
      std::exit(1);
    }
  }

  const bench::Options& options_;
  bench::Recorder& recorder_;
  Loop loop_;
  std::vector<std::unique_ptr<Connection>> connections_;
  int in_flight_ = 0;
};

void RunClient(const bench::Options& options) {
  bench::RunClientThreads(options, [&](bench::Recorder& recorder) {
    ClientThread client(options, recorder);
    options.per_second > 0 ? client.RunOpenLoop() : client.RunClosedLoop();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options =
      bench::ParseOptions(argc, argv, "Bare TCP with epoll: throughput.");
  if (options.server) RunServer(options);
  RunClient(options);
}
