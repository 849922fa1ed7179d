// Expands one intrinsic of an extension's file into several by substituting "$key".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tunesmith/support/yaml.h"

namespace tunesmith::extension {

/// The substitutions for "$key" in the texts of the intrinsics.
using Variant = std::map<std::string, std::string, std::greater<>>;  // a longer key before its beginning

/// Is the value of the key `variants` a list of lists? A variant then takes one mapping from each.
bool has_several_lists(const YamlNode& variants);

/// The variants at the key `variants`: the mappings of a list, or all combinations of one
/// mapping from each list. One empty variant if the key is missing. Throws UserError.
std::vector<Variant> read_variants(const YamlNode& owner);

/// Substitutes in `node` and everything below.
void put_in(YamlNode& node, const Variant& variant);

}  // namespace tunesmith::extension
