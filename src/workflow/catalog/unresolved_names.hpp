// Names in a workflow file that cannot be resolved: contracts, templates, refs, features, workflows. Searched in the
// plain tree, so that a file that cannot be read reports these together with its other faults. Pure.
#pragma once

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "workflow/compile/compile.hpp"

namespace sb::workflow {

Faults unknown_names(const Document& document, const ReferenceResolver& resolver);

// Both, in document order.
Faults in_order(Faults one, Faults other);

}  // namespace sb::workflow
