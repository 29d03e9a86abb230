// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TESTS_CONTROL_PLANE_FAKE_SEQUENCER_H_
#define TESTS_CONTROL_PLANE_FAKE_SEQUENCER_H_

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "proto/control.grpc.pb.h"

namespace distbench {

// Listens on localhost; derived classes behave as sequencers do, or do not.
class FakeSequencer : public DistBenchTestSequencer::Service {
 public:
  FakeSequencer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("localhost:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeSequencer() override { ShutDown(); }

  std::string address() const { return absl::StrCat("localhost:", port_); }

 protected:
  // Ends all calls; before members are gone that they use.
  void ShutDown() { server_->Shutdown(absl::ToChronoTime(absl::Now())); }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace distbench

#endif  // TESTS_CONTROL_PLANE_FAKE_SEQUENCER_H_
