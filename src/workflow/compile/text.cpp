// Fills in texts for the compiler, and reports its faults.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/faults.hpp"
#include "base/document/reader.hpp"
#include "base/limits.hpp"
#include "workflow/compile/passes.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kBinding = "{{wr.bindings.";

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

struct Kind {
  std::string_view word, rule;
};
Kind kind_of(FaultLog::ReferenceKind kind) {
  switch (kind) {
    case FaultLog::ReferenceKind::kContract:
      return {"contract", "unknown_contract"};
    case FaultLog::ReferenceKind::kTemplate:
      return {"template", "unknown_template"};
    case FaultLog::ReferenceKind::kFeature:
      return {"feature", "unknown_feature"};
    case FaultLog::ReferenceKind::kRef:
      return {"ref", "unknown_ref"};
    case FaultLog::ReferenceKind::kWorkflow:
      return {"workflow", "unknown_workflow"};
  }
  return {};
}

}  // namespace

std::string PointerPath::pointer() const {
  if (!parent_) return {};
  return fmt::format("{}/{}", parent_->pointer(), name_.empty() ? std::to_string(index_) : escape_pointer(name_));
}

void FaultLog::add(std::string pointer, std::string_view rule, std::string message, std::string remedy,
                   ErrorCode code) {
  if (faults_.size() > limits::kFaults) return;
  SourceLocation place = document_ ? document_->location_of(pointer) : SourceLocation{name_, std::move(pointer), 0, 0};
  add_fault(faults_, {code, std::move(message), std::move(remedy), std::move(place), false, rule});
}

void FaultLog::add_unknown(std::string pointer, ReferenceKind kind, std::string_view name,
                           std::vector<std::string> known) {
  constexpr std::size_t kListed = 12;
  const auto [what, rule] = kind_of(kind);
  if (std::ranges::find(known, name) != known.end()) {
    return add(std::move(pointer), rule, fmt::format("{} \"{}\" does not load", what, name), "Fix that one first");
  }
  const std::string nearest = nearest_name(name, known);
  std::string remedy = fmt::format("No {} is available here", what);
  if (!nearest.empty()) {
    remedy = fmt::format("Did you mean {}?", nearest);
  } else if (!known.empty()) {
    const std::size_t more = known.size() > kListed ? known.size() - kListed : 0;
    known.resize(known.size() - more);
    remedy = fmt::format("Use one of: {}{}", fmt::join(known, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  }
  add(std::move(pointer), rule, fmt::format("no {} is called \"{}\"", what, name.substr(0, 128)), std::move(remedy));
}

Faults FaultLog::take() {
  sort_faults(faults_);
  return std::move(faults_);
}

FilledText fill_arguments(std::string_view text, const Value& args) {
  FilledText filled;
  std::size_t done = 0;
  for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
    const std::string_view name = argument_name_at(text, at);
    if (name.empty()) continue;
    const bool is_literal = at > 0 && text[at - 1] == '\\';
    filled.text += text.substr(done, at - done - (is_literal ? 1 : 0));
    const Value* arg = args.find(name);
    const bool is_fit = arg && (arg->is_string() || arg->is_number() || arg->is_bool());
    const std::size_t end = at + name.size() + 2;
    if (is_literal || !is_fit) {
      if (!is_literal) add_once(arg ? filled.unfit : filled.missing, name);
      filled.text += text.substr(at, end - at);
    } else {
      filled.text += arg->is_string() ? arg->as_string() : to_json(*arg);
    }
    done = end;
    if (filled.text.size() > limits::kTextBytes) {
      filled.too_long = true;
      break;
    }
  }
  filled.text += text.substr(done);
  return filled;
}

void fill_bindings(std::string& text, const ExpansionScope& scope, const ReferenceResolver& resolver,
                   SlotBindings& used) {
  const std::vector<ExtensionPoint>& points = scope.definition->extension_points;
  for (std::size_t at = text.find(kBinding); at != std::string::npos; at = text.find(kBinding, at)) {
    const std::size_t start = at + kBinding.size();
    const std::size_t end = text.find("}}", start);
    if (end == std::string::npos) return;  // the scan reports it
    const std::string slot = text.substr(start, end - start);
    const auto point = std::ranges::find(points, slot, &ExtensionPoint::slot);
    if (point == points.end()) return;
    const std::string* own = resolver.binding(scope.definition->id, slot);
    const std::string& bound = own ? *own : point->default_id;
    text.replace(at, end + 2 - at, bound);
    at += bound.size();
    used[scope.prefix + slot] = bound;
  }
}

}  // namespace sb::workflow
