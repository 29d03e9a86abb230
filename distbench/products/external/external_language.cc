// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/external_language.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/referenced_files.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/test_validation.h"
#include "distbench/products/external/external_services.h"
#include "distbench/products/external/requests/message_source.h"

namespace distbench::external {
namespace {

constexpr char kNotRun[] = "an external service runs nothing here; remove it";

// ---- Services ---------------------------------------------------------------

void RefuseRedacted(const config::TestValidation& validation,
                    const config::Path& path) {
  validation.Add(path,
                 "was removed, as from all configs in results; run the config "
                 "that the result was made with");
}

class ServiceCheck {
 public:
  ServiceCheck(const config::TestValidation& validation, int index)
      : validation_(validation),
        service_(validation.test().services(index)),
        path_(validation.Service(index)) {}

  void Check() const {
    CheckAddresses();
    CheckTls();
    if (config::GridOf(service_).Count() != 1) {
      validation_.Add(path_.Field("count"),
                      "an external service counts as one; list its servers in "
                      "external.addresses and remove this");
    }
    const int list = validation_.names().lists.Find(service_.name());
    if (list != config::kNone) validation_.Add(validation_.List(list), kNotRun);
  }

 private:
  void CheckAddresses() const {
    const config::Path path = path_.Field("external").Field("addresses");
    const auto& addresses = service_.external().addresses();
    for (int i = 0; i < addresses.size(); ++i) {
      const absl::Status status = CheckTarget(addresses[i]);
      if (status.ok()) continue;
      validation_.Add(path.At(i), config::Quoted(addresses[i]), " ",
                      status.message());
    }
  }

  void CheckTls() const {
    const ExternalTls& tls = service_.external().tls();
    CheckPem("ca_file", tls.ca_certificates(), "CERTIFICATE-----",
             "certificate");
    CheckPem("client_certificate_file", tls.client_certificates(),
             "CERTIFICATE-----", "certificate");
    CheckPem("client_key_file", tls.client_key(), "PRIVATE KEY-----",
             "private key");
    if (absl::StrContains(tls.client_key(), "ENCRYPTED")) {
      validation_.Add(PathOfTls().Field("client_key_file"),
                      "has a key with a password, for which nobody could be "
                      "asked; name a file that has one without");
    }
    CheckUserAgent();
  }

  void CheckPem(const char* field, const std::string& content,
                const char* heading, const char* what) const {
    if (content.empty() || absl::StrContains(content, heading)) return;
    const config::Path path = PathOfTls().Field(field);
    if (content == kRedacted) return RefuseRedacted(validation_, path);
    validation_.Add(path, "has no ", what, " in PEM; name a file that has one");
  }

  void CheckUserAgent() const {
    const std::string& name = service_.external().user_agent();
    const auto is_allowed = [](char c) { return c >= ' ' && c <= '~'; };
    if (absl::c_all_of(name, is_allowed)) return;
    validation_.Add(path_.Field("external").Field("user_agent"),
                    config::Quoted(name),
                    " has a character that is not printable ASCII; remove it");
  }

  config::Path PathOfTls() const {
    return path_.Field("external").Field("tls");
  }

  const config::TestValidation& validation_;
  const ServiceSpec& service_;
  const config::Path path_;
};

// Returns a field by which connections differ that two services have; empty if
// there is none.
std::string DifferenceOf(const ExternalService& one,
                         const ExternalService& other, bool is_name) {
  if (is_name && one.load_balancing() != other.load_balancing()) {
    return "load_balancing";
  }
  if (one.has_tls() != other.has_tls() ||
      one.tls().SerializeAsString() != other.tls().SerializeAsString()) {
    return "tls";
  }
  if (one.user_agent() != other.user_agent()) return "user_agent";
  if (one.connections() != other.connections()) return "connections";
  if (one.connection_policy() != other.connection_policy()) {
    return "connection_policy";
  }
  if (one.max_response_bytes() != other.max_response_bytes()) {
    return "max_response_bytes";
  }
  return "";
}

// A connection to an address is made in one way.
void CheckOneWayPerAddress(const config::TestValidation& validation) {
  std::map<std::string, const ServiceSpec*> owners;
  const auto& services = validation.test().services();
  for (int i = 0; i < services.size(); ++i) {
    for (const std::string& address : services[i].external().addresses()) {
      const auto [owner, is_new] = owners.try_emplace(address, &services[i]);
      if (is_new) continue;
      const std::string field = DifferenceOf(
          services[i].external(), owner->second->external(), IsName(address));
      if (field.empty()) continue;
      validation.Add(validation.Service(i).Field("external").Field(field),
                     "service ", config::Quoted(owner->second->name()),
                     " has the address ", config::Quoted(address),
                     " too, with another ", field, "; make them equal");
    }
  }
}

// ---- RPCs -------------------------------------------------------------------

class CallCheck {
 public:
  CallCheck(const config::TestValidation& validation, int index)
      : validation_(validation),
        index_(index),
        rpc_(validation.test().rpc_descriptions(index)),
        call_(rpc_.external_call()),
        path_(validation.Rpc(index).Field("external_call")) {}

