// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/wire/channel.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/base/host_port.h"
#include "distbench/base/lookup.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/security/nonce.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

constexpr absl::string_view kIpv4 = "ipv4:";
constexpr absl::string_view kIpv6 = "ipv6:";
constexpr absl::string_view kName = "dns:///";

// The address of one server, as it appears in a target.
struct Address {
  int ip_version = 0;  // 0: a Unix socket
  std::string text;    // "1.2.3.4:567", "[1::2]:567" or a socket's name
};

// Looks up the first address of a host.
absl::StatusOr<Address> LookUp(const std::string& name,
                               const std::string& port) {
  const absl::StatusOr<base::AddressList> all = base::LookUp(name, port);
  if (!all.ok()) {
    return absl::NotFoundError(absl::StrCat("cannot look up peer ", name, ": ",
                                            all.status().message()));
  }
  const addrinfo& found = **all;
  char host[NI_MAXHOST];
  const int not_shown = getnameinfo(found.ai_addr, found.ai_addrlen, host,
                                    sizeof(host), nullptr, 0, NI_NUMERICHOST);
  if (not_shown != 0) {
    return absl::InternalError(absl::StrCat(
        "cannot write the address of ", name, ": ", gai_strerror(not_shown)));
  }
  const int version = found.ai_family == AF_INET ? 4 : 6;
  return Address{version, version == 4 ? absl::StrCat(host, ":", port)
                                       : absl::StrCat("[", host, "]:", port)};
}

absl::StatusOr<Address> AddressOf(absl::string_view target) {
  if (absl::ConsumePrefix(&target, kUnixScheme)) {
    return Address{0, std::string(target)};
  }
  if (absl::ConsumePrefix(&target, kIpv4)) {
    return Address{4, std::string(target)};
  }
  if (absl::ConsumePrefix(&target, kIpv6)) {
    return Address{6, std::string(target)};
  }
  absl::ConsumePrefix(&target, kName);
  const size_t colon = target.rfind(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("the address of peer ", target, " has no port"));
  }
  return LookUp(std::string(target.substr(0, colon)),
                std::string(target.substr(colon + 1)));
}

// Turns "1.2.3.4:567" into "[::ffff:1.2.3.4]:567".
void MapToIpv6(Address& address) {
  if (address.ip_version == 6) return;
  const size_t colon = address.text.rfind(':');
  address.text = absl::StrCat("[::ffff:", address.text.substr(0, colon), "]",
                              address.text.substr(colon));
  address.ip_version = 6;
}

std::string Join(absl::string_view scheme,
                 const std::vector<Address>& addresses) {
  const auto append = [](std::string* out, const Address& address) {
    absl::StrAppend(out, address.text);
  };
  return absl::StrCat(scheme, absl::StrJoin(addresses, ",", append));
}

}  // namespace

std::string TargetOf(const std::string& host, int port) {
  const int version = IpVersionOf(host);
  const absl::string_view scheme =
      version == 4 ? kIpv4 : (version == 6 ? kIpv6 : kName);
  return absl::StrCat(scheme, base::JoinHostPort(host, port));
}

std::string HostPortOf(absl::string_view target) {
  for (absl::string_view scheme : {kIpv4, kIpv6, kName}) {
    if (absl::ConsumePrefix(&target, scheme)) break;
  }
  return std::string(target);
}

absl::StatusOr<std::string> JoinTargets(
    const std::vector<std::string>& targets) {
  std::vector<Address> addresses;
  for (const std::string& target : targets) {
    absl::StatusOr<Address> address = AddressOf(target);
    if (!address.ok()) return address.status();
    addresses.push_back(*std::move(address));
  }
  const auto all_are = [&](int ip_version) {
    return absl::c_all_of(addresses, [=](const Address& address) {
      return address.ip_version == ip_version;
    });
  };
  if (all_are(0)) return Join(kUnixScheme, addresses);
  if (all_are(4)) return Join(kIpv4, addresses);
  for (Address& address : addresses) {
    if (address.ip_version == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          kUnixScheme, address.text,
          " and an IP address cannot be servers of the same channel; let all "
          "of them use the same transport"));
    }
    MapToIpv6(address);
  }
  return Join(kIpv6, addresses);
}

namespace {

const char* StateName(grpc_connectivity_state state) {
  switch (state) {
    case GRPC_CHANNEL_IDLE:
    case GRPC_CHANNEL_CONNECTING:
      return "no answer";
    case GRPC_CHANNEL_TRANSIENT_FAILURE:
      return "refused or unreachable";
    case GRPC_CHANNEL_READY:
      return "connected";
    case GRPC_CHANNEL_SHUTDOWN:
      return "closed";
  }
  return "unknown";
}

// Waits for one channel, sharing the queue with other watches.
class Watch {
 public:
  Watch(const Channel& channel, grpc_completion_queue* queue,
        absl::Duration refusal_patience)
      : channel_(channel), queue_(queue), refusal_patience_(refusal_patience) {}

  const std::string& target() const { return channel_.target(); }
  grpc_connectivity_state state() const { return state_; }
  bool connected() const { return state_ == GRPC_CHANNEL_READY; }

  // Checks the state. If it is not the wanted one, and the peer has not refused
  // for that long, starts to wait for a change or for `deadline`.
  // Returns whether it waits.
  bool Continue(gpr_timespec deadline) {
    state_ = grpc_channel_check_connectivity_state(channel_.get(),
                                                   /*try_to_connect=*/1);
    if (connected()) return false;
    if (state_ == GRPC_CHANNEL_TRANSIENT_FAILURE) {
      const absl::Time now = absl::Now();
      first_refusal_ = std::min(first_refusal_, now);
      if (now - first_refusal_ >= refusal_patience_) return false;
    }
    grpc_channel_watch_connectivity_state(channel_.get(), state_, deadline,
                                          queue_, this);
    return true;
  }

