#include "distbench/engine/worker/request_handler.h"

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/rpc_sender.h"

namespace distbench {

int RequestHandler::Admit(ServerCall& request) {
  const EngineState& engine = context_.engine;
  const Plan& plan = engine.plan();
  const InstancePlan& self = engine.instance_plan();
  if (engine.stop_scope() == StopScope::kEverything) {
    Refuse(request, absl::StrCat("Traffic cancelled: ", engine.stop_reason()));
    return kNone;
  }
  const bool is_rpc =
      request.rpc_index >= 0 && request.rpc_index < plan.rpcs.size() &&
      plan.rpcs[request.rpc_index].server_service == self.service;
  if (!is_rpc && !IsReplay(request.rpc_index)) {
    Refuse(request, absl::StrCat("INVALID_ARGUMENT: ", self.name,
                                 " does not handle RPC ", request.rpc_index));
    return kNone;
  }
  if (request.server_instance != self.number &&
      request.server_instance != kAnyInstance) {
    Refuse(request, absl::StrCat("INVALID_ARGUMENT: this is ", self.name,
                                 ", not instance ", request.server_instance));
    return kNone;
  }
  if (!is_rpc) {
    AnswerReplay(request);
    return kNone;
  }
  const RpcPlan& rpc = plan.rpcs[request.rpc_index];
  if (plan.lists[rpc.handler_list].actions.empty()) {
    Answer(request, rpc.response);
    return kNone;
  }
  ++pending_;
  return rpc.handler_list;
}

void RequestHandler::Respond(const ListRun& list) {
  --pending_;
  ServerCall& request = *list.request;
  AnswerUnlessStopped(
      request, list.response_override != nullptr
                   ? *list.response_override
                   : context_.engine.plan().rpcs[request.rpc_index].response);
}

// Replayed RPCs are numbered behind those of the config.
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

// The client's wish goes first: it has drawn both sizes together.
void RequestHandler::Answer(ServerCall& request, const SizePlan& size) {
  request.reply_bytes = request.response_bytes != kServerDecides
                            ? request.response_bytes
                            : DrawSize(size, context_);
  request.reply_instance = context_.engine.instance_plan().number;
  request.reply_error = {};
  context_.transport.Reply(&request);
}

void RequestHandler::Refuse(ServerCall& request, const std::string& error) {
  request.reply_bytes = 0;
  request.reply_instance = context_.engine.instance_plan().number;
  request.reply_error = error;
  context_.transport.Reply(&request);
}

}  // namespace distbench