  void Check() const {
    const int list = validation_.names().lists.Find(rpc_.name());
    if (list != config::kNone) validation_.Add(validation_.List(list), kNotRun);
    CheckCall();
  }

 private:
  void CheckCall() const {
    const int64_t problems_before = validation_.problems().count();
    CheckContents();
    const std::map<std::string, std::string> metadata(call_.metadata().begin(),
                                                      call_.metadata().end());
    for (const auto& [name, value] : metadata) {
      const config::Path path = path_.Field("metadata").At(name);
      const absl::Status named = CheckMetadataName(name);
      if (!named.ok()) {
        validation_.Add(path, named.message());
      } else if (value == kRedacted) {
        RefuseRedacted(validation_, path);
      }
    }
    if (validation_.problems().count() != problems_before) return;
    for (const char* field :
         {"request_file", "descriptor_set_file", "rows_file"}) {
      if (!config::IsRight(call_, field)) return;
    }
    const ExternalCall call = ToExternalCall(rpc_);
    const absl::Status status = CheckExternalCall(call);
    if (!status.ok()) validation_.Add(path_, status.message());
    CheckFiller(HasFiller(call));
  }

  // A payload says what a filler fills, and nothing else.
  void CheckFiller(bool has_filler) const {
    const bool has_payload = !rpc_.request_payload_name().empty();
    if (has_payload == has_filler) return;
    const config::Path path =
        validation_.Rpc(index_).Field("request_payload_name");
    if (has_payload) {
      validation_.Add(path,
                      "has no effect on a request of an external service "
                      "without {{filler}}; write that into the request, or "
                      "remove this");
    } else {
      validation_.Add(path,
                      "is missing; it says how long {{filler}} makes the "
                      "request");
    }
  }

  void CheckContents() const {
    // Even if one of them is empty.
    if (call_.has_request_json() && call_.has_request_text()) {
      validation_.Add(path_.Field("request_text"),
                      "excludes request_json; remove one of them");
    }
    if (call_.has_request_binary() &&
        (call_.has_request_json() || call_.has_request_text())) {
      validation_.Add(path_.Field("request_binary"),
                      "excludes request_json and request_text; remove one of "
                      "them");
    }
    if (call_.rows() == kRedacted) {
      RefuseRedacted(validation_, path_.Field("rows"));
    } else if (!call_.rows().empty()) {
      const absl::Status status = ParseCsvRows(call_.rows()).status();
      if (!status.ok()) {
        validation_.Add(path_.Field("rows_file"), status.message());
      }
    }
  }

