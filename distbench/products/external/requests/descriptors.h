// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_DESCRIPTORS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_DESCRIPTORS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::external {

// The two parts of a method's path, "/package.Service/Method".
struct MethodPath {
  std::string service;
  std::string method;
};

// The error says what a path looks like.
absl::StatusOr<MethodPath> ParseMethodPath(absl::string_view path);

// The types and services of some .proto files. Immutable; thread-safe.
class Descriptors {
 public:
  // `set` is a serialised FileDescriptorSet with its files in any order, as
  // `protoc --include_imports --descriptor_set_out` writes it. Only files of
  // google.protobuf may be missing. The set may come from anybody. The error
  // says what is wrong in which file.
  static absl::StatusOr<std::unique_ptr<const Descriptors>> Parse(
      const std::string& set);

  // The error suggests services or methods that there are, or says that the
  // request has too many types. The result is valid as long as this object.
  absl::StatusOr<const google::protobuf::MethodDescriptor*> FindMethod(
      absl::string_view path) const;

  const google::protobuf::DescriptorPool& pool() const { return pool_; }

 private:
  // Keeps the first error.
  class FirstError : public google::protobuf::DescriptorPool::ErrorCollector {
   public:
    void AddError(const std::string& file, const std::string& element,
                  const google::protobuf::Message* descriptor,
                  ErrorLocation location, const std::string& message) override;

    std::string text;
  };

  Descriptors();

  absl::Status AddFiles(const google::protobuf::FileDescriptorSet& set);
  std::vector<std::string> ServiceNames() const;

  FirstError error_;
  google::protobuf::SimpleDescriptorDatabase files_;
  google::protobuf::DescriptorPoolDatabase own_files_;
  google::protobuf::MergedDescriptorDatabase all_files_;
  google::protobuf::DescriptorPool pool_;
  std::vector<std::string> file_names_;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_DESCRIPTORS_H_
