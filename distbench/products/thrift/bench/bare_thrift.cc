// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The throughput of Apache Thrift without a framework around it: a blocking
// client per thread, which keeps calls in flight on its connection, and a
// server with a thread per connection, which answers them in order. Both send
// frames of the strict binary protocol, one write each.
//
// Nothing reads while a client sends its first calls, which must therefore fit
// into the sockets' buffers.

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/transport/TSocket.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>

#include "bench/throughput.h"
#include "distbench/products/thrift/testing/Traffic.h"

namespace {

using apache::thrift::protocol::TBinaryProtocol;
using apache::thrift::protocol::TBinaryProtocolFactory;
using apache::thrift::transport::TFramedTransport;
using apache::thrift::transport::TFramedTransportFactory;
using apache::thrift::transport::TServerSocket;
using apache::thrift::transport::TSocket;
using distbench::thrift::TrafficClient;

constexpr char kHost[] = "127.0.0.1";

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

// ---------------------------------------------------------------------------
// Server

class Handler final : public distbench::thrift::TrafficNull {
 public:
  explicit Handler(int reply_bytes) : reply_(reply_bytes, 'D') {}

  void GenericRpc(std::string& reply, const std::string& /*request*/) override {
    reply = reply_;
  }

 private:
  const std::string reply_;
};

// Announces the server once it listens.
class Announcer final : public apache::thrift::server::TServerEventHandler {
 public:
  explicit Announcer(TServerSocket& socket) : socket_(socket) {}

  void preServe() override {
    bench::AnnounceServer(std::to_string(socket_.getPort()));
  }

 private:
  TServerSocket& socket_;
};

void RunServer(const bench::Options& options) {
  const auto socket = std::make_shared<TServerSocket>(kHost, 0);
  apache::thrift::server::TThreadedServer server(
      std::make_shared<distbench::thrift::TrafficProcessor>(
          std::make_shared<Handler>(options.response_bytes)),
      socket, std::make_shared<TFramedTransportFactory>(),
      std::make_shared<TBinaryProtocolFactory>());
  server.setServerEventHandler(std::make_shared<Announcer>(*socket));
  server.serve();
}

// ---------------------------------------------------------------------------
// Client

void RunClientThread(const bench::Options& options, bench::Recorder& recorder) {
  const auto transport = std::make_shared<TFramedTransport>(
      std::make_shared<TSocket>(kHost, std::stoi(options.target)));
  transport->open();
  TrafficClient client(std::make_shared<TBinaryProtocol>(transport));
  const std::string request(options.request_bytes, 'D');
  std::string reply;
  std::deque<int64_t> sent_ns;  // of the calls in flight
  const auto send = [&] {
    sent_ns.push_back(bench::NowNs());
    client.send_GenericRpc(request);
  };
  for (int i = 0; i < options.in_flight / options.threads; ++i) send();
  while (!sent_ns.empty()) {
    client.recv_GenericRpc(reply);
    const int64_t now_ns = bench::NowNs();
    recorder.Record(sent_ns.front(), now_ns);
    sent_ns.pop_front();
    if (!recorder.finished(now_ns)) send();
  }
}

void RunClient(const bench::Options& options) {
  if (options.per_second > 0) Fail("this program has no open loop");
  bench::RunClientThreads(options, [&](bench::Recorder& recorder) {
    RunClientThread(options, recorder);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options =
      bench::ParseOptions(argc, argv, "Bare Thrift: throughput.");
  try {
    options.server ? RunServer(options) : RunClient(options);
  } catch (const apache::thrift::TException& error) {
    Fail(error.what());
  }
}