  const config::TestValidation& validation_;
  const int index_;
  const RpcSpec& rpc_;
  const ExternalCallSpec& call_;
  const config::Path path_;
};

// ---- What refers to services and RPCs ---------------------------------------

// Instances that are named where only those count that run on nodes.
void CheckPlaces(const config::TestValidation& validation) {
  const DistributedSystemDescription& test = validation.test();
  const auto is_external = [&](const std::string& instance) {
    const auto parsed = config::ParseInstanceName(instance);
    if (!parsed.has_value()) return false;
    const int service = validation.names().services.Find(parsed->service);
    return service != config::kNone && test.services(service).has_external();
  };
  const std::map<std::string, ServiceBundle> bundles(
      test.node_service_bundles().begin(), test.node_service_bundles().end());
  for (const auto& [alias, bundle] : bundles) {
    for (int i = 0; i < bundle.services_size(); ++i) {
      if (!is_external(bundle.services(i))) continue;
      validation.Add(validation.path()
                         .Field("node_service_bundles")
                         .At(alias)
                         .Field("services")
                         .At(i),
                     kNotRun);
    }
  }
  const std::map<std::string, ConstraintList> constraints(
      test.service_constraints().begin(), test.service_constraints().end());
  for (const auto& [instance, list] : constraints) {
    if (!is_external(instance)) continue;
    validation.Add(validation.path().Field("service_constraints").At(instance),
                   kNotRun);
  }
}

// ---- Files ------------------------------------------------------------------

// Results have the certificates that are trusted, and files with them may have
// keys, too.
void ReadCertificates(const config::Path& path, ExternalTls& tls,
                      config::FileReader& files) {
  if (tls.has_client_certificate_file()) {
    files.Fill(path, "client_certificate_file", tls.client_certificate_file(),
               *tls.mutable_client_certificates());
  }
  if (tls.has_client_key_file()) {
    files.Fill(path, "client_key_file", tls.client_key_file(),
               *tls.mutable_client_key());
  }
  if (!tls.has_ca_file()) return;
  files.Fill(path, "ca_file", tls.ca_file(), *tls.mutable_ca_certificates());
  if (!absl::StrContains(tls.ca_certificates(), "PRIVATE KEY")) return;
  files.problems().Add(path.Field("ca_file"), config::Quoted(tls.ca_file()),
                       " has a private key; name a file that has certificates "
                       "only");
}

void ReadRequest(const config::Path& path, ExternalCallSpec& call,
                 config::FileReader& files) {
  if (call.has_request_json() || call.has_request_text() ||
      call.has_request_binary()) {
    return;
  }
  constexpr char kField[] = "request_file";
  const std::string& file = call.request_file();
  if (absl::EndsWith(file, ".json")) {
    files.Fill(path, kField, file, *call.mutable_request_json());
    return;
  }
  for (const char* ending : {".txtpb", ".textproto", ".pbtxt"}) {
    if (!absl::EndsWith(file, ending)) continue;
    files.Fill(path, kField, file, *call.mutable_request_text());
    return;
  }
  for (const char* ending : {".binpb", ".bin"}) {
    if (!absl::EndsWith(file, ending)) continue;
    files.Fill(path, kField, file, *call.mutable_request_binary());
    return;
  }
  files.problems().Add(path.Field(kField), config::Quoted(file),
                       " has no ending that says how to read it; let it end "
                       "with .json, with .txtpb, .textproto or .pbtxt, or "
                       "with .binpb or .bin");
}

void ReadCall(const config::Path& path, ExternalCallSpec& call,
              config::FileReader& files) {
  if (call.has_request_file()) ReadRequest(path, call, files);
  if (call.has_descriptor_set_file()) {
    files.Fill(path, "descriptor_set_file", call.descriptor_set_file(),
               *call.mutable_descriptors());
  }
  if (call.has_rows_file()) {
    files.Fill(path, "rows_file", call.rows_file(), *call.mutable_rows());
  }
}

}  // namespace

void ExternalLanguage::Validate(
    const config::TestValidation& validation) const {
  const DistributedSystemDescription& test = validation.test();
  for (int i = 0; i < test.services_size(); ++i) {
    if (test.services(i).has_external()) ServiceCheck(validation, i).Check();
  }
  CheckOneWayPerAddress(validation);
  for (int i = 0; i < test.rpc_descriptions_size(); ++i) {
    if (config::CallsOutside(test.rpc_descriptions(i))) {
      CallCheck(validation, i).Check();
    }
  }
  CheckPlaces(validation);
}

void ExternalLanguage::ReadFiles(const config::Path& path,
                                 DistributedSystemDescription& test,
                                 config::FileReader& files) const {
  const config::NameIndex services(test.services());
  for (int i = 0; i < test.services_size(); ++i) {
    ServiceSpec& service = *test.mutable_services(i);
    if (!service.external().has_tls()) continue;
    ReadCertificates(config::ElementPath(path.Field("services"), services, i)
                         .Field("external")
                         .Field("tls"),
                     *service.mutable_external()->mutable_tls(), files);
  }
  const config::NameIndex rpcs(test.rpc_descriptions());
  for (int i = 0; i < test.rpc_descriptions_size(); ++i) {
    RpcSpec& rpc = *test.mutable_rpc_descriptions(i);
    if (!rpc.has_external_call()) continue;
    ReadCall(config::ElementPath(path.Field("rpc_descriptions"), rpcs, i)
                 .Field("external_call"),
             *rpc.mutable_external_call(), files);
  }
}

void ExternalLanguage::RedactSecrets(DistributedSystemDescription& test) const {
  external::RedactSecrets(test);
}

}  // namespace distbench::external
