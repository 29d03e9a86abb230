// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The throughput of gRPC without a framework around it: its C++ API on
// completion queues, raw byte buffers, and payloads that refer to one static
// block. One queue per thread, and one connection per client thread. Uses the
// API's fastest way: a method registered as raw (a message arrives together
// with its call), contexts constructed in place, and no retries. With --tls_ca
// both sides show certificates.

#include <grpc/slice.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/prctl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/throughput.h"
#include "proto/data_plane.grpc.pb.h"

namespace {

using distbench::Traffic;
using RawService = Traffic::WithRawMethod_GenericRpc<Traffic::Service>;

constexpr char kMethod[] = "/distbench.Traffic/GenericRpc";
constexpr int kAcceptedAheadPerThread = 128;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  if (!file) Fail("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::shared_ptr<grpc::ServerCredentials> ServerCredentials(
    const bench::Options& options) {
  if (options.tls_ca.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  tls.pem_root_certs = Contents(options.tls_ca);
  tls.pem_key_cert_pairs.push_back(
      {Contents(options.tls_key), Contents(options.tls_cert)});
  return grpc::SslServerCredentials(tls);
}

std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(
    const bench::Options& options) {
  if (options.tls_ca.empty()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = Contents(options.tls_ca),
                               .pem_private_key = Contents(options.tls_key),
                               .pem_cert_chain = Contents(options.tls_cert)});
}

grpc::ByteBuffer MakeMessage(int bytes) {
  static const std::string* const block = new std::string(64 << 20, 'D');
  const grpc::Slice slice(grpc_slice_from_static_buffer(block->data(), bytes),
                          grpc::Slice::STEAL_REF);
  return grpc::ByteBuffer(&slice, 1);
}

// Returns the next completion, or null once the queue is shut down.
template <typename Call>
Call* Next(grpc::CompletionQueue& queue, int spin_us) {
  void* tag;
  bool ok;
  const int64_t spin_ns = int64_t{1000} * spin_us;
  for (const int64_t start_ns = spin_us == 0 ? 0 : bench::NowNs();
       bench::NowNs() - start_ns < spin_ns;) {
    if (queue.AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC)) ==
        grpc::CompletionQueue::GOT_EVENT) {
      return static_cast<Call*>(tag);
    }
  }
  return queue.Next(&tag, &ok) ? static_cast<Call*>(tag) : nullptr;
}

// ---------------------------------------------------------------------------
// Server

class ServerCall {
 public:
  ServerCall(RawService& service, grpc::ServerCompletionQueue& queue,
             int response_bytes)
      : service_(service), queue_(queue), response_bytes_(response_bytes) {
    Accept();
  }

  void Proceed() {
    if (!replied_) {
      replied_ = true;
      request_.Clear();
      writer_->Finish(MakeMessage(response_bytes_), grpc::Status::OK, this);
    } else {
      Accept();
    }
  }

 private:
  void Accept() {
    replied_ = false;
    writer_.reset();
    context_.emplace();
    writer_.emplace(&*context_);
    service_.RequestGenericRpc(&*context_, &request_, &*writer_, &queue_,
                               &queue_, this);
  }

  RawService& service_;
  grpc::ServerCompletionQueue& queue_;
  const int response_bytes_;
  bool replied_ = false;
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>> writer_;
  grpc::ByteBuffer request_;
};

void Serve(RawService& service, grpc::ServerCompletionQueue& queue,
           const bench::Options& options) {
  std::vector<std::unique_ptr<ServerCall>> calls;
  for (int i = 0; i < kAcceptedAheadPerThread; ++i) {
    calls.push_back(
        std::make_unique<ServerCall>(service, queue, options.response_bytes));
  }
  while (auto* call = Next<ServerCall>(queue, options.spin_us)) call->Proceed();
}

void RunServer(const bench::Options& options) {
  RawService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", ServerCredentials(options), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(&service);
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues;
  for (int i = 0; i < options.threads; ++i) {
    queues.push_back(builder.AddCompletionQueue());
  }
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) Fail("cannot listen");
  std::vector<std::thread> threads;
  for (auto& queue : queues) {
    threads.emplace_back([&] { Serve(service, *queue, options); });
  }
  bench::AnnounceServer("127.0.0.1:" + std::to_string(port));
  for (std::thread& thread : threads) thread.join();
}

