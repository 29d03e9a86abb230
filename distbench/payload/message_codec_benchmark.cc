// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "benchmark/benchmark.h"
#include "distbench/payload/message_codec.h"

namespace distbench::payload {
namespace {

constexpr RequestHeader kRequest{.rpc_index = 1,
                                 .server_instance = 2,
                                 .warmup = true,
                                 .response_bytes = 262144};

void BM_EncodeRequest(benchmark::State& state) {
  char head[64];
  for (auto _ : state) {
    RequestHeader header = kRequest;
    benchmark::DoNotOptimize(header);
    const MessageLayout layout = LayOutMessage(header, state.range(0));
    WriteHead(header, layout, head);
    benchmark::DoNotOptimize(head);
  }
}
BENCHMARK(BM_EncodeRequest)->Arg(16)->Arg(262144);

void BM_DecodeRequest(benchmark::State& state) {
  const MessageLayout layout = LayOutMessage(kRequest, state.range(0));
  std::string message(layout.total_bytes(), 'D');
  WriteHead(kRequest, layout, message.data());
  const absl::string_view slices[] = {message};
  std::string scratch;
  for (auto _ : state) {
    RequestHeader header;
    bool ok = DecodeMessage(slices, header, scratch);
    benchmark::DoNotOptimize(ok);
    benchmark::DoNotOptimize(header);
  }
}
BENCHMARK(BM_DecodeRequest)->Arg(16)->Arg(262144);

}  // namespace
}  // namespace distbench::payload

BENCHMARK_MAIN();
