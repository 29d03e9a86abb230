// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The throughput of gRPC without a framework around it and without its C++ API:
// uses the core library, which the C++ API wraps, as bare_grpc.cc uses that
// API.

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bench/throughput.h"

namespace {

constexpr char kMethod[] = "/distbench.Traffic/GenericRpc";
constexpr int kAcceptedAheadPerThread = 128;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

grpc_byte_buffer* MakeMessage(int bytes) {
  static const std::string* const block = new std::string(64 << 20, 'D');
  grpc_slice slice = grpc_slice_from_static_buffer(block->data(), bytes);
  return grpc_raw_byte_buffer_create(&slice, 1);
}

void* Next(grpc_completion_queue* queue, int spin_us) {
  const int64_t spin_ns = int64_t{1000} * spin_us;
  for (const int64_t start_ns = spin_us == 0 ? 0 : bench::NowNs();
       bench::NowNs() - start_ns < spin_ns;) {
    const grpc_event event = grpc_completion_queue_next(
        queue, gpr_inf_past(GPR_CLOCK_MONOTONIC), nullptr);
    if (event.type == GRPC_OP_COMPLETE) return event.tag;
  }
  return grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                    nullptr)
      .tag;
}

// ---------------------------------------------------------------------------
// Server

class ServerCall {
 public:
  ServerCall(grpc_server* server, void* method, grpc_completion_queue* queue,
             int response_bytes)
      : server_(server),
        method_(method),
        queue_(queue),
        response_bytes_(response_bytes) {
    grpc_metadata_array_init(&metadata_);
    Accept();
  }

  void Proceed() { replied_ ? Finish() : Reply(); }

 private:
  void Accept() {
    replied_ = false;
    grpc_server_request_registered_call(server_, method_, &call_, &deadline_,
                                        &metadata_, &request_, queue_, queue_,
                                        this);
  }

