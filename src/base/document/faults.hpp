// The list of faults of one document, as readers fill it.
#pragma once

#include "base/result.hpp"

namespace sb {

// Adds a fault. Of more than limits::kFaults the rest is dropped, and one further fault says so.
void add_fault(Faults& faults, Error fault);
// In document order; that there are more comes last.
void sort_faults(Faults& faults);

}  // namespace sb
