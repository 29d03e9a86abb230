// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/request_handler.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"

namespace distbench::engine {

namespace {

constexpr config::SizePlan
    kNoPayload;  // replayed requests say the size themselves

constexpr absl::string_view kTooManyRequests =
    "RESOURCE_EXHAUSTED: too many requests wait at the server";

std::unique_ptr<Faults> MakeFaults(WorkerContext& context) {
  const EngineState& engine = context.engine;
  if (!Faults::HasAny(engine.plan(), engine.instance_plan())) return nullptr;
  return std::make_unique<Faults>(context);
}

std::unique_ptr<Admission> MakeAdmission(const WorkerContext& context) {
  const EngineState& engine = context.engine;
  const std::optional<config::AdmissionPlan>& plan = engine.service().admission;
  if (!plan.has_value()) return nullptr;
  return std::make_unique<Admission>(*plan, context.worker,
                                     engine.worker_count());
}

}  // namespace

RequestHandler::RequestHandler(WorkerContext& context, Scheduler& scheduler,
                               ReceiveRunner& receive)
    : context_(context),
      scheduler_(scheduler),
      receive_(receive),
      faults_(MakeFaults(context)),
      admission_(MakeAdmission(context)),
      number_(context.engine.instance_plan().number),
      measures_time_parts_(context.engine.plan().measures_time_parts) {
  const config::Plan& plan = context.engine.plan();
  for (const config::RpcPlan& rpc : plan.rpcs) {
    const bool is_handled =
        rpc.server_service == context.engine.instance_plan().service &&
        !rpc.stream.has_value();
    const bool has_actions =
        is_handled && !plan.lists[rpc.handler_list].actions.empty();
    handling_.push_back({.is_handled = is_handled,
                         .is_plain = is_handled,
                         .list = has_actions ? rpc.handler_list : config::kNone,
                         .response = &rpc.response});
  }
}

void RequestHandler::OnFaultsChanged() {
  for (size_t rpc = 0; rpc < handling_.size(); ++rpc) {
    Handling& handling = handling_[rpc];
    handling.is_plain =
        handling.is_handled && !faults_->Affects(static_cast<int>(rpc));
  }
}

absl::Status RequestHandler::OnFaultDue() {
  absl::Status done = faults_->OnDue();
  if (done.ok()) OnFaultsChanged();
  return done;
}

void RequestHandler::Stop() {
  if (faults_ != nullptr) {
    faults_->Stop();
    OnFaultsChanged();
  }
  if (admission_ == nullptr) return;
  while (protocol::ServerCall* request = admission_->Drop()) {
    RefuseAdmitted(*request, context_.engine.stop_error());
  }
}

// The handler begins: now, as requests that came together wait for each other.
inline void RequestHandler::StampBegin(protocol::ServerCall& request) const {
  if (!measures_time_parts_) return;
  request.begun_ns = context_.engine.clock().MonotonicNs();
}

void RequestHandler::OnRequest(protocol::ServerCall& request) {
  // Once more if there is an admission to wait for.
  StampBegin(request);
  const int list = Admit(request);
  if (list == config::kNone) return;
  if (admission_ == nullptr) {
    scheduler_.StartHandler(list, request);
    return;
  }
  protocol::ServerCall* const refused =
      admission_->Add(request, scheduler_.handlers_in_progress());
  if (refused != nullptr) RefuseAdmitted(*refused, kTooManyRequests);
  StartAdmitted();
}

void RequestHandler::StartAdmitted() {
  while (protocol::ServerCall* request = admission_->Next(
             scheduler_.handlers_in_progress(), context_.now_ns)) {
    ++context_.event_count;
    StampBegin(*request);
    scheduler_.StartHandler(handling_[request->rpc_index].list, *request);
  }
}

// Returns the list that handles a request. Returns kNone if no list does: the
// request is answered at once if its RPC has an empty action list, this
// instance cannot handle it, or a fault demands an error; a replayed request is
// answered now or when its processing time is over. A fault may delay each of
// these answers.
inline int RequestHandler::Admit(protocol::ServerCall& request) {
  const EngineState& engine = context_.engine;
  if (engine.IsAllStopped()) {
    Refuse(request, engine.stop_error());
    return config::kNone;
  }
  const bool is_plain = IsPlain(request.rpc_index);
  if (!is_plain && !IsHandled(request.rpc_index) &&
      !IsReplay(request.rpc_index)) {
    Refuse(request,
           absl::StrCat("INVALID_ARGUMENT: ", engine.instance_plan().name,
                        " does not handle RPC ", request.rpc_index));
    return config::kNone;
  }
  if (request.server_instance != number_ &&
      request.server_instance != protocol::kAnyInstance) {
    Refuse(request, absl::StrCat("INVALID_ARGUMENT: this is ",
                                 engine.instance_plan().name, ", not instance ",
                                 request.server_instance));
    return config::kNone;
  }
  if (!is_plain) return AdmitDespiteFaults(request);
  const Handling& handling = handling_[request.rpc_index];
  if (handling.list == config::kNone) {
    Answer(request, *handling.response);
  } else {
    ++pending_;
  }
  return handling.list;
}

// A request that a fault may affect, or that is replayed.
int RequestHandler::AdmitDespiteFaults(protocol::ServerCall& request) {
  const int rpc =
      IsHandled(request.rpc_index) ? request.rpc_index : config::kNone;
  if (faults_ != nullptr) {
    const absl::string_view error = faults_->DrawError(rpc);
    if (!error.empty()) {
      Refuse(request, error);
      return config::kNone;
    }
  }
  if (rpc == config::kNone) {
    AnswerReplay(request);
    return config::kNone;
  }
  const Handling& handling = handling_[rpc];
  if (handling.list == config::kNone) {
    AnswerDespiteFaults(request, *handling.response);
  } else {
    ++pending_;
  }
  return handling.list;
}

void RequestHandler::Respond(const ListRun& list) {
  --pending_;
  protocol::ServerCall& request = *list.request;
  const Handling& handling = handling_[request.rpc_index];
  const config::SizePlan& size = list.response_override != nullptr
                                     ? *list.response_override
                                     : *handling.response;
  if (handling.is_plain) {
    AnswerUnlessStopped(request, size);
  } else {
    AnswerDespiteFaults(request, size);
  }
}

void RequestHandler::RefuseAdmitted(protocol::ServerCall& request,
                                    absl::string_view error) {
  --pending_;
  StampBegin(request);  // all of its time was a wait
  Refuse(request, error);
}

// Replayed RPCs are numbered after those of the config.
bool RequestHandler::IsReplay(int rpc_index) const {
  const config::Plan& plan = context_.engine.plan();
  const int64_t trace = rpc_index - static_cast<int64_t>(plan.rpcs.size());
  return trace >= 0 && trace < plan.replay_traces.size() &&
         plan.replay_traces[trace].server_service ==
             context_.engine.instance_plan().service;
}

void RequestHandler::AnswerReplay(protocol::ServerCall& request) {
  if (request.processing_ns <= 0) {
    AnswerDespiteFaults(request, kNoPayload);
    return;
  }
  AnswerLater(request, kNoPayload,
              base::SaturatingAdd(request.received_ns, request.processing_ns),
              /*by_fault=*/false);
}

// Answers, unless a fault delays the answer. A stop ends lists before it ends
// faults, and nobody waits for what would be delayed then.
void RequestHandler::AnswerDespiteFaults(protocol::ServerCall& request,
                                         const config::SizePlan& size) {
  const int64_t extra_ns =
      faults_ == nullptr || context_.engine.IsAllStopped()
          ? 0
          : faults_->DrawExtraLatency(
                IsKnown(request.rpc_index) ? request.rpc_index : config::kNone);
  if (extra_ns == 0) {
    AnswerUnlessStopped(request, size);
  } else {
    AnswerLater(request, size, base::SaturatingAdd(context_.now_ns, extra_ns),
                /*by_fault=*/true);
  }
}

void RequestHandler::AnswerLater(protocol::ServerCall& request,
                                 const config::SizePlan& size, int64_t due_ns,
                                 bool by_fault) {
  ++pending_;
  DelayedReply& reply = *delayed_.Get();
  reply.request = &request;
  reply.size = &size;
  reply.by_fault = by_fault;
  reply.timer.kind = Timer::Kind::kReply;
  reply.timer.traffic = Timer::Traffic::kAll;
  reply.timer.owner = &reply;
  context_.timers.Arm(reply.timer, due_ns);
}

void RequestHandler::OnReplyDue(Timer& timer) {
  --pending_;
  DelayedReply& reply = *static_cast<DelayedReply*>(timer.owner);
  protocol::ServerCall& request = *reply.request;
  const config::SizePlan& size = *reply.size;
  const bool was_by_fault = reply.by_fault;
  delayed_.Put(&reply);
  if (was_by_fault) {
    AnswerUnlessStopped(request, size);
  } else {
    AnswerDespiteFaults(request, size);
  }
}

void RequestHandler::AnswerUnlessStopped(protocol::ServerCall& request,
                                         const config::SizePlan& size) {
  if (context_.engine.IsAllStopped()) {
    Refuse(request, context_.engine.stop_error());
  } else {
    Answer(request, size);
  }
}

// The client's choice takes precedence: it has drawn both sizes together.
void RequestHandler::Answer(protocol::ServerCall& request,
                            const config::SizePlan& size) {
  request.reply_bytes = request.response_bytes != protocol::kServerDecides
                            ? request.response_bytes
                            : DrawSize(size, context_);
  request.reply_instance = number_;
  request.reply_error = {};
  const int rpc = request.rpc_index;
  context_.transport.Reply(&request);
  receive_.OnAnswered(rpc);
}

void RequestHandler::Refuse(protocol::ServerCall& request,
                            absl::string_view error) {
  request.reply_bytes = 0;
  request.reply_instance = number_;
  request.reply_error = error;
  context_.transport.Reply(&request);
}

}  // namespace distbench::engine
