#include "distbench/hosting/engine_messages.h"

#include <utility>

#include "distbench/base/index_list.h"

namespace distbench::hosting {

EngineBinding ToEngineBinding(const numa::ResolvedBinding& binding) {
  EngineBinding message;
  *message.mutable_asked() = binding.proto;
  message.set_cpus(base::FormatIndexList(binding.cpus));
  message.set_memory_nodes(base::FormatIndexList(binding.memory_nodes));
  message.set_policy(binding.policy);
  return message;
}

absl::StatusOr<numa::ResolvedBinding> FromEngineBinding(
    const EngineBinding& message) {
  absl::StatusOr<base::IndexSet> cpus = base::ParseIndexList(message.cpus());
  if (!cpus.ok()) return cpus.status();
  absl::StatusOr<base::IndexSet> nodes =
      base::ParseIndexList(message.memory_nodes());
  if (!nodes.ok()) return nodes.status();
  return numa::ResolvedBinding{.proto = message.asked(),
                               .cpus = *std::move(cpus),
                               .memory_nodes = *std::move(nodes),
                               .policy = message.policy()};
}

TlsMaterial ToTlsMaterial(const security::TlsContents& contents) {
  TlsMaterial material;
  material.set_ca(contents.ca);
  material.set_cert(contents.cert);
  material.set_key(contents.key);
  return material;
}

security::TlsContents FromTlsMaterial(const TlsMaterial& material) {
  return {.ca = material.ca(), .cert = material.cert(), .key = material.key()};
}

EngineTotals ToEngineTotals(const engine::EngineProgress& progress) {
  EngineTotals totals;
  totals.set_succeeded_count(progress.succeeded_count);
  totals.set_failed_count(progress.failed_count);
  totals.set_in_flight_count(progress.in_flight_count);
  totals.set_offered_count(progress.offered_count);
  totals.set_open_loop_ended_count(progress.open_loop_ended_count);
  totals.set_unsent_count(progress.unsent_count);
  totals.set_counted_ns(progress.counted_ns);
  return totals;
}

engine::EngineProgress FromEngineTotals(const EngineTotals& totals) {
  return {.succeeded_count = totals.succeeded_count(),
          .failed_count = totals.failed_count(),
          .in_flight_count = totals.in_flight_count(),
          .offered_count = totals.offered_count(),
          .open_loop_ended_count = totals.open_loop_ended_count(),
          .unsent_count = totals.unsent_count(),
          .counted_ns = totals.counted_ns()};
}

}  // namespace distbench::hosting
