// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/streams.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/scheduler.h"
#include "distbench/engine/worker/worker.h"

namespace distbench::engine {

void StreamWriter::Reset(WorkerContext& context,
                         const config::StreamSidePlan& side,
                         const config::SizePlan& size) {
  context_ = &context;
  side_ = &side;
  size_ = &size;
  timer_.kind = Timer::Kind::kStreamWrite;
  timer_.owner = this;
  pending_ = 0;
  writing_ = false;
  due_ns_ = started_ns_ = blocked_ns_ = 0;
}

void StreamWriter::Add(int64_t messages) {
  if (pending_ == 0) due_ns_ = std::max(due_ns_, context_->now_ns);
  pending_ += messages;
  Advance();
}

void StreamWriter::OnWritten() {
  writing_ = false;
  if (pending_ > 0) {
    blocked_ns_ +=
        std::max<int64_t>(0, context_->now_ns - std::max(due_ns_, started_ns_));
  }
  Advance();
}

int64_t StreamWriter::Stop() {
  context_->timers.Cancel(timer_);
  int64_t due = 0;
  for (; pending_ > 0 && due_ns_ <= context_->now_ns; --pending_) {
    ++due;
    // The messages without an interval are all due.
    if (side_->has_interval()) due_ns_ = NextDueNs();
  }
  pending_ = 0;
  return due;
}

void StreamWriter::Advance() {
  if (writing_ || pending_ == 0) return;
  if (due_ns_ > context_->now_ns) {
    if (!timer_.armed()) context_->timers.Arm(timer_, due_ns_);
    return;
  }
  --pending_;
  writing_ = true;
  started_ns_ = context_->now_ns;
  const int64_t due_ns = due_ns_;
  due_ns_ = NextDueNs();
  Send(DrawSize(*size_, *context_), due_ns);
}

int64_t StreamWriter::NextDueNs() {
  if (!side_->has_interval()) return started_ns_;
  return base::SaturatingAdd(due_ns_, DrawTime(side_->interval, *context_));
}

namespace {

// The most that a Sample can hold.
constexpr int64_t kMaxRequestBytes = std::numeric_limits<uint32_t>::max();

}  // namespace

// A client's end, from Open() to OnDone().
class Streams::ClientEnd final : public StreamWriter {
 public:
  void Start(Streams& streams, RpcCall& call, const config::StreamPlan& plan,
             const config::SizePlan& request, bool is_outside) {
    streams_ = &streams;
    call_ = &call;
    is_outside_ = is_outside;
    is_echo_ = plan.start == config::StreamPlan::Start::kEcho;
    is_lockstep_ = is_echo_ && !plan.client.has_interval();
    sent_messages = sent_bytes = received_messages = received_bytes = 0;
    first_message_ns = last_message_ns_ = 0;
    problem.clear();
    unanswered_ = {};
    Reset(streams.context_, plan.client, request);
    const int64_t count = streams.DrawCount(plan.client);
    unreleased_ = is_lockstep_ ? count - 1 : 0;
    Add(count - unreleased_);
  }

  void OnMessage(int64_t bytes, int64_t now_ns) {
    if (is_echo_ && unanswered_.empty()) {
      return GiveUp(
          "INTERNAL: the server sent a message that answers none; an echo has "
          "one for each request message");
    }
    ++received_messages;
    received_bytes += bytes;
    if (received_messages == 1) first_message_ns = now_ns;
    MeasureMessage(now_ns);
    if (is_echo_) unanswered_.pop();
    last_message_ns_ = now_ns;
    if (!is_lockstep_ || unreleased_ == 0) return;
    --unreleased_;
    Add(1);
  }

  bool has_sent_all() const { return pending() == 0 && unreleased_ == 0; }
  // Only servers of distbench always answer something.
  bool has_received_enough() const {
    return is_echo_ ? unanswered_.empty()
                    : is_outside_ || received_messages > 0;
  }
  // Request messages of an echo that were sent and are not answered.
  int64_t unanswered() const {
    return static_cast<int64_t>(unanswered_.size());
  }
  bool is_echo() const { return is_echo_; }
  const RpcCall& call() const { return *call_; }

