// The part of the worker that serves requests: admission, faults and answers.

#include "distbench/engine/worker/worker.h"

namespace distbench::engine {
namespace {

constexpr char kTooManyRequests[] =
    "RESOURCE_EXHAUSTED: too many requests wait at the server";

}  // namespace

void Worker::OnRequest(protocol::ServerCall* call) {
  ++event_count_;
  context_.now_ns = call->received_ns;
  const int list = handler_.Admit(*call);
  if (list != config::kNone) AdmitOrQueue(list, *call);
}

void Worker::AdmitOrQueue(int list, protocol::ServerCall& request) {
  if (admission_ == nullptr) {
    scheduler_.StartHandler(list, request);
    return;
  }
  protocol::ServerCall* const refused =
      admission_->Add(request, scheduler_.handlers_in_progress());
  if (refused != nullptr) handler_.RefuseAdmitted(*refused, kTooManyRequests);
  StartAdmitted();
}

// Not from inside the scheduler: lists that end at once would be nested in each
// other.
void Worker::StartAdmitted() {
  while (protocol::ServerCall* request = admission_->Next(
             scheduler_.handlers_in_progress(), context_.now_ns)) {
    ++event_count_;
    scheduler_.StartHandler(handler_.ListOf(*request), *request);
  }
}

// Everything is stopped.
void Worker::StopServing() {
  streams_.StopServing();
  if (faults_ != nullptr) {
    faults_->Stop();
    handler_.OnFaultsChanged();
  }
  if (admission_ == nullptr) return;
  while (protocol::ServerCall* request = admission_->Drop()) {
    handler_.StopAdmitted(*request);
  }
}

void Worker::Respond(const ListRun& list) {
  if (context_.engine.plan().rpcs[list.request->rpc_index].stream.has_value()) {
    streams_.Respond(list);
  } else {
    handler_.Respond(list);
  }
}

void Worker::StartStreamHandler(int list, protocol::ServerCall& call) {
  scheduler_.StartHandler(list, call);
}

void Worker::OnFaultDue() {
  const absl::Status done = faults_->OnDue();
  if (!done.ok()) {
    group_.OnFailure(done);
    return;
  }
  handler_.OnFaultsChanged();
  if (faults_->frozen_until_ns() <= context_.now_ns) return;
  // The worker's thread stands still, and with it the turn.
  group_.WaitOutFreeze(faults_->frozen_until_ns());
  context_.now_ns = context_.engine.clock().MonotonicNs();
}

// For engines that their owner runs.
bool Worker::is_frozen() const {
  return faults_ != nullptr &&
         context_.engine.clock().MonotonicNs() < faults_->frozen_until_ns() &&
         context_.engine.stop_scope() != StopScope::kEverything;
}

}  // namespace distbench::engine
