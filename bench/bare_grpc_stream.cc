// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The throughput of gRPC streams without a framework around them: messages on
// bidirectional streams, of each client thread one or several, over the generic
// completion-queue API. The server answers in order.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/throughput.h"

namespace {

constexpr char kMethod[] = "/distbench.Traffic/GenericStream";

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

grpc::ByteBuffer MakeMessage(int bytes) {
  static const std::string* const block = new std::string(64 << 20, 'D');
  const grpc::Slice slice(block->data(), bytes, grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(&slice, 1);
}

// The tag of an operation; called with gRPC's verdict.
using Tag = std::function<void(bool ok)>;

// Runs the next completion of the queue.
void RunNext(grpc::CompletionQueue& queue, int spin_us) {
  void* tag = nullptr;
  bool ok = false;
  const int64_t until_ns = bench::NowNs() + int64_t{1000} * spin_us;
  while (spin_us > 0 && bench::NowNs() < until_ns) {
    const auto status =
        queue.AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
    if (status != grpc::CompletionQueue::GOT_EVENT) continue;
    (*static_cast<Tag*>(tag))(ok);
    return;
  }
  if (!queue.Next(&tag, &ok)) Fail("the queue was shut down");
  (*static_cast<Tag*>(tag))(ok);
}

// Writes messages of one size, one after another.
template <typename Stream>
class Writer {
 public:
  // Calls `on_idle` when everything is written.
  Writer(
      Stream& stream, int bytes, std::function<void()> on_idle = [] {})
      : stream_(stream), bytes_(bytes), on_idle_(std::move(on_idle)) {}

  void Add() {
    ++waiting_;
    if (!writing_) WriteNext();
  }

  bool is_idle() const { return !writing_; }

 private:
  void WriteNext() {
    writing_ = waiting_ > 0;
    if (!writing_) return on_idle_();
    --waiting_;
    grpc::WriteOptions options;
    if (waiting_ > 0) options.set_buffer_hint();  // share a write
    stream_.Write(MakeMessage(bytes_), options, &written_);
  }

  Stream& stream_;
  const int bytes_;
  const std::function<void()> on_idle_;
  int waiting_ = 0;
  bool writing_ = false;
  Tag written_ = [this](bool ok) {
    if (ok) WriteNext();
  };
};

// ---------------------------------------------------------------------------
// Server

// Serves one stream, which ends when the client has sent and got everything.
class ServerStream {
 public:
  ServerStream(grpc::AsyncGenericService& service,
               grpc::ServerCompletionQueue& queue, int response_bytes)
      : service_(service),
        queue_(queue),
        response_bytes_(response_bytes),
        writer_(stream_, response_bytes, [this] { FinishIfOver(); }) {
    service.RequestCall(&context_, &stream_, &queue, &queue, &accepted_);
  }

 private:
  void OnAccepted() {
    new ServerStream(service_, queue_, response_bytes_);
    stream_.Read(&request_, &read_);
  }

  void FinishIfOver() {
    if (is_over_ && writer_.is_idle()) {
      stream_.Finish(grpc::Status::OK, &finished_);
    }
  }

  // The one that ended last, whose tag may still run.
  void Leave() {
    static thread_local std::unique_ptr<ServerStream> ended;
    ended.reset(this);
  }

  grpc::AsyncGenericService& service_;
  grpc::ServerCompletionQueue& queue_;
  const int response_bytes_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  grpc::ByteBuffer request_;
  Writer<grpc::GenericServerAsyncReaderWriter> writer_;
  Tag accepted_ = [this](bool ok) {
    if (ok) OnAccepted();
  };
  bool is_over_ = false;  // the requests
  Tag finished_ = [this](bool) { Leave(); };
  Tag read_ = [this](bool ok) {
    if (!ok) {
      is_over_ = true;
      return FinishIfOver();
    }
    writer_.Add();
    stream_.Read(&request_, &read_);
  };
};

void RunServer(const bench::Options& options) {
  grpc::AsyncGenericService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterAsyncGenericService(&service);
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues;
  for (int i = 0; i < options.threads; ++i) {
    queues.push_back(builder.AddCompletionQueue());
  }
  const auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) Fail("cannot listen");
  std::vector<std::thread> threads;
  for (const auto& queue : queues) {
    new ServerStream(service, *queue, options.response_bytes);
    threads.emplace_back([&] {
      while (true) RunNext(*queue, options.spin_us);
    });
  }
  bench::AnnounceServer("ipv4:127.0.0.1:" + std::to_string(port));
  for (std::thread& thread : threads) thread.join();
}

// ---------------------------------------------------------------------------
// Client

// How many streams a thread has.
int StreamsOf(const bench::Options& options) {
  return std::max(1, options.streams / options.threads);
}

// Keeps messages in flight on one stream.
class ClientStream {
 public:
  ClientStream(grpc::GenericStub& stub, grpc::CompletionQueue& queue,
               const bench::Options& options, bench::Recorder& recorder)
      : stream_(stub.PrepareCall(&context_, kMethod, &queue)),
        writer_(*stream_, options.request_bytes),
        recorder_(recorder),
        in_flight_(options.in_flight / options.threads / StreamsOf(options)) {
    stream_->StartCall(&started_);
  }

  bool finished() const { return sent_ns_.empty() && has_started_; }

 private:
  void OnStarted() {
    has_started_ = true;
    for (int i = 0; i < in_flight_; ++i) Send();
    stream_->Read(&reply_, &read_);
  }

  void Send() {
    sent_ns_.push_back(bench::NowNs());
    writer_.Add();
  }

  void OnReply() {
    const int64_t now_ns = bench::NowNs();
    recorder_.Record(sent_ns_.front(), now_ns);
    sent_ns_.pop_front();
    if (!recorder_.finished(now_ns)) Send();
    if (!finished()) stream_->Read(&reply_, &read_);
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  Writer<grpc::GenericClientAsyncReaderWriter> writer_;
  bench::Recorder& recorder_;
  const int in_flight_;
  bool has_started_ = false;
  std::deque<int64_t> sent_ns_;  // of the messages in flight
  grpc::ByteBuffer reply_;
  Tag started_ = [this](bool ok) { ok ? OnStarted() : Fail("no stream"); };
  Tag read_ = [this](bool ok) { ok ? OnReply() : Fail("the stream ended"); };
};

void RunClientThread(const bench::Options& options, bench::Recorder& recorder) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // Retries would keep a copy of what is sent.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel = grpc::CreateCustomChannel(
      options.target, grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() +
                                 std::chrono::seconds(10))) {
    Fail("cannot connect");
  }
  grpc::GenericStub stub(channel);
  // Not destroyed: operations are left on the stream when the process ends.
  auto* queue = new grpc::CompletionQueue;
  std::vector<ClientStream*> streams;
  for (int i = 0; i < StreamsOf(options); ++i) {
    streams.push_back(new ClientStream(stub, *queue, options, recorder));
  }
  for (const ClientStream* stream : streams) {
    while (!stream->finished()) RunNext(*queue, options.spin_us);
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
      bench::ParseOptions(argc, argv, "Bare gRPC streams: throughput.");
  options.server ? RunServer(options) : RunClient(options);
}