  void Reply() {
    replied_ = true;
    grpc_byte_buffer_destroy(request_);
    response_ = MakeMessage(response_bytes_);
    grpc_op operations[4] = {};
    operations[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    operations[1].op = GRPC_OP_SEND_MESSAGE;
    operations[1].data.send_message.send_message = response_;
    operations[2].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    operations[3].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
    operations[3].data.recv_close_on_server.cancelled = &cancelled_;
    grpc_call_start_batch(call_, operations, 4, this, nullptr);
  }

  void Finish() {
    grpc_byte_buffer_destroy(response_);
    grpc_call_unref(call_);
    metadata_.count = 0;
    Accept();
  }

  grpc_server* const server_;
  void* const method_;
  grpc_completion_queue* const queue_;
  const int response_bytes_;
  bool replied_ = false;
  grpc_call* call_ = nullptr;
  gpr_timespec deadline_;
  grpc_metadata_array metadata_;
  grpc_byte_buffer* request_ = nullptr;
  grpc_byte_buffer* response_ = nullptr;
  int cancelled_ = 0;
};

[[noreturn]] void Serve(grpc_server* server, void* method,
                        grpc_completion_queue* queue,
                        const bench::Options& options) {
  for (int i = 0; i < kAcceptedAheadPerThread; ++i) {
    new ServerCall(server, method, queue, options.response_bytes);
  }
  while (true)
    static_cast<ServerCall*>(Next(queue, options.spin_us))->Proceed();
}

void RunServer(const bench::Options& options) {
  grpc_arg argument = {};
  argument.type = GRPC_ARG_INTEGER;
  argument.key = const_cast<char*>(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH);
  argument.value.integer = -1;
  const grpc_channel_args arguments = {1, &argument};
  grpc_server* server = grpc_server_create(&arguments, nullptr);
  const int port = grpc_server_add_http2_port(
      server, "127.0.0.1:0", grpc_insecure_server_credentials_create());
  if (port == 0) Fail("cannot listen");
  std::vector<grpc_completion_queue*> queues;
  for (int i = 0; i < options.threads; ++i) {
    queues.push_back(grpc_completion_queue_create_for_next(nullptr));
    grpc_server_register_completion_queue(server, queues.back(), nullptr);
  }
  void* method = grpc_server_register_method(
      server, kMethod, nullptr, GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
  grpc_server_start(server);
  std::vector<std::thread> threads;
  for (grpc_completion_queue* queue : queues) {
    threads.emplace_back([&, queue] { Serve(server, method, queue, options); });
  }
  bench::AnnounceServer("ipv4:127.0.0.1:" + std::to_string(port));
  for (std::thread& thread : threads) thread.join();
}

// ---------------------------------------------------------------------------
// Client

class ClientCall {
 public:
  ClientCall() {
    grpc_metadata_array_init(&initial_metadata_);
    grpc_metadata_array_init(&trailing_metadata_);
  }

  void Start(grpc_channel* channel, void* method, grpc_completion_queue* queue,
             int request_bytes) {
    call_ = grpc_channel_create_registered_call(
        channel, nullptr, GRPC_PROPAGATE_DEFAULTS, queue, method,
        gpr_inf_future(GPR_CLOCK_MONOTONIC), nullptr);
    request_ = MakeMessage(request_bytes);
    grpc_op operations[6] = {};
    operations[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    operations[1].op = GRPC_OP_SEND_MESSAGE;
    operations[1].data.send_message.send_message = request_;
    operations[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    operations[3].op = GRPC_OP_RECV_INITIAL_METADATA;
    operations[3].data.recv_initial_metadata.recv_initial_metadata =
        &initial_metadata_;
    operations[4].op = GRPC_OP_RECV_MESSAGE;
    operations[4].data.recv_message.recv_message = &response_;
    operations[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
    operations[5].data.recv_status_on_client.trailing_metadata =
        &trailing_metadata_;
    operations[5].data.recv_status_on_client.status = &status_;
    operations[5].data.recv_status_on_client.status_details = &details_;
    sent_ns_ = bench::NowNs();
    grpc_call_start_batch(call_, operations, 6, this, nullptr);
  }

  // Call this when the RPC is complete. Returns the time of completion.
  int64_t Finish(bench::Recorder& recorder) {
    const int64_t done_ns = bench::NowNs();
    if (status_ != GRPC_STATUS_OK) Fail("an RPC failed");
    recorder.Record(sent_ns_, done_ns);
    grpc_byte_buffer_destroy(request_);
    grpc_byte_buffer_destroy(response_);
    grpc_slice_unref(details_);
    initial_metadata_.count = 0;
    trailing_metadata_.count = 0;
    grpc_call_unref(call_);
    return done_ns;
  }

 private:
  int64_t sent_ns_ = 0;
  grpc_call* call_ = nullptr;
  grpc_byte_buffer* request_ = nullptr;
  grpc_byte_buffer* response_ = nullptr;
  grpc_metadata_array initial_metadata_;
  grpc_metadata_array trailing_metadata_;
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice details_;
};

grpc_channel* MakeChannel(const std::string& target) {
  grpc_arg list[3] = {};
  for (grpc_arg& argument : list) argument.type = GRPC_ARG_INTEGER;
  list[0].key = const_cast<char*>(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH);
  list[0].value.integer = -1;
  list[1].key = const_cast<char*>(GRPC_ARG_ENABLE_RETRIES);
  list[1].value.integer = 0;
  list[2].key = const_cast<char*>(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL);
  list[2].value.integer = 1;
  const grpc_channel_args arguments = {3, list};
  return grpc_channel_create(target.c_str(), grpc_insecure_credentials_create(),
                             &arguments);
}

void Connect(grpc_channel* channel, grpc_completion_queue* queue) {
  const gpr_timespec deadline = gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(10, GPR_TIMESPAN));
  while (true) {
    const grpc_connectivity_state state =
        grpc_channel_check_connectivity_state(channel, 1);
    if (state == GRPC_CHANNEL_READY) return;
    grpc_channel_watch_connectivity_state(channel, state, deadline, queue,
                                          nullptr);
    const grpc_event event = grpc_completion_queue_next(
        queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), nullptr);
    if (!event.success) Fail("cannot connect");
  }
}

void RunClientThread(const bench::Options& options, bench::Recorder& recorder) {
  grpc_channel* channel = MakeChannel(options.target);
  void* method = grpc_channel_register_call(channel, kMethod, nullptr, nullptr);
  grpc_completion_queue* queue = grpc_completion_queue_create_for_next(nullptr);
  Connect(channel, queue);
  std::vector<ClientCall> calls(options.in_flight / options.threads);
  for (ClientCall& call : calls) {
    call.Start(channel, method, queue, options.request_bytes);
  }
  size_t in_flight = calls.size();
  while (in_flight > 0) {
    auto* call = static_cast<ClientCall*>(Next(queue, options.spin_us));
    const int64_t done_ns = call->Finish(recorder);
    if (recorder.finished(done_ns)) {
      --in_flight;
    } else {
      call->Start(channel, method, queue, options.request_bytes);
    }
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
      bench::ParseOptions(argc, argv, "Bare gRPC, core API: throughput.");
  grpc_init();
  options.server ? RunServer(options) : RunClient(options);
}
