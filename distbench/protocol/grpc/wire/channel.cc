#include "distbench/protocol/grpc/wire/channel.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::protocol {
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
  Watch(const Channel& channel, grpc_completion_queue* queue)
      : channel_(channel), queue_(queue) {}

  const std::string& target() const { return channel_.target(); }
  grpc_connectivity_state state() const { return state_; }
  bool connected() const { return state_ == GRPC_CHANNEL_READY; }

  // Checks the state. If it is not the wanted one, starts to wait for a change
  // or for `deadline`. Returns whether it waits.
  bool Continue(gpr_timespec deadline) {
    state_ = grpc_channel_check_connectivity_state(channel_.get(),
                                                   /*try_to_connect=*/1);
    if (connected()) return false;
    grpc_channel_watch_connectivity_state(channel_.get(), state_, deadline,
                                          queue_, this);
    return true;
  }

 private:
  const Channel& channel_;
  grpc_completion_queue* const queue_;
  grpc_connectivity_state state_ = GRPC_CHANNEL_IDLE;
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

gpr_timespec MonotonicDeadline(absl::Time deadline) {
  return MonotonicDeadline(deadline - absl::Now());
}

gpr_timespec MonotonicDeadline(absl::Duration from_now) {
  const absl::Duration left =
      std::clamp(from_now, absl::ZeroDuration(), absl::Hours(24 * 365));
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_nanos(absl::ToInt64Nanoseconds(left), GPR_TIMESPAN));
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
                                const std::atomic<bool>& aborted) {
  if (aborted) return absl::CancelledError("connecting was aborted");
  SetupQueue queue;
  std::vector<Watch> watches;
  watches.reserve(channels.size());
  for (const Channel* channel : channels) {
    watches.emplace_back(*channel, queue.get());
  }
  RunWatches(MonotonicDeadline(deadline), aborted, queue, watches);
  if (aborted) return absl::CancelledError("connecting was aborted");
  return ToStatus(watches);
}

}  // namespace distbench::protocol
