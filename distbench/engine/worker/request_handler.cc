#include "distbench/engine/worker/request_handler.h"

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/draw_size.h"

namespace distbench {

RequestHandler::RequestHandler(WorkerContext& context)
    : context_(context), number_(context.engine.instance_plan().number) {
  const Plan& plan = context.engine.plan();
  for (const RpcPlan& rpc : plan.rpcs) {
    const bool is_handled =
        rpc.server_service == context.engine.instance_plan().service &&
        !rpc.stream.has_value();
    const bool has_actions =
        is_handled && !plan.lists[rpc.handler_list].actions.empty();
    handling_.push_back({.is_handled = is_handled,
                         .list = has_actions ? rpc.handler_list : kNone,
                         .response = &rpc.response});
  }
}

int RequestHandler::Admit(ServerCall& request) {
  const EngineState& engine = context_.engine;
  if (engine.stop_scope() == StopScope::kEverything) {
    Refuse(request, absl::StrCat("Traffic cancelled: ", engine.stop_reason()));
    return kNone;
  }
  const bool is_rpc = IsHandled(request.rpc_index);
  if (!is_rpc && !IsReplay(request.rpc_index)) {
    Refuse(request,
           absl::StrCat("INVALID_ARGUMENT: ", engine.instance_plan().name,
                        " does not handle RPC ", request.rpc_index));
    return kNone;
  }
  if (request.server_instance != number_ &&
      request.server_instance != kAnyInstance) {
    Refuse(request, absl::StrCat("INVALID_ARGUMENT: this is ",
                                 engine.instance_plan().name, ", not instance ",
                                 request.server_instance));
    return kNone;
  }
  if (!is_rpc) {
    AnswerReplay(request);
    return kNone;
  }
  const Handling& handling = handling_[request.rpc_index];
  if (handling.list == kNone) {
    Answer(request, *handling.response);
  } else {
    ++pending_;
  }
  return handling.list;
}

void RequestHandler::Respond(const ListRun& list) {
  --pending_;
  ServerCall& request = *list.request;
  AnswerUnlessStopped(
      request, list.response_override != nullptr
                   ? *list.response_override
                   : context_.engine.plan().rpcs[request.rpc_index].response);
}

// Replayed RPCs are numbered after those of the config.
bool RequestHandler::IsReplay(int rpc_index) const {
  const Plan& plan = context_.engine.plan();
  const int64_t trace = rpc_index - static_cast<int64_t>(plan.rpcs.size());
  return trace >= 0 && trace < plan.replay_traces.size() &&
         plan.replay_traces[trace].server_service ==
             context_.engine.instance_plan().service;
}

void RequestHandler::AnswerReplay(ServerCall& request) {
  if (request.processing_ns <= 0) {
    Answer(request, SizePlan());
    return;
  }
  ++pending_;
  DelayedReply& reply = *delayed_.Get();
  reply.request = &request;
  reply.timer.kind = Timer::Kind::kReply;
  reply.timer.owner = &reply;
  context_.timers.Arm(
      reply.timer, SaturatingAdd(request.received_ns, request.processing_ns));
}

void RequestHandler::OnReplyDue(Timer& timer) {
  --pending_;
  DelayedReply& reply = *static_cast<DelayedReply*>(timer.owner);
  AnswerUnlessStopped(*reply.request, SizePlan());
  delayed_.Put(&reply);
}

void RequestHandler::AnswerUnlessStopped(ServerCall& request,
                                         const SizePlan& size) {
  const EngineState& engine = context_.engine;
  if (engine.stop_scope() == StopScope::kEverything) {
    Refuse(request, absl::StrCat("Traffic cancelled: ", engine.stop_reason()));
  } else {
    Answer(request, size);
  }
}

// The client's choice takes precedence: it has drawn both sizes together.
void RequestHandler::Answer(ServerCall& request, const SizePlan& size) {
  request.reply_bytes = request.response_bytes != kServerDecides
                            ? request.response_bytes
                            : DrawSize(size, context_);
  request.reply_instance = number_;
  request.reply_error = {};
  context_.transport.Reply(&request);
}

void RequestHandler::Refuse(ServerCall& request, const std::string& error) {
  request.reply_bytes = 0;
  request.reply_instance = number_;
  request.reply_error = error;
  context_.transport.Reply(&request);
}

}  // namespace distbench
