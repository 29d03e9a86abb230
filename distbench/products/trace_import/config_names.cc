#include "distbench/products/trace_import/config_names.h"

#include <openssl/sha.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace distbench::trace_import {
namespace {

// Longer names make configs illegible; they are cut off.
constexpr size_t kMaxKeptLength = 80;
constexpr size_t kPseudonymBytes = 4;

std::string Pseudonym(absl::string_view kind, absl::string_view name,
                      absl::string_view key) {
  const std::string text = absl::StrCat(key.size(), ":", key, kind, ":", name);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         digest);
  return absl::StrCat(
      kind, "_",
      absl::BytesToHexString(absl::string_view(
          reinterpret_cast<const char*>(digest), kPseudonymBytes)));
}

// With the characters that names in configs have.
std::string Kept(absl::string_view name) {
  std::string kept(name.substr(0, kMaxKeptLength));
  for (char& c : kept) {
    const bool fits = absl::ascii_isalnum(c) || c == '-' || c == '.';
    if (!fits) c = '_';
  }
  return kept.empty() ? "unnamed" : kept;
}

// Without the service that many operations begin with.
absl::string_view ShortOperation(const RpcModel& rpc) {
  absl::string_view operation = rpc.operation;
  absl::ConsumePrefix(&operation, absl::StrCat(rpc.server, "/"));
  return operation.empty() ? absl::string_view(rpc.operation) : operation;
}

}  // namespace

std::string UniqueNames::Take(const std::string& name) {
  std::string unique = name;
  for (int i = 2; !taken_.insert(unique).second; ++i) {
    unique = absl::StrCat(name, "_", i);
  }
  return unique;
}

ConfigNames::ConfigNames(const TrafficModel& model,
                         const NamingOptions& options) {
  // Lists of actions have the names of services and of RPCs.
  UniqueNames names;
  for (const auto& [name, instances] : model.services) {
    services_[name] = names.Take(options.keep_names
                                     ? Kept(name)
                                     : Pseudonym("service", name, options.key));
  }
  for (const RpcModel& rpc : model.rpcs) {
    rpcs_.push_back(names.Take(
        options.keep_names
            ? Kept(ShortOperation(rpc))
            : Pseudonym("rpc", absl::StrCat(rpc.server, "/", rpc.operation),
                        options.key)));
  }
}

}  // namespace distbench::trace_import