 private:
  const Channel& channel_;
  grpc_completion_queue* const queue_;
  const absl::Duration refusal_patience_;
  grpc_connectivity_state state_ = GRPC_CHANNEL_IDLE;
  absl::Time first_refusal_ = absl::InfiniteFuture();
};

// A wait for a state cannot be cancelled, so each wait is short and repeated.
gpr_timespec NextLook(gpr_timespec deadline) {
  return gpr_time_min(MonotonicDeadline(kAbortLatency), deadline);
}

void RunWatches(gpr_timespec deadline, const std::atomic<bool>& aborted,
                SetupQueue& queue, std::vector<Watch>& watches) {
  size_t waiting = 0;
  for (Watch& watch : watches) waiting += watch.Continue(NextLook(deadline));
  while (waiting > 0) {
    Watch* const watch = static_cast<Watch*>(queue.Next());
    const bool in_time =
        gpr_time_cmp(gpr_now(GPR_CLOCK_MONOTONIC), deadline) < 0;
    if (in_time && !aborted && watch->Continue(NextLook(deadline))) {
      continue;
    }
    --waiting;
  }
}

absl::Status ToStatus(absl::Span<const Watch> watches) {
  FailureList failures;
  for (const Watch& watch : watches) {
    if (watch.connected()) continue;
    failures.Add(
        absl::StrCat(watch.target(), " (", StateName(watch.state()), ")"));
  }
  if (failures.empty()) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(
      "cannot connect to peer ", failures.ToString(),
      "; check that the peer runs and that no firewall is in between"));
}

}  // namespace

void ChannelArguments::Set(const std::string& name,
                           config::DriverOptions::Value value) {
  values_[name] = std::move(value);
}

std::vector<grpc_arg> ChannelArguments::AsGrpc() const {
  std::vector<grpc_arg> arguments;
  for (const auto& [name, value] : values_) {
    grpc_arg& argument = arguments.emplace_back();
    // gRPC's C structs have no const, but gRPC writes to neither.
    argument.key = const_cast<char*>(name.c_str());
    if (const auto* number = std::get_if<int64_t>(&value)) {
      argument.type = GRPC_ARG_INTEGER;
      argument.value.integer = static_cast<int>(*number);
    } else {
      argument.type = GRPC_ARG_STRING;
      argument.value.string =
          const_cast<char*>(std::get<std::string>(value).c_str());
    }
  }
  return arguments;
}

namespace {

// How far gRPC's monotonic clock is ahead of the system's, and the least time
// that passed between reading the two.
gpr_timespec AheadOfSystem() {
  gpr_timespec least = gpr_inf_future(GPR_TIMESPAN);
  constexpr int kReadings = 10;
  for (int i = 0; i < kReadings; ++i) {
    const int64_t system_ns = base::NowNs();
    const gpr_timespec ahead =
        gpr_time_sub(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_nanos(system_ns, GPR_CLOCK_MONOTONIC));
    least = gpr_time_min(least, ahead);
  }
  return least;
}

}  // namespace

gpr_timespec ToGrpcClock(int64_t monotonic_ns) {
  static const gpr_timespec ahead = AheadOfSystem();
  return gpr_time_add(gpr_time_from_nanos(monotonic_ns, GPR_CLOCK_MONOTONIC),
                      ahead);
}

gpr_timespec MonotonicDeadline(absl::Time deadline) {
  return MonotonicDeadline(deadline - absl::Now());
}

gpr_timespec MonotonicDeadline(absl::Duration from_now) {
  const absl::Duration left =
      std::clamp(from_now, absl::ZeroDuration(), absl::Hours(24 * 365));
  return ToGrpcClock(base::NowNs() + absl::ToInt64Nanoseconds(left));
}

SetupQueue::~SetupQueue() {
  grpc_completion_queue_shutdown(queue_);
  while (grpc_completion_queue_next(queue_, gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                    nullptr)
             .type != GRPC_QUEUE_SHUTDOWN) {
  }
  grpc_completion_queue_destroy(queue_);
}

void* SetupQueue::Next(gpr_timespec deadline) {
  const grpc_event event =
      grpc_completion_queue_next(queue_, deadline, nullptr);
  return event.type == GRPC_OP_COMPLETE ? event.tag : nullptr;
}

Channel::Channel(const std::string& target, const grpc_channel_args& args,
                 grpc_channel_credentials* credentials)
    : target_(target),
      channel_(grpc_channel_create(target.c_str(), credentials, &args)),
      method_(grpc_channel_register_call(channel_.get(), kGenericRpcMethod,
                                         nullptr, nullptr)) {}

absl::Status WaitForConnections(absl::Span<const Channel* const> channels,
                                absl::Time deadline,
                                const std::atomic<bool>& aborted,
                                absl::Duration refusal_patience) {
  if (aborted) return absl::CancelledError("connecting was aborted");
  SetupQueue queue;
  std::vector<Watch> watches;
  watches.reserve(channels.size());
  for (const Channel* channel : channels) {
    watches.emplace_back(*channel, queue.get(), refusal_patience);
  }
  RunWatches(MonotonicDeadline(deadline), aborted, queue, watches);
  if (aborted) return absl::CancelledError("connecting was aborted");
  return ToStatus(watches);
}

namespace {

grpc_slice Slice(const std::string& text) {
  return grpc_slice_from_copied_buffer(text.data(), text.size());
}

// The handshake of one channel.
class Handshake {
 public:
  Handshake(const Channel& channel, absl::string_view nonce)
      : channel_(channel),
        nonce_(nonce),
        challenge_(security::DrawChallenge(nonce)) {
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

std::string Handshake::Response() const { return CopyOf(response_); }

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
