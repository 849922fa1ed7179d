// The activations that RNN, GRU and LSTM name.
#include <algorithm>

#include <fmt/format.h>

#include "recurrent.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// An activation, and the default values of those of its parameters that it has.
struct NamedActivation {
  std::string_view name;
  std::string_view value;  ///< a pattern: {0} is the argument, {1} alpha, {2} beta
  std::optional<double> alpha, beta;
};

constexpr NamedActivation kActivations[] = {
    {"Sigmoid", "sigmoid({0})", {}, {}},
    {"Tanh", "tanh({0})", {}, {}},
    {"Relu", "max(0, {0})", {}, {}},
    {"Softsign", "{0} / (1 + abs({0}))", {}, {}},
    {"Softplus", "max(0, {0}) + log(1 + exp(-abs({0})))", {}, {}},
    {"Affine", "{1} * {0} + {2}", 1.0, 0.0},
    {"LeakyRelu", "select({0} < 0, {1} * {0}, {0})", 0.01, {}},
    {"ThresholdedRelu", "select({0} > {1}, {0}, 0)", 1.0, {}},
    {"Elu", "select({0} < 0, {1} * (exp({0}) - 1), {0})", 1.0, {}},
    {"HardSigmoid", "max(0, min(1, {1} * {0} + {2}))", 0.2, 0.5},
    {"ScaledTanh", "{1} * tanh({2} * {0})", 1.0, 1.0},
};

bool is_same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

std::vector<Activation> read_activations(const NodeReader& node, size_t directions,
                                         const std::vector<std::string>& otherwise) {
  std::vector<std::string> names = node.texts("activations").value_or(std::vector<std::string>());
  for (size_t i = 0; i < directions && names.size() < directions * otherwise.size(); ++i)
    names.insert(names.end(), otherwise.begin(), otherwise.end());
  node.refuse_unless(
      names.size() == directions * otherwise.size(),
      fmt::format("attribute 'activations' has not {} names for each direction", otherwise.size()));
  const std::vector<double> alphas = node.numbers("activation_alpha").value_or(std::vector<double>());
  const std::vector<double> betas = node.numbers("activation_beta").value_or(std::vector<double>());
  size_t alpha_at = 0, beta_at = 0;
  const auto next = [&](const std::optional<double>& usual, const std::vector<double>& given, size_t& at) {
    return usual ? literal(node, at < given.size() ? given[at++] : *usual) : std::string();
  };
  std::vector<Activation> functions;
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(
        kActivations, [&](const NamedActivation& each) { return is_same_name(each.name, name); });
    node.refuse_unless(found != std::end(kActivations),
                       fmt::format("the activation '{}' is not known", name));
    const std::string alpha = next(found->alpha, alphas, alpha_at), beta = next(found->beta, betas, beta_at);
    functions.emplace_back([value = found->value, alpha, beta](const std::string& x) {
      return fmt::format(fmt::runtime(value), x, alpha, beta);
    });
  }
  return functions;
}

}  // namespace tunesmith::operators_onnx