// ---------------------------------------------------------------------------
// Client

class ClientCall {
 public:
  void Start(grpc::GenericStub& stub, grpc::CompletionQueue& queue,
             int request_bytes) {
    context_.emplace();
    const grpc::ByteBuffer request = MakeMessage(request_bytes);
    reader_ = stub.PrepareUnaryCall(&*context_, kMethod, request, &queue);
    sent_ns_ = bench::NowNs();
    reader_->StartCall();
    reader_->Finish(&response_, &status_, this);
  }

  // Call this when the RPC is complete. Returns the time of completion.
  int64_t Finish(bench::Recorder& recorder) {
    const int64_t done_ns = bench::NowNs();
    if (!status_.ok()) Fail(status_.error_message());
    recorder.Record(sent_ns_, done_ns);
    response_.Clear();
    reader_.reset();
    return done_ns;
  }

 private:
  int64_t sent_ns_ = 0;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
};

// Keeps options.in_flight RPCs in flight.
void RunClosedLoop(const bench::Options& options, grpc::GenericStub& stub,
                   bench::Recorder& recorder) {
  grpc::CompletionQueue queue;
  std::vector<ClientCall> calls(options.in_flight / options.threads);
  for (ClientCall& call : calls) {
    call.Start(stub, queue, options.request_bytes);
  }
  size_t in_flight = calls.size();
  while (in_flight > 0) {
    auto* call = Next<ClientCall>(queue, options.spin_us);
    const int64_t done_ns = call->Finish(recorder);
    if (recorder.finished(done_ns)) {
      --in_flight;
    } else {
      call->Start(stub, queue, options.request_bytes);
    }
  }
}

// Calls that are not in flight, shared by two threads.
class FreeCalls {
 public:
  ClientCall* Get() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) free_.push_back(&calls_.emplace_back());
    ClientCall* call = free_.back();
    free_.pop_back();
    return call;
  }
  void Put(ClientCall* call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(call);
  }

 private:
  std::mutex mutex_;
  std::deque<ClientCall> calls_;
  std::vector<ClientCall*> free_;
};

void SleepUntil(int64_t due_ns) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const timespec due = {.tv_sec = due_ns / kNsPerSecond,
                        .tv_nsec = due_ns % kNsPerSecond};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
}

// One thread sleeps and sends, because the queue's own timeouts are a
// millisecond or two late. Another thread takes the completions.
void RunOpenLoop(const bench::Options& options, grpc::GenericStub& stub,
                 bench::Recorder& recorder) {
  grpc::CompletionQueue queue;
  FreeCalls calls;
  std::thread receiver([&] {
    while (auto* call = Next<ClientCall>(queue, options.spin_us)) {
      call->Finish(recorder);
      calls.Put(call);
    }
  });
  prctl(PR_SET_TIMERSLACK, 1);
  for (bench::Schedule schedule(options);
       !recorder.finished(schedule.next_ns()); schedule.Advance()) {
    SleepUntil(schedule.next_ns());
    calls.Get()->Start(stub, queue, options.request_bytes);
  }
  queue.Shutdown();
  receiver.join();
}

void RunClientThread(const bench::Options& options, bench::Recorder& recorder) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const std::shared_ptr<grpc::Channel> channel = grpc::CreateCustomChannel(
      options.target, ChannelCredentials(options), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() +
                                 std::chrono::seconds(10))) {
    Fail("cannot connect to " + options.target);
  }
  grpc::GenericStub stub(channel);
  options.per_second > 0 ? RunOpenLoop(options, stub, recorder)
                         : RunClosedLoop(options, stub, recorder);
}

void RunClient(const bench::Options& options) {
  bench::RunClientThreads(options, [&](bench::Recorder& recorder) {
    RunClientThread(options, recorder);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options =
      bench::ParseOptions(argc, argv, "Bare gRPC, C++ API: throughput.");
  options.server ? RunServer(options) : RunClient(options);
}
