// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/requests/descriptors.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::external {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::DescriptorProto;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

namespace {

// Full names are kept for everything that is in a package, a message or a
// service, so long names of these would multiply.
constexpr size_t kMaxScopeBytes = 1000;

// protobuf recurses from a type to those of its fields.
constexpr size_t kMaxTypes = 4000;

bool HasShortNames(const DescriptorProto& type, size_t scope_bytes) {
  scope_bytes += type.name().size() + 1;
  return scope_bytes <= kMaxScopeBytes &&
         absl::c_all_of(type.nested_type(), [&](const auto& nested) {
           return HasShortNames(nested, scope_bytes);
         });
}

bool HasShortNames(const FileDescriptorProto& file) {
  const size_t package_bytes = file.package().size();
  return package_bytes <= kMaxScopeBytes &&
         absl::c_all_of(file.message_type(),
                        [&](const auto& type) {
                          return HasShortNames(type, package_bytes);
                        }) &&
         absl::c_all_of(file.service(), [&](const auto& service) {
           return package_bytes + service.name().size() <= kMaxScopeBytes;
         });
}

// Orders the files of a set so that each comes after those that it imports.
// protobuf needs no such order, but recurses without a limit if there is none.
class ImportOrder {
 public:
  explicit ImportOrder(const FileDescriptorSet& set) {
    for (const FileDescriptorProto& file : set.file()) {
      files_[file.name()].file = &file;
    }
    for (auto& [name, visit] : files_) {
      if (visit.state == Visit::State::kNew) AddWithImports(visit);
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  // A file that imports itself, perhaps through others; empty if there is none.
  const std::string& in_cycle() const { return in_cycle_; }

 private:
  struct Visit {
    enum class State { kNew, kOpen, kDone };
    const FileDescriptorProto* file = nullptr;
    State state = State::kNew;
    int next_import = 0;
  };

  void AddWithImports(Visit& first) {
    std::vector<Visit*> path;
    const auto enter = [&path](Visit& visit) {
      visit.state = Visit::State::kOpen;
      path.push_back(&visit);
    };
    enter(first);
    while (!path.empty()) {
      Visit& visit = *path.back();
      if (visit.next_import == visit.file->dependency_size()) {
        visit.state = Visit::State::kDone;
        names_.push_back(visit.file->name());
        path.pop_back();
        continue;
      }
      const auto found =
          files_.find(visit.file->dependency(visit.next_import++));
      if (found == files_.end()) continue;
      if (found->second.state == Visit::State::kOpen) in_cycle_ = found->first;
      if (found->second.state == Visit::State::kNew) enter(found->second);
    }
  }

  std::map<std::string, Visit> files_;
  std::vector<std::string> names_;
  std::string in_cycle_;
};

// Checks that a message is not made of too many types.
absl::Status CheckTypes(const Descriptor& type) {
  std::set<const Descriptor*> types = {&type};
  std::vector<const Descriptor*> left = {&type};
  while (!left.empty()) {
    const Descriptor& next = *left.back();
    left.pop_back();
    for (int i = 0; i < next.field_count(); ++i) {
      const Descriptor* of_field = next.field(i)->message_type();
      if (of_field != nullptr && types.insert(of_field).second) {
        left.push_back(of_field);
      }
    }
    if (types.size() <= kMaxTypes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(type.full_name(), " consists of more than ", kMaxTypes,
                     " types of messages, which is the limit"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MethodPath> ParseMethodPath(absl::string_view path) {
  absl::string_view rest = path;
  const bool has_slash = absl::ConsumePrefix(&rest, "/");
  const size_t slash = rest.find('/');
  if (has_slash && slash != absl::string_view::npos && slash > 0 &&
      slash + 1 < rest.size() &&
      rest.find('/', slash + 1) == absl::string_view::npos) {
    return MethodPath{std::string(rest.substr(0, slash)),
                      std::string(rest.substr(slash + 1))};
  }
  return absl::InvalidArgumentError(
      absl::StrCat(config::Quoted(path),
                   " is not the path of a method; write "
                   "\"/package.Service/Method\""));
}

void Descriptors::FirstError::AddError(
    const std::string& file, const std::string& element,
    const google::protobuf::Message* /*descriptor*/, ErrorLocation /*location*/,
    const std::string& message) {
  if (text.empty()) text = absl::StrCat(file, ": ", element, ": ", message);
}

Descriptors::Descriptors()
    : own_files_(*DescriptorPool::generated_pool()),
      all_files_(&files_, &own_files_),
      pool_(&all_files_, &error_) {}

absl::StatusOr<std::unique_ptr<const Descriptors>> Descriptors::Parse(
    const std::string& set) {
  FileDescriptorSet parsed;
  if (!parsed.ParseFromString(set) || parsed.file().empty()) {
    return absl::InvalidArgumentError(
        "is not a serialised FileDescriptorSet; make one by `protoc "
        "--include_imports --descriptor_set_out=FILE`");
  }
  auto descriptors = absl::WrapUnique(new Descriptors);
  if (absl::Status added = descriptors->AddFiles(parsed); !added.ok()) {
    return added;
  }
  return descriptors;
}

absl::Status Descriptors::AddFiles(const FileDescriptorSet& set) {
  for (const FileDescriptorProto& file : set.file()) {
    if (!HasShortNames(file)) {
      return absl::InvalidArgumentError(
          absl::StrCat(config::Quoted(file.name()),
                       " has a package, a message or a service whose "
                       "full name is longer than ",
                       kMaxScopeBytes, " characters"));
    }
    if (!files_.Add(file)) {
      return absl::InvalidArgumentError(
          absl::StrCat(config::Quoted(file.name()),
                       " or something in it is there twice; every file must "
                       "be there once"));
    }
  }
  const ImportOrder order(set);
  if (!order.in_cycle().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(order.in_cycle()), " imports itself"));
  }
  file_names_ = order.names();
  for (const std::string& name : file_names_) {
    if (pool_.FindFileByName(name) != nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(error_.text,
                     "; make the set by `protoc --include_imports "
                     "--descriptor_set_out=FILE`"));
  }
  return absl::OkStatus();
}

std::vector<std::string> Descriptors::ServiceNames() const {
  std::vector<std::string> names;
  for (const std::string& name : file_names_) {
    const FileDescriptor& file = *pool_.FindFileByName(name);
    for (int i = 0; i < file.service_count(); ++i) {
      names.push_back(file.service(i)->full_name());
    }
  }
  return names;
}

absl::StatusOr<const MethodDescriptor*> Descriptors::FindMethod(
    absl::string_view path) const {
  const absl::StatusOr<MethodPath> parts = ParseMethodPath(path);
  if (!parts.ok()) return parts.status();
  const ServiceDescriptor* service = pool_.FindServiceByName(parts->service);
  if (service == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("there is no service ", config::Quoted(parts->service),
                     "; ", config::Suggestion(parts->service, ServiceNames())));
  }
  const MethodDescriptor* method = service->FindMethodByName(parts->method);
  if (method != nullptr) {
    if (absl::Status few = CheckTypes(*method->input_type()); !few.ok()) {
      return few;
    }
    return method;
  }
  std::vector<std::string> methods;
  for (int i = 0; i < service->method_count(); ++i) {
    methods.push_back(service->method(i)->name());
  }
  return absl::NotFoundError(absl::StrCat(
      parts->service, " has no method ", config::Quoted(parts->method), "; ",
      config::Suggestion(parts->method, methods)));
}

}  // namespace distbench::external
