// What the catalog holds, as programs are shown it: the same from the command line and from the tools. Pure.
#pragma once

#include "base/document/value.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::workflow {

// {source, folder, file, digest}
Value origin_value(const Origin& origin);
// {file, line, column, pointer, code, message, remedy}
Value fault_value(const Error& fault);
Value fault_values(const Faults& faults);

// What should be known besides the listed workflows, because it explains why one is not among them: folders that were
// not read whole, links not followed, faulty contracts, features and bindings.
Faults warnings_of(const Catalog& catalog);

}  // namespace sb::workflow