  int64_t sent_messages = 0;
  int64_t sent_bytes = 0;
  int64_t received_messages = 0;
  int64_t received_bytes = 0;
  int64_t first_message_ns = 0;  // when it arrived
  std::string problem;           // why the engine gave the RPC up, if it did

 private:
  void Send(int64_t bytes, int64_t due_ns) override {
    if (sent_bytes + bytes > kMaxRequestBytes) return GiveUpAsTooLong();
    if (is_echo_) unanswered_.push(due_ns);
    ++sent_messages;
    sent_bytes +=
        streams_->transport().Write(call_->client, bytes, has_sent_all());
    // Messages to servers outside may be longer than was asked for.
    if (sent_bytes > kMaxRequestBytes) {
      sent_bytes = kMaxRequestBytes;
      GiveUpAsTooLong();
    }
  }

  void GiveUpAsTooLong() {
    GiveUp(absl::StrCat(
        "OUT_OF_RANGE: the requests of one stream take more than ",
        kMaxRequestBytes, " bytes; use fewer or smaller messages"));
  }

  // Keeps the first problem.
  void GiveUp(const std::string& why) {
    if (!problem.empty()) return;
    problem = why;
    streams_->transport().CancelStream(call_->client);
  }

  void MeasureMessage(int64_t now_ns) {
    if (call_->client.warmup) return;
    results::TallyOf<StreamStatistics>& totals =
        streams_->TotalsOf(call_->client);
    if (!is_echo_) {
      if (received_messages > 1)
        totals.histogram(StreamStatistics::kGapNsFieldNumber)
            .Record(now_ns - last_message_ns_);
    } else {
      totals.histogram(StreamStatistics::kRoundTripNsFieldNumber)
          .Record(now_ns - unanswered_.front());
    }
  }

  Streams* streams_ = nullptr;
  RpcCall* call_ = nullptr;
  bool is_outside_ = false;  // the server is not distbench's
  bool is_echo_ = false;
  bool is_lockstep_ = false;  // each message waits for the answer to the last
  int64_t unreleased_ = 0;    // messages that wait for that
  int64_t last_message_ns_ = 0;
  std::queue<int64_t> unanswered_;  // in an echo: when requests were due
};

// A server's end, from OnOpened() to Finish().
class Streams::ServerEnd final : public StreamWriter {
 public:
  void Start(Streams& streams, protocol::ServerCall& server_call) {
    streams_ = &streams;
    call = &server_call;
    plan = &streams.context_.engine.plan().rpcs[server_call.rpc_index];
    is_handled = is_answered = requests_over = is_broken = false;
    unanswered = 0;
  }

  bool is_echo() const {
    return plan->stream->start == config::StreamPlan::Start::kEcho;
  }

  protocol::ServerCall* call = nullptr;
  const config::RpcPlan* plan = nullptr;
  size_t position = 0;       // in serving_
  bool is_handled = false;   // its list runs
  bool is_answered = false;  // its list is done
  bool requests_over = false;
  bool is_broken = false;  // the client is gone
  int64_t unanswered = 0;  // echo: requests that came before the answer

 private:
  void Send(int64_t bytes, int64_t /*due_ns*/) override {
    if (requests_over && pending() == 0) {
      streams_->Finish(*this, bytes);
    } else {
      streams_->transport().Write(*call, bytes);
    }
  }

