#include "workflow/catalog/bindings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "base/limits.hpp"

namespace sb::workflow {
namespace {

constexpr std::size_t kBoundIdBytes = 128;

void read_slots(const Reader& slots, std::string_view workflow, Bindings& bindings) {
  for (const auto& [slot, bound] : slots.value().members()) {
    const Reader reader = slots.at(bound);
    if (!bound.is_string() || bound.as_string().empty()) {
      reader.fault(fmt::format("slot {} must be bound to the id of a routine or workflow", quote_json(slot)));
    } else if (auto id = reader.string(kBoundIdBytes)) {
      bindings[binding_key(workflow, slot)] = std::move(*id);
    }
  }
}

void read_file(const Document& document, Bindings& bindings, Faults& faults) {
  const Reader root(document, faults);
  if (!root.value().is_object()) {
    return root.fault("bindings must be an object", R"(Write {"workflow-id": {"slot": "routine-id"}})");
  }
  const auto& members = root.value().members();
  if (std::ranges::all_of(members, [](const Value::Member& member) { return member.value.is_string(); })) {
    return read_slots(root, "", bindings);
  }
  for (const auto& [workflow, slots] : members) {
    const Reader reader = root.at(slots);
    if (slots.is_object()) {
      read_slots(reader, workflow, bindings);
    } else {
      reader.fault(fmt::format("{} must be an object of slots, like the other entries", quote_json(workflow)),
                   "Write either slots for all workflows, or an object of slots for each workflow");
    }
  }
}

}  // namespace

std::string binding_key(std::string_view workflow, std::string_view slot) {
  return fmt::format("{}\n{}", workflow, slot);
}

Bindings read_bindings(const Files& files, const std::string& workspace, Faults& faults) {
  Bindings bindings;
  for (const char* name : {".workrail/bindings.json", ".signalbox/bindings.json"}) {
    const std::string path = join_path(workspace, name);
    if (files.kind(path) == FileKind::kMissing) continue;
    auto text = files.read(path, limits::kWorkflowBytes);
    auto document = text ? parse_document(path, std::move(*text)) : std::unexpected(std::move(text).error());
    if (!document) {
      faults.push_back(std::move(document).error());
    } else {
      read_file(*document, bindings, faults);
    }
  }
  return bindings;
}

}  // namespace sb::workflow
