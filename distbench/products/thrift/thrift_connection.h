#ifndef DISTBENCH_PRODUCTS_THRIFT_THRIFT_CONNECTION_H_
#define DISTBENCH_PRODUCTS_THRIFT_THRIFT_CONNECTION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/products/thrift/decoder.h"
#include "distbench/products/thrift/message.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::thrift {

// What one thrift driver counts. Thread-safe.
struct ThriftCounters : protocol::StreamCounters {
  // Calls that were answered with an exception.
  std::atomic<int64_t> exceptions = 0;

  // Requests that were no data RPCs, or malformed, which were answered so.
  std::atomic<int64_t> refused_requests = 0;

  // All counters that are not zero, by name.
  std::vector<protocol::DriverCounter> List() const;
};

// State shared by the connections of one worker.
struct ThriftContext : protocol::StreamContext {
  ThriftContext(const protocol::TcpSettings& settings,
                const protocol::ConnectionSecurity& security,
                ThriftCounters& counters)
      : StreamContext(security, counters, settings.spin_ns),
        settings(settings),
        thrift_counters(counters) {}

  const protocol::TcpSettings settings;
  ThriftCounters& thrift_counters;
};

// The messages of one connection in both directions. Used by its worker's
// thread.
class ThriftConnection : public protocol::StreamConnection {
 protected:
  explicit ThriftConnection(ThriftContext& context)
      : StreamConnection(context), context_(context) {}
  ~ThriftConnection() = default;

  ThriftContext& context() { return context_; }
  int64_t queued_bytes() const { return queue_.queued_bytes(); }

  // As StreamConnection; messages may have been queued before.
  void Open(protocol::Stream stream, bool watched);

  // Drops what is queued.
  void Close();

  // Queues a message, to be written by the next Flush() or earlier. May be
  // called before Open(). Returns the message's size.
  template <typename Header>
  int64_t Send(ThriftType type, uint32_t sequence_id, const Header& header,
               int64_t target_bytes) {
    const int64_t bytes =
        AppendGenericRpc(queue_, type, sequence_id, header, target_bytes);
    NoteQueued(bytes);
    return bytes;
  }

  // Same, with an encoded frame.
  void SendFrame(absl::string_view frame);

  // Reads once. Calls
  //   StreamError on_message(const ThriftMessage& message, int64_t read_ns)
  // for each message that has arrived.
  template <typename OnMessage>
  void Read(const OnMessage& on_message);

  // Called before what is queued is written.
  virtual void OnFlush() {}

  // Called when the connection has closed because of an error.
  virtual void OnLost(const std::string& reason) = 0;

 private:
  void Write() final;
  void OnBroken(const std::string& reason) final;

  void NoteQueued(int64_t bytes);

  ThriftContext& context_;
  protocol::WriteQueue queue_;
  ThriftDecoder decoder_;
  int64_t batched_bytes_ = 0;  // queued since the last Write()
};

template <typename OnMessage>
void ThriftConnection::Read(const OnMessage& on_message) {
  const size_t wanted = decoder_.bytes_to_skip() > context_.kReadBytes
                            ? context_.kMaxReadBytes
                            : context_.kReadBytes;
  const size_t received = ReadSome(wanted);
  if (received == 0) return;
  const int64_t read_ns = base::RealClock().MonotonicNs();
  const protocol::StreamError error =
      decoder_.Decode(absl::string_view(context_.read_buffer.get(), received),
                      [&](const ThriftMessage& message) {
                        return on_message(message, read_ns);
                      });
  if (error != protocol::StreamError::kNone) Break(error);
}

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_THRIFT_CONNECTION_H_
