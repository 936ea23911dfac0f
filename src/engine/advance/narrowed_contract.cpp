#include "engine/advance/narrowed_contract.hpp"

#include <vector>

#include "workflow/schema/example.hpp"

namespace sb::engine {

bool applies(const workflow::Narrowing& narrowing, const Value& context) {
  return !narrowing.when || workflow::holds(*narrowing.when, context);
}

Value narrowed_example(const workflow::Contract& contract, const workflow::Step& step, const Value& context) {
  std::vector<Value> schemas;
  if (step.contract) {
    for (const workflow::Narrowing& narrowing : step.contract->narrowings) {
      if (applies(narrowing, context)) schemas.push_back(narrowing.source);
    }
  }
  if (schemas.empty()) return contract.example;
  return workflow::example_near(contract.example, contract.source["schema"], schemas).value_or(contract.example);
}

}  // namespace sb::engine
