// What a step requires of a contract's artifact beyond the contract. Pure.
#pragma once

#include "workflow/check/contract.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::engine {

// Whether the narrowing applies in this context.
bool applies(const workflow::Narrowing& narrowing, const Value& context);
// An artifact the step accepts in this context: the contract's example if it fits, else the example with the necessary
// changes.
Value narrowed_example(const workflow::Contract& contract, const workflow::Step& step, const Value& context);

}  // namespace sb::engine