  Streams* streams_ = nullptr;
};

namespace {

template <typename End>
End& EndOf(protocol::ServerCall& call) {
  return *static_cast<End*>(call.engine_state);
}

template <typename End>
End& EndOf(protocol::ClientCall& call) {
  return *static_cast<End*>(RpcCall::Of(call).stream);
}

}  // namespace

Streams::Streams(WorkerContext& context, Scheduler& scheduler, Worker& worker)
    : context_(context), scheduler_(scheduler), worker_(worker) {}

Streams::~Streams() = default;

void Streams::OnEvent(int64_t now_ns) {
  context_.now_ns = now_ns;
  ++context_.event_count;
}

// A drawn number of 0 would leave a direction without a message.
int64_t Streams::DrawCount(const config::StreamSidePlan& side) {
  return std::max<int64_t>(1,
                           Draw(side.count_distribution, side.count, context_));
}

void Streams::Open(RpcCall& call, const config::SizePlan& request) {
  const config::RpcPlan& rpc =
      context_.engine.plan().rpcs[call.client.rpc_index];
  ClientEnd& end = *client_ends_.Get();
  call.stream = &end;
  transport().Open(&call.client);
  end.Start(*this, call, *rpc.stream, request,
            /*is_outside=*/rpc.handler_list == config::kNone);
}

void Streams::OnWritten(protocol::ClientCall& call, int64_t now_ns) {
  OnEvent(now_ns);
  EndOf<ClientEnd>(call).OnWritten();
}

void Streams::OnMessage(protocol::ClientCall& call, int64_t bytes,
                        int64_t now_ns) {
  OnEvent(now_ns);
  EndOf<ClientEnd>(call).OnMessage(bytes, now_ns);
}

void Streams::OnDone(protocol::ClientCall* call, int64_t server_blocked_ns) {
  OnEvent(call->done_ns);
  ClientEnd& end = EndOf<ClientEnd>(*call);
  if (call->error.empty() && end.problem.empty()) {
    end.problem = ProblemOfEnd(end);
  }
  if (!end.problem.empty()) call->error = end.problem;
  call->sent_bytes = end.sent_bytes;
  call->received_bytes = end.received_bytes;
  const int64_t unsent = end.Stop();
  if (call->error.empty()) {
    if (!call->warmup) Measure(end, server_blocked_ns);
  } else if (end.is_echo() && !call->warmup) {
    TotalsOf(*call).count(StreamStatistics::kUnansweredMessagesFieldNumber) +=
        end.unanswered() + unsent;
  }
  worker_.EndStream(*call);
  client_ends_.Put(&end);
}

// Returns why a stream has failed whose server says that it has not.
std::string Streams::ProblemOfEnd(const ClientEnd& end) {
  if (!end.has_sent_all()) {
    return "INTERNAL: the server ended the stream before its messages";
  }
  if (end.has_received_enough()) return "";
  return end.is_echo() ? "INTERNAL: the server ended the stream before it had "
                         "answered all messages"
                       : "INTERNAL: the server ended the stream before its "
                         "messages";
}

void Streams::Measure(const ClientEnd& end, int64_t server_blocked_ns) {
  const RpcCall& call = end.call();
  const int64_t start_ns =
      call.intended_ns != 0 ? call.intended_ns : call.client.sent_ns;
  results::TallyOf<StreamStatistics>& totals = TotalsOf(call.client);
  ++totals.count(StreamStatistics::kStreamCountFieldNumber);
  totals.count(StreamStatistics::kRequestMessagesFieldNumber) +=
      end.sent_messages;
  totals.count(StreamStatistics::kResponseMessagesFieldNumber) +=
      end.received_messages;
  totals.count(StreamStatistics::kRequestBytesFieldNumber) += end.sent_bytes;
  totals.count(StreamStatistics::kResponseBytesFieldNumber) +=
      end.received_bytes;
  if (end.received_messages > 0) {
    totals.histogram(StreamStatistics::kFirstMessageNsFieldNumber)
        .Record(end.first_message_ns - start_ns);
  }
  totals.histogram(StreamStatistics::kClientBlockedNsFieldNumber)
      .Record(end.blocked_ns());
  if (server_blocked_ns != protocol::kNotReported) {
    totals.histogram(StreamStatistics::kServerBlockedNsFieldNumber)
        .Record(server_blocked_ns);
  }
}

// Returns why the RPC is refused; empty if it is not.
std::string Streams::ProblemOf(const protocol::ServerCall& call) const {
  const EngineState& engine = context_.engine;
  if (engine.IsAllStopped()) return engine.stop_error();
  const config::InstancePlan& instance = engine.instance_plan();
  const std::vector<config::RpcPlan>& rpcs = engine.plan().rpcs;
  const auto index = static_cast<size_t>(call.rpc_index);
  if (index >= rpcs.size() || !rpcs[index].stream.has_value() ||
      rpcs[index].server_service != instance.service) {
    return absl::StrCat("INVALID_ARGUMENT: ", instance.name,
                        " does not handle RPC ", call.rpc_index,
                        " as a stream");
  }
  if (call.server_instance != instance.number) {
    return absl::StrCat("INVALID_ARGUMENT: this is ", instance.name,
                        ", not instance ", call.server_instance);
  }
  return "";
}

void Streams::OnOpened(protocol::ServerCall* call) {
  OnEvent(call->received_ns);
  call->reply_instance = context_.engine.instance_plan().number;
  if (const std::string problem = ProblemOf(*call); !problem.empty()) {
    call->reply_error = problem;
    transport().Finish(call, protocol::kNoMessage, /*blocked_ns=*/0);
    return;
  }
  ServerEnd& end = *server_ends_.Get();
  end.Start(*this, *call);
  end.Reset(context_, end.plan->stream->server, end.plan->response);
  end.position = serving_.size();
  serving_.push_back(&end);
  call->engine_state = &end;
}

void Streams::OnMessage(protocol::ServerCall& call, int64_t /*bytes*/,
                        int64_t now_ns) {
  OnEvent(now_ns);
  ServerEnd& end = EndOf<ServerEnd>(call);
  if (end.is_echo() && end.is_answered) {
    end.Add(1);
    return;
  }
  ++end.unanswered;
  if (end.unanswered == 1 &&
      end.plan->stream->start != config::StreamPlan::Start::kOnLastRequest) {
    Handle(end);
  }
}

void Streams::OnRequestsOver(protocol::ServerCall& call, int64_t now_ns) {
  OnEvent(now_ns);
  ServerEnd& end = EndOf<ServerEnd>(call);
  end.requests_over = true;
  if (end.plan->stream->start == config::StreamPlan::Start::kOnLastRequest) {
    Handle(end);
  } else {
    FinishIfDone(end);
  }
}

void Streams::Handle(ServerEnd& end) {
  const int list = end.plan->handler_list;
  if (context_.engine.plan().lists[list].actions.empty()) {
    Respond(end, end.plan->response);
    return;
  }
  end.is_handled = true;
  scheduler_.StartHandler(list, *end.call);
}

void Streams::Respond(const ListRun& list) {
  ServerEnd& end = EndOf<ServerEnd>(*list.request);
  end.is_handled = false;
  Respond(end, list.response_override != nullptr ? *list.response_override
                                                 : end.plan->response);
}

void Streams::Respond(ServerEnd& end, const config::SizePlan& size) {
  if (end.is_broken) {
    Fail(end, "the client is gone");
    return;
  }
  if (context_.engine.IsAllStopped()) {
    Fail(end, context_.engine.stop_error());
    return;
  }
  end.is_answered = true;
  const config::StreamSidePlan& side = end.plan->stream->server;
  end.Reset(context_, side, size);
  end.Add(end.is_echo() ? end.unanswered : DrawCount(side));
}

void Streams::OnWritten(protocol::ServerCall& call, int64_t now_ns) {
  OnEvent(now_ns);
  ServerEnd& end = EndOf<ServerEnd>(call);
  const bool was_last = end.pending() == 0;
  end.OnWritten();
  // Writing a last message may have finished the RPC.
  if (was_last) FinishIfDone(end);
}

void Streams::FinishIfDone(ServerEnd& end) {
  if (end.is_answered && end.requests_over && end.is_idle()) {
    Finish(end, protocol::kNoMessage);
  }
}

void Streams::OnBroken(protocol::ServerCall& call, int64_t now_ns) {
  OnEvent(now_ns);
  ServerEnd& end = EndOf<ServerEnd>(call);
  end.is_broken = true;
  end.Stop();
  if (!end.is_handled) Fail(end, "the client is gone");
}

void Streams::StopServing() {
  const std::string error = context_.engine.stop_error();
  // Backwards, because a failure moves the last one into its place.
  for (size_t i = serving_.size(); i-- > 0;) {
    if (!serving_[i]->is_handled) Fail(*serving_[i], error);
  }
}

void Streams::Fail(ServerEnd& end, const std::string& error) {
  end.call->reply_error = error;
  Finish(end, protocol::kNoMessage);
}

void Streams::Finish(ServerEnd& end, int64_t last_message_bytes) {
  end.Stop();
  serving_.back()->position = end.position;
  serving_[end.position] = serving_.back();
  serving_.pop_back();
  transport().Finish(end.call, last_message_bytes, end.blocked_ns());
  server_ends_.Put(&end);
}

}  // namespace distbench::engine
