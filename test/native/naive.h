// A llama in the plainest form: double sums, no pages, no threads. What the engine is held against.
#pragma once
#include <map>

#include "test/native/maker.h"

namespace halogen::test {

using Weights = std::map<std::string, std::vector<float>>;

// Logits after each token: [tokens][vocabulary].
std::vector<std::vector<double>> naive_logits(const TinyShape& shape, const Weights& weights,
                                              const std::vector<int32_t>& tokens);

std::vector<double> log_softmax(std::vector<double> logits);

}  // namespace halogen::test
