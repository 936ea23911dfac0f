// Names in a workflow file that nothing around it has: contracts, templates, refs, features, workflows. Looked for in
// the plain tree, so that a file that does not read tells these together with its other faults. Pure.
#pragma once

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "workflow/compile/compile.hpp"

namespace sb::workflow {

Faults unknown_names(const Document& document, const ReferenceResolver& resolver);

// Both, in the order in which they stand in the document.
Faults in_order(Faults one, Faults other);

}  // namespace sb::workflow
