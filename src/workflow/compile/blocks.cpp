// promptBlocks: inserts features and refs and renders everything as the prompt.
#include <fmt/format.h>

#include "workflow/compile/passes.hpp"

namespace sb::workflow {
namespace {

struct BlockWriter {
  std::span<const Value* const> features;
  const ReferenceResolver& resolver;
  FaultLog& faults;
  std::string out;

  // A string, or a list of parts {kind: text, text} and {kind: ref, refId}.
  std::string text_of(const Value& value, const PointerPath& path) {
    if (value.is_string()) return value.as_string();
    std::string text;
    if (!value.is_array()) return text;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Value& part = value.items()[i];
      const Value& ref_id = part["refId"];
      if (!ref_id.is_string()) {
        text += part.string_at("text").value_or("");
      } else if (const std::string* ref = resolver.ref(ref_id.as_string())) {
        text += *ref;
      } else {
        const PointerPath at_part = path.at(i);
        faults.add_unknown(at_part.at("refId"), FaultLog::ReferenceKind::kRef, ref_id.as_string(), resolver.ref_ids());
      }
    }
    return text;
  }

  void heading(std::string_view title) { out += fmt::format("{}## {}\n", out.empty() ? "" : "\n\n", title); }

  // Further lines of an item are indented below its first, so that it stays one item of the list.
  static std::string indented(std::string_view text, std::size_t columns) {
    std::string lines;
    for (const char c : text) {
      lines += c;
      if (c == '\n') lines.append(columns, ' ');
    }
    return lines;
  }

  void list(std::string_view title, std::string_view name, const Value& blocks, const PointerPath& path,
            bool is_numbered) {
    std::vector<std::string> items;
    const PointerPath at_list = path.at(name);
    if (const Value* own = blocks.find(name); own && own->is_array()) {
      for (std::size_t i = 0; i < own->size(); ++i) items.push_back(text_of(own->items()[i], at_list.at(i)));
    }
    for (const Value* feature : features) {
      if (const Value* added = feature->find(name); added && added->is_array()) {
        for (const Value& item : added->items()) items.push_back(text_of(item, at_list));
      }
    }
    if (items.empty()) return;
    heading(title);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string mark = is_numbered ? fmt::format("{}. ", i + 1) : "- ";
      out += fmt::format("{}{}{}", i > 0 ? "\n" : "", mark, indented(items[i], mark.size()));
    }
  }

  void outputs(const Value& blocks, const PointerPath& path) {
    const Value* required = blocks.find("outputRequired");
    if (!required || !required->is_object() || required->size() == 0) return;
    const PointerPath at_outputs = path.at("outputRequired");
    heading("Output Required");
    bool is_first = true;
    for (const auto& [name, value] : required->members()) {
      const std::string text = indented(text_of(value, at_outputs.at(name)), 2);
      out += fmt::format("{}- **{}**: {}", is_first ? "" : "\n", name, text);
      is_first = false;
    }
  }
};

}  // namespace

std::string render_blocks(const Value& blocks, std::span<const Value* const> features,
                          const ReferenceResolver& resolver, const PointerPath& path, FaultLog& faults) {
  BlockWriter writer{features, resolver, faults, {}};
  if (const Value* goal = blocks.find("goal")) {
    if (const std::string text = writer.text_of(*goal, path.at("goal")); !text.empty()) {
      writer.heading("Goal");
      writer.out += text;
    }
  }
  writer.list("Constraints", "constraints", blocks, path, false);
  writer.list("Procedure", "procedure", blocks, path, true);
  writer.outputs(blocks, path);
  writer.list("Verify", "verify", blocks, path, false);
  return std::move(writer.out);
}

}  // namespace sb::workflow
