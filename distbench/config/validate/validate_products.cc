#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/validators.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "proto/product.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

std::string OwnerOf(const FieldDescriptor& field) {
  return field.options().GetExtension(distbench::product);
}

// Adds the types of `type`'s messages, at any depth, that have a field of a
// product inside. `path` are the types that lead here.
void CollectOwners(const Descriptor& type, std::vector<const Descriptor*>& path,
                   std::set<const Descriptor*>& owners) {
  if (std::find(path.begin(), path.end(), &type) != path.end()) return;
  path.push_back(&type);
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (!OwnerOf(field).empty()) owners.insert(path.begin(), path.end());
    if (field.message_type() != nullptr) {
      CollectOwners(*field.message_type(), path, owners);
    }
  }
  path.pop_back();
}

// Only these are searched: others may be long, such as the records of a replay.
bool MayHaveFieldOfProduct(const Descriptor& type) {
  static const auto* const owners = [] {
    auto* const found = new std::set<const Descriptor*>;
    std::vector<const Descriptor*> path;
    CollectOwners(*DistributedSystemDescription::descriptor(), path, *found);
    return found;
  }();
  return owners->contains(&type);
}

// The name of a message that has one, else an empty text.
std::string NameOfMessage(const Message& message) {
  const FieldDescriptor* const name =
      message.GetDescriptor()->FindFieldByName("name");
  if (name == nullptr || name->is_repeated() ||
      name->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return "";
  }
  return message.GetReflection()->GetString(message, name);
}

class ProductSearch {
 public:
  ProductSearch(const TestValidation& validation,
                absl::FunctionRef<bool(absl::string_view)> has_product)
      : validation_(validation), has_product_(has_product) {}

  void Visit(const Message& message, const Path& path) const {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const Path place = path.Field(field->name());
      const std::string owner = OwnerOf(*field);
      if (!owner.empty() && !has_product_(owner)) {
        validation_.Add(
            place, absl::StrCat("belongs to the product ", Quoted(owner),
                                ", which this program was built without; use a "
                                "complete build of distbench, or remove it"));
      } else if (field->message_type() != nullptr &&
                 MayHaveFieldOfProduct(*field->message_type())) {
        VisitMessages(message, *field, place);
      }
    }
  }

 private:
  void VisitMessages(const Message& parent, const FieldDescriptor& field,
                     const Path& path) const {
    const auto& reflection = *parent.GetReflection();
    if (!field.is_repeated()) {
      Visit(reflection.GetMessage(parent, &field), path);
      return;
    }
    const int count = reflection.FieldSize(parent, &field);
    std::map<std::string, int> names;
    for (int i = 0; i < count; ++i) {
      ++names[NameOfMessage(reflection.GetRepeatedMessage(parent, &field, i))];
    }
    for (int i = 0; i < count; ++i) {
      const Message& element = reflection.GetRepeatedMessage(parent, &field, i);
      const std::string name = NameOfMessage(element);
      const bool has_own_name = !name.empty() && names[name] == 1;
      Visit(element, has_own_name ? path.At(name) : path.At(i));
    }
  }

  const TestValidation& validation_;
  const absl::FunctionRef<bool(absl::string_view)> has_product_;
};

}  // namespace

void ValidateProducts(const TestValidation& validation,
                      absl::FunctionRef<bool(absl::string_view)> has_product) {
  ProductSearch(validation, has_product)
      .Visit(validation.test(), validation.path());
}

}  // namespace distbench::config
