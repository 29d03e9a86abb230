// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/testing/busy_provider.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sys/uio.h>

#include <atomic>

#include "distbench/base/clock.h"
#include "distbench/products/libfabric/fabric.h"

namespace distbench::libfabric {
namespace {

// libfabric's objects point to tables of functions. The tables below replace
// them from the fabric down to the endpoints; all objects of a provider have
// the same ones.
LibfabricFunctions library_functions;
LibfabricFunctions busy_functions;
const fi_ops_fabric* fabric_ops = nullptr;
fi_ops_fabric busy_fabric_ops;
const fi_ops_domain* domain_ops = nullptr;
fi_ops_domain busy_domain_ops;
const fi_ops_msg* message_ops = nullptr;
fi_ops_msg busy_message_ops;

std::atomic<int64_t> refusals_left = 0;
std::atomic<int64_t> last_refused_ns = 0;

bool Refuses() {
  int64_t left = refusals_left;
  while (left > 0 && !refusals_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left > 0) last_refused_ns = base::RealClock().MonotonicNs();
  return left > 0;
}

ssize_t Send(fid_ep* endpoint, const void* bytes, size_t size, void* descriptor,
             fi_addr_t to, void* context) {
  if (Refuses()) return -FI_EAGAIN;
  return message_ops->send(endpoint, bytes, size, descriptor, to, context);
}

ssize_t SendPieces(fid_ep* endpoint, const iovec* pieces, void** descriptors,
                   size_t count, fi_addr_t to, void* context) {
  if (Refuses()) return -FI_EAGAIN;
  return message_ops->sendv(endpoint, pieces, descriptors, count, to, context);
}

ssize_t Inject(fid_ep* endpoint, const void* bytes, size_t size, fi_addr_t to) {
  if (Refuses()) return -FI_EAGAIN;
  return message_ops->inject(endpoint, bytes, size, to);
}

int OpenEndpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint,
                 void* context) {
  const int code = domain_ops->endpoint(domain, info, endpoint, context);
  if (code != 0) return code;
  message_ops = (*endpoint)->msg;
  busy_message_ops = *message_ops;
  busy_message_ops.send = Send;
  busy_message_ops.sendv = SendPieces;
  busy_message_ops.inject = Inject;
  (*endpoint)->msg = &busy_message_ops;
  return 0;
}

int OpenDomain(fid_fabric* fabric, fi_info* info, fid_domain** domain,
               void* context) {
  const int code = fabric_ops->domain(fabric, info, domain, context);
  if (code != 0) return code;
  domain_ops = (*domain)->ops;
  busy_domain_ops = *domain_ops;
  busy_domain_ops.endpoint = OpenEndpoint;
  (*domain)->ops = &busy_domain_ops;
  return 0;
}

int OpenFabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  const int code = library_functions.fabric(attributes, fabric, context);
  if (code != 0) return code;
  fabric_ops = (*fabric)->ops;
  busy_fabric_ops = *fabric_ops;
  busy_fabric_ops.domain = OpenDomain;
  (*fabric)->ops = &busy_fabric_ops;
  return 0;
}

}  // namespace

BusyProvider::BusyProvider() {
  RefuseNext(0);
  library_functions = Libfabric();
  busy_functions = library_functions;
  busy_functions.fabric = OpenFabric;
  ReplaceLibfabric(&busy_functions);
}

BusyProvider::~BusyProvider() { ReplaceLibfabric(nullptr); }

void BusyProvider::RefuseNext(int64_t count) { refusals_left = count; }

int64_t BusyProvider::left() { return refusals_left; }

int64_t BusyProvider::refused_ns() { return last_refused_ns; }

}  // namespace distbench::libfabric
