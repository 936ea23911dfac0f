// What a step asks of a contract's artifact beyond the contract. Pure.
#pragma once

#include "workflow/check/contract.hpp"
#include "workflow/definition/definition.hpp"

namespace sb::engine {

// Whether the narrowing is asked for in this context.
bool applies(const workflow::Narrowing& narrowing, const Value& context);
// An artifact the step takes in this context: the contract's example where it fits, else what of it must be changed.
Value narrowed_example(const workflow::Contract& contract, const workflow::Step& step, const Value& context);

}  // namespace sb::engine
