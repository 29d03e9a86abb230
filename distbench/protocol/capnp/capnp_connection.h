#ifndef DISTBENCH_PROTOCOL_CAPNP_CAPNP_CONNECTION_H_
#define DISTBENCH_PROTOCOL_CAPNP_CAPNP_CONNECTION_H_

#include <capnp/rpc-twoparty.h>
#include <capnp/serialize-async.h>
#include <kj/async-io.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/protocol/capnp/settings.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench {

// State shared by the connections of one worker.
struct CapnpContext : StreamContext {
  CapnpContext(const CapnpSettings& settings,
               const ConnectionSecurity& security, StreamCounters& counters)
      : StreamContext(security, counters, settings.spin_ns),
        settings(settings) {}
  ~CapnpContext() noexcept = default;

  const CapnpSettings settings;

  // Has nothing to run while the poller waits: what wakes it comes from the
  // poller.
  kj::EventLoop loop;
};

// A connection with its Cap'n Proto session. Gives Cap'n Proto the bytes that
// the poller announces: its loop never waits. Used by its worker's thread.
//
// What touches Cap'n Proto's promises happens inside RunLoop(), never inside a
// callback of the engine: the thread may then be in another transport's loop.
class CapnpConnection : public StreamConnection, private kj::AsyncIoStream {
 protected:
  using RpcSystem = capnp::RpcSystem<capnp::rpc::twoparty::VatId>;
  using Side = capnp::rpc::twoparty::Side;

  CapnpConnection(CapnpContext& context, Side side);
  // The session must have ended.
  ~CapnpConnection() = default;

  CapnpContext& context() const { return context_; }

  // Null outside OnEvents(), which delivers all messages that arrive.
  TransportEvents* events() { return events_; }

  // The monotonic time of the last read.
  int64_t read_ns() const { return read_ns_; }

  // Bytes that wait to be written.
  size_t queued_bytes() const {
    return network_ == nullptr ? 0 : network_->getCurrentQueueSize();
  }

  // Reads, delivers what has arrived, and writes.
  void OnEvents(uint32_t epoll_events, TransportEvents& events);

  // Ends the session, which drops its promises. There may be none.
  void EndSession();

  // Closes the stream, and ends the session.
  void Close() {
    StreamConnection::Close();
    EndSession();
  }

  // Called when the connection has closed because of an error.
  virtual void OnLost(const std::string& reason) = 0;

  // Begins to speak Cap'n Proto over the network.
  virtual RpcSystem BeginRpc(capnp::TwoPartyVatNetwork& network) = 0;

  // Whether the connection is open and greeted.
  virtual bool IsReady() const = 0;

  // Whether messages may be delivered, which is asked again after each.
  virtual bool MayRead() const { return true; }

  // Called before anything is written, also while the connection is not ready.
  virtual void OnFlush() {}

  // Called in the loop before it runs: hands over what has been queued.
  virtual void Submit() = 0;

  // Called in the loop after it has run, and before the session ends: drops the
  // promises of calls that are over.
  virtual void Collect() = 0;

  // Called before the session ends, in the loop: drops all promises.
  virtual void DropPromises() = 0;

 private:
  // Less than a millisecond of work, and as much as a record of TLS.
  static constexpr size_t kInputBytes = 16 * 1024;

  // What Cap'n Proto waits to read.
  struct Wanted {
    char* to = nullptr;
    size_t min_bytes = 0;  // of what is missing
    size_t max_bytes = 0;
    size_t taken_bytes = 0;
  };

  // StreamConnection.
  void Write() final;
  void OnBroken(const std::string& reason) final {
    EndSession();
    OnLost(reason);
  }

  // kj::AsyncIoStream.
  kj::Promise<size_t> tryRead(void* buffer, size_t min_bytes,
                              size_t max_bytes) override;
  kj::Promise<void> write(const void* buffer, size_t size) override;
  kj::Promise<void> write(
      kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override;
  kj::Promise<void> whenWriteDisconnected() override { return kj::NEVER_DONE; }
  void shutdownWrite() override {}

  void BeginSession();
  void RunLoop();
  bool IsAwaited();
  void Receive(uint32_t epoll_events);
  void TakeInput();
  bool Feed();
  kj::Promise<void> SendOutput();
  void ContinueOutput();

  CapnpContext& context_;
  const Side side_;
  TransportEvents* events_ = nullptr;
  int64_t read_ns_ = 0;

  // What was read and not taken yet.
  const std::unique_ptr<char[]> input_;
  size_t input_begin_ = 0;
  size_t input_end_ = 0;

  Wanted wanted_;
  kj::Own<kj::PromiseFulfiller<size_t>> read_;  // null: nothing is wanted

  // What is left of the message that is being written.
  std::vector<iovec> output_;
  size_t next_output_ = 0;
  kj::Own<kj::PromiseFulfiller<void>> written_;  // null: nothing is left

  // Reads one message at a time. By default, versions after 0.9 take as many as
  // they can, and deliver them without asking MayRead().
  capnp::AsyncIoMessageStream messages_;

  // The session; null if there is none.
  std::unique_ptr<capnp::TwoPartyVatNetwork> network_;
  std::unique_ptr<RpcSystem> rpc_;
  kj::Promise<void> disconnected_ = nullptr;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CAPNP_CAPNP_CONNECTION_H_
