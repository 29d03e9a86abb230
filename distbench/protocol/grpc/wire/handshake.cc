#include "distbench/protocol/grpc/wire/handshake.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/handshake_messages.h"
#include "distbench/security/nonce.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

grpc_slice Slice(const std::string& text) {
  return grpc_slice_from_copied_buffer(text.data(), text.size());
}

// The handshake of one channel.
class Handshake {
 public:
  Handshake(const Channel& channel, absl::string_view nonce)
      : channel_(channel), nonce_(nonce), challenge_(security::DrawNonce()) {
    grpc_metadata_array_init(&initial_metadata_);
    grpc_metadata_array_init(&trailing_metadata_);
    details_ = grpc_empty_slice();
  }
  ~Handshake() {
    if (call_ != nullptr) grpc_call_unref(call_);
    if (request_ != nullptr) grpc_byte_buffer_destroy(request_);
    if (response_ != nullptr) grpc_byte_buffer_destroy(response_);
    grpc_metadata_array_destroy(&initial_metadata_);
    grpc_metadata_array_destroy(&trailing_metadata_);
    grpc_slice_unref(details_);
  }
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  // Starts the handshake, whose end arrives at the queue.
  void Start(grpc_completion_queue* queue, gpr_timespec deadline);

  // Makes the end arrive soon.
  void Cancel() { grpc_call_cancel(call_, nullptr); }

  // Call this after the end. Returns "" if the server knows the nonce.
  std::string Failure() const;

 private:
  // Returns what is wrong with the answer, or "".
  std::string Problem() const;
  std::string Response() const;

  const Channel& channel_;
  const absl::string_view nonce_;
  const std::string challenge_;
  grpc_call* call_ = nullptr;
  grpc_byte_buffer* request_ = nullptr;
  grpc_byte_buffer* response_ = nullptr;
  grpc_metadata_array initial_metadata_;
  grpc_metadata_array trailing_metadata_;
  grpc_status_code status_ = GRPC_STATUS_UNKNOWN;
  grpc_slice details_;
};

void Handshake::Start(grpc_completion_queue* queue, gpr_timespec deadline) {
  grpc_slice bytes = Slice(HandshakeRequestWith(challenge_));
  request_ = grpc_raw_byte_buffer_create(&bytes, 1);
  grpc_slice_unref(bytes);
  call_ = grpc_channel_create_call(
      channel_.get(), nullptr, GRPC_PROPAGATE_DEFAULTS, queue,
      grpc_slice_from_static_string(kHandshakeMethod), nullptr, deadline,
      nullptr);
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
  auto& end = operations[5].data.recv_status_on_client;
  end.trailing_metadata = &trailing_metadata_;
  end.status = &status_;
  end.status_details = &details_;
  CHECK_EQ(grpc_call_start_batch(call_, operations, 6, this, nullptr),
           GRPC_CALL_OK);
}

std::string Handshake::Response() const {
  if (response_ == nullptr) return "";
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, response_)) return "";
  const grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
  std::string bytes(reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
                    GRPC_SLICE_LENGTH(slice));
  grpc_slice_unref(slice);
  grpc_byte_buffer_reader_destroy(&reader);
  return bytes;
}

std::string Handshake::Problem() const {
  switch (status_) {
    case GRPC_STATUS_OK:
      break;
    case GRPC_STATUS_UNIMPLEMENTED:
      return "the server there is not an instance of distbench";
    case GRPC_STATUS_DEADLINE_EXCEEDED:
      return "no answer to the handshake in time";
    default:
      return absl::StrCat("the handshake failed: ",
                          absl::string_view(reinterpret_cast<const char*>(
                                                GRPC_SLICE_START_PTR(details_)),
                                            GRPC_SLICE_LENGTH(details_)));
  }
  return ProblemOfAnswer(nonce_, challenge_, Response());
}

std::string Handshake::Failure() const {
  const std::string problem = Problem();
  return problem.empty() ? ""
                         : absl::StrCat(channel_.target(), " (", problem, ")");
}

void AwaitAll(const std::vector<std::unique_ptr<Handshake>>& handshakes,
              SetupQueue& queue, const std::atomic<bool>& aborted) {
  bool cancelled = false;
  size_t ended = 0;
  while (ended < handshakes.size()) {
    if (queue.Next(MonotonicDeadline(kAbortLatency)) != nullptr) {
      ++ended;
    } else if (aborted && !cancelled) {
      cancelled = true;
      for (const auto& handshake : handshakes) handshake->Cancel();
    }
  }
}

}  // namespace

absl::Status VerifyPeers(absl::Span<const Channel* const> channels,
                         absl::string_view nonce, absl::Time deadline,
                         const std::atomic<bool>& aborted) {
  SetupQueue queue;
  const gpr_timespec monotonic_deadline = MonotonicDeadline(deadline);
  std::vector<std::unique_ptr<Handshake>> handshakes;
  for (const Channel* channel : channels) {
    handshakes.push_back(std::make_unique<Handshake>(*channel, nonce));
    handshakes.back()->Start(queue.get(), monotonic_deadline);
  }
  AwaitAll(handshakes, queue, aborted);
  FailureList failures;
  for (const auto& handshake : handshakes) {
    std::string failure = handshake->Failure();
    if (!failure.empty()) failures.Add(std::move(failure));
  }
  if (aborted) return absl::CancelledError("connecting was aborted");
  return HandshakeStatus(failures);
}

}  // namespace distbench::protocol
