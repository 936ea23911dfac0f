#include "workflow/catalog/catalog_view.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sb::workflow {

Value origin_value(const Origin& origin) {
  return Value::object({{"source", to_string(origin.kind)},
                        {"folder", origin.folder.empty() ? Value() : Value(origin.folder)},
                        {"file", origin.file},
                        {"digest", origin.digest}});
}

Value fault_value(const Error& fault) {
  return Value::object({{"file", fault.location.file},
                        {"line", std::max(1, fault.location.line)},
                        {"column", std::max(1, fault.location.column)},
                        {"pointer", fault.location.pointer},
                        {"code", fault.rule.empty() ? to_string(fault.code) : fault.rule},
                        {"message", fault.message},
                        {"remedy", fault.remedy}});
}

Value fault_values(const Faults& faults) {
  Value out = Value::array();
  for (const Error& fault : faults) out.push_back(fault_value(fault));
  return out;
}

Faults warnings_of(const Catalog& catalog) {
  Faults out;
  for (const SourceReport& source : catalog.sources()) {
    out.insert(out.end(), source.notes.begin(), source.notes.end());
    if (source.stopped.empty()) continue;
    out.push_back({ErrorCode::kLimit,
                   fmt::format("the folder was read only in part: {}", source.stopped),
                   "Name a smaller folder",
                   {source.origin.folder, "", 0, 0},
                   false});
  }
  out.insert(out.end(), catalog.contract_faults().begin(), catalog.contract_faults().end());
  out.insert(out.end(), catalog.faults().begin(), catalog.faults().end());
  return out;
}

}  // namespace sb::workflow
