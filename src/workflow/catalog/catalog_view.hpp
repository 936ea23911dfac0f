// The catalog as JSON, the same for the command line and the tools. Pure.
#pragma once

#include "base/document/value.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::workflow {

// {source, folder, file, digest}
Value origin_value(const Origin& origin);
// {file, line, column, pointer, code, message, remedy}
Value fault_value(const Error& fault);
Value fault_values(const Faults& faults);

// What explains why a workflow is not among the listed ones: folders read only in part, links not followed, faulty
// contracts, features and bindings.
Faults warnings_of(const Catalog& catalog);

}  // namespace sb::workflow
