// The throughput of Cap'n Proto RPC as its users write it: kj's own sockets and
// event loop, one connection per client thread, calls answered in place. The
// messages are those of distbench's capnp driver.

#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bench/throughput.h"
#include "distbench/protocol/capnp/traffic.capnp.h"

namespace {

using distbench::capnp_schema::Message;
using distbench::capnp_schema::Traffic;

// What the driver's heads take, more or less.
constexpr int kHeadBytes = 8;

// Smaller payloads are copied, because a reference takes a segment.
constexpr int kMaxCopiedBytes = 4096;

constexpr uint64_t kMaxWords = 1 << 26;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

capnp::MessageSize SizeHint(int bytes) {
  const int copied_bytes = bytes > kMaxCopiedBytes ? 0 : bytes;
  return {.wordCount = 8 + static_cast<uint64_t>(copied_bytes) / 8,
          .capCount = 0};
}

void Fill(int bytes, Message::Builder message) {
  static const std::string* const block = new std::string(64 << 20, 'D');
  const int payload_bytes = bytes - kHeadBytes;
  std::memset(message.initHead(kHeadBytes).begin(), 'H', kHeadBytes);
  if (payload_bytes > kMaxCopiedBytes) {
    const auto* const bytes_of_block =
        reinterpret_cast<const kj::byte*>(block->data());
    message.adoptPayload(capnp::Orphanage::getForMessageContaining(message)
                             .referenceExternalData(capnp::Data::Reader(
                                 bytes_of_block, payload_bytes)));
  } else {
    std::memset(message.initPayload(payload_bytes).begin(), 'D', payload_bytes);
  }
}

capnp::ReaderOptions Limits() {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = kMaxWords;
  return options;
}

// ---------------------------------------------------------------------------
// Server

class Server final : public Traffic::Server {
 public:
  explicit Server(int response_bytes) : response_bytes_(response_bytes) {}

  kj::Promise<void> genericRpc(GenericRpcContext context) override {
    const Message::Reader request = context.getParams();
    if (request.getHead().size() != kHeadBytes) Fail("a wrong request");
    Fill(response_bytes_, context.initResults(SizeHint(response_bytes_)));
    return kj::READY_NOW;
  }

 private:
  const int response_bytes_;
};

// Waits, or polls without a pause if the threads are to spin: kj itself does
// not.
template <typename T>
void Await(kj::Promise<T> promise, kj::WaitScope& scope,
           const bench::Options& options) {
  while (options.spin_us > 0 && !promise.poll(scope)) {
  }
  promise.wait(scope);
}

kj::Own<kj::NetworkAddress> Parse(kj::AsyncIoContext& io, int port) {
  return io.provider->getNetwork()
      .parseAddress("127.0.0.1", port)
      .wait(io.waitScope);
}

void RunServer(const bench::Options& options) {
  kj::AsyncIoContext io = kj::setupAsyncIo();
  auto address = Parse(io, /*port=*/0);
  auto listener = address->listen();
  capnp::TwoPartyServer server(kj::heap<Server>(options.response_bytes));
  bench::AnnounceServer(std::to_string(listener->getPort()));
  Await(server.listen(*listener), io.waitScope, options);
}

// ---------------------------------------------------------------------------
// Client

// Keeps calls in flight on one connection.
class Client {
 public:
  Client(kj::AsyncIoStream& stream, const bench::Options& options,
         bench::Recorder& recorder)
      : network_(stream, capnp::rpc::twoparty::Side::CLIENT, Limits()),
        rpc_(capnp::makeRpcClient(network_)),
        traffic_(Bootstrap()),
        request_bytes_(options.request_bytes),
        recorder_(recorder) {}

  // One after the other, until the recorder has finished.
  kj::Promise<void> KeepCalling() {
    const int64_t sent_ns = bench::NowNs();
    auto request = traffic_.genericRpcRequest(SizeHint(request_bytes_));
    Fill(request_bytes_, request);
    return request.send().then([this, sent_ns](auto&& response) {
      if (response.getHead().size() != kHeadBytes) Fail("a wrong response");
      const int64_t now_ns = bench::NowNs();
      recorder_.Record(sent_ns, now_ns);
      if (recorder_.finished(now_ns)) return kj::Promise<void>(kj::READY_NOW);
      return KeepCalling();
    });
  }

 private:
  Traffic::Client Bootstrap() {
    capnp::MallocMessageBuilder message;
    auto server = message.initRoot<capnp::rpc::twoparty::VatId>();
    server.setSide(capnp::rpc::twoparty::Side::SERVER);
    return rpc_.bootstrap(server).castAs<Traffic>();
  }

  capnp::TwoPartyVatNetwork network_;
  capnp::RpcSystem<capnp::rpc::twoparty::VatId> rpc_;
  Traffic::Client traffic_;
  const int request_bytes_;
  bench::Recorder& recorder_;
};

void RunClientThread(const bench::Options& options, bench::Recorder& recorder) {
  kj::AsyncIoContext io = kj::setupAsyncIo();
  auto address = Parse(io, std::stoi(options.target));
  auto stream = address->connect().wait(io.waitScope);
  Client client(*stream, options, recorder);
  kj::Vector<kj::Promise<void>> calls;
  for (int i = 0; i < options.in_flight; ++i) calls.add(client.KeepCalling());
  Await(kj::joinPromises(calls.releaseAsArray()), io.waitScope, options);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options =
      bench::ParseOptions(argc, argv, "Bare Cap'n Proto: throughput.");
  if (options.threads != 1) Fail("this program has one thread per side");
  if (options.per_second > 0) Fail("this program has no open loop");
  if (options.server) {
    RunServer(options);
  } else {
    bench::RunClientThreads(options, [&](bench::Recorder& recorder) {
      RunClientThread(options, recorder);
    });
  }
}
