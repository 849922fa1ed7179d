// How one intrinsic of an extension's file stands for several, with other texts for "$key".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tunesmith/support/yaml.h"

namespace tunesmith::extension {

/// What stands for "$key" in the texts of the intrinsics.
using Variant = std::map<std::string, std::string, std::greater<>>;  // a longer key before its beginning

/// Is the value of the key `variants` a list of lists? A variant then takes one mapping from each.
bool has_several_lists(const YamlNode& variants);

/// Those at the key `variants`: of a list of mappings each, of several lists each choice of one from each.
/// One that says nothing where the key is not there. Throws UserError.
std::vector<Variant> read_variants(const YamlNode& owner);

/// In `node` and all below it.
void put_in(YamlNode& node, const Variant& variant);

}  // namespace tunesmith::extension
