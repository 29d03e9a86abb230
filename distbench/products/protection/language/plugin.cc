// What the product adds to the traffic language.

#include "distbench/base/plugins.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/products/protection/language/protection_language.h"

namespace distbench::protection {
namespace {

const base::Plugin<config::LanguagePart> kLanguage("protection",
                                                   new ProtectionLanguage);

}  // namespace
}  // namespace distbench::protection
