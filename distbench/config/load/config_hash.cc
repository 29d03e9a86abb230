#include "distbench/config/load/config_hash.h"

#include <cstdint>

#include "absl/strings/str_format.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace distbench {
namespace {

// 64-bit FNV-1a (Fowler-Noll-Vo), which is the same in every build.
uint64_t Fnv1a(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char byte : bytes) {
    hash ^= static_cast<uint8_t>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

// Serialises maps in the order of their keys.
std::string Serialise(const DistributedSystemDescription& test) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream output(&stream);
  output.SetSerializationDeterministic(true);
  test.SerializeWithCachedSizes(&output);
  output.Trim();
  return bytes;
}

}  // namespace

std::string ConfigHash(DistributedSystemDescription test) {
  test.clear_random_seed();
  // Serialise() relies on the sizes that this call caches.
  test.ByteSizeLong();
  return absl::StrFormat("%016x", Fnv1a(Serialise(test)));
}

}  // namespace distbench
