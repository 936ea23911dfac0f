#include "pipeline/script.hpp"

namespace sb::pipeline_tests {

Line::Line(const std::string& workflow) {
  const bool is_whole = workflow.find('.') != std::string::npos;
  line_.set("when", Value::object({{"workflow", is_whole ? workflow : "small." + workflow}}));
}

Value& Line::part(std::string_view name) {
  if (line_.find(name) == nullptr) line_.set(name, name == "content" ? Value::array() : Value::object());
  return *line_.find(name);
}

namespace {
void add_text(Value& guard, std::string_view list, const std::string& text) {
  if (guard.find(list) == nullptr) guard.set(list, Value::array());
  guard.find(list)->push_back(Value(text));
}
}  // namespace

Line& Line::step(const std::string& id) {
  part("when").set("step", id);
  return *this;
}

Line& Line::when_contains(const std::string& text) {
  add_text(part("when"), "contains", text);
  return *this;
}

Line& Line::when_lacks(const std::string& text) {
  add_text(part("when"), "lacks", text);
  return *this;
}

Line& Line::expect(const std::string& text) {
  add_text(part("expect"), "contains", text);
  return *this;
}

Line& Line::expect_lacks(const std::string& text) {
  add_text(part("expect"), "lacks", text);
  return *this;
}

Line& Line::text(const std::string& words) {
  part("content").push_back(Value::object({{"type", "text"}, {"text", words}}));
  return *this;
}

Line& Line::call(const std::string& tool, Value input) {
  part("content").push_back(Value::object({{"type", "tool_use"}, {"name", tool}, {"input", std::move(input)}}));
  return *this;
}

Line& Line::complete(const std::string& notes, Value::Array artifacts, Value context) {
  Value input = Value::object({{"notes", notes}});
  if (!artifacts.empty()) input.set("artifacts", Value(std::move(artifacts)));
  if (!context.is_null()) input.set("context", std::move(context));
  return call("complete_step", std::move(input));
}

Line& Line::error(const std::string& kind, const std::string& message, int retry_after_ms) {
  line_.set("error", Value::object({{"kind", kind}, {"message", message}, {"retry_after_ms", retry_after_ms}}));
  return *this;
}

Line& Line::stop(const std::string& reason) {
  line_.set("stop_reason", reason);
  return *this;
}

Line& Line::delay_ms(int ms) {
  line_.set("delay_ms", ms);
  return *this;
}

Line& Line::repeat() {
  line_.set("repeat", true);
  return *this;
}

Line::operator std::string() const {
  return to_json(line_) + "\n";
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += line;
  return text;
}

Value interpretation(const std::string& text) {
  return Value::object({{"kind", "wr.interpretation"},
                        {"taskType", "targeted_fix"},
                        {"interpretation", text},
                        {"rivalInterpretations", Value::array()},
                        {"unresolvedAssumptions", Value::array({"No program depends on the length of the file."})},
                        {"codebaseBeliefs", Value::array()},
                        {"ambiguityLevel", "clear"},
                        {"confidenceBreakdown", Value::object({{"tier0Injected", false},
                                                               {"tier1Complete", true},
                                                               {"tier2Retrieved", false},
                                                               {"rivalInterpretationStrength", "weak"},
                                                               {"unresolvedAssumptionCount", 1},
                                                               {"overallAmbiguityLevel", "clear"}})}});
}

Value discovery_handoff(const std::string& direction) {
  return Value::object({{"kind", "wr.discovery_handoff"},
                        {"version", 1},
                        {"selectedDirection", direction},
                        {"designDocPath", ""},
                        {"confidenceBand", "high"},
                        {"keyInvariants", Value::array({"The check stays as it is."})},
                        {"implementationConstraints", Value::array({"One file only."})}});
}

Value shaping_handoff(const Shape& shape) {
  return Value::object({{"kind", "wr.shaping_handoff"},
                        {"version", 1},
                        {"pitchPath", ".signalbox/current-pitch.md"},
                        {"selectedShape", "A file with the answer in it."},
                        {"appetite", "an hour"},
                        {"keyConstraints", Value::array({"No new programs."})},
                        {"rabbitHoles", Value::array({"Other answers."})},
                        {"outOfScope", Value::array(shape.out_of_scope)},
                        {"validationChecklist", Value::array(shape.checklist)}});
}

Value coding_handoff(std::vector<std::string> files, std::vector<std::string> decisions) {
  return Value::object({{"kind", "wr.coding_handoff"},
                        {"version", 1},
                        {"keyDecisions", Value::array(std::move(decisions))},
                        {"knownLimitations", Value::array()},
                        {"testsAdded", Value::array()},
                        {"filesChanged", Value::array(std::move(files))}});
}

Value finding(const std::string& severity, const std::string& summary, const std::string& category) {
  return Value::object({{"severity", severity}, {"summary", summary}, {"findingCategory", category}});
}

Value verdict(const std::string& word, Value::Array findings) {
  return Value::object({{"kind", "wr.review_verdict"},
                        {"verdict", word},
                        {"confidence", "high"},
                        {"findings", Value(std::move(findings))},
                        {"summary", "Looked at every line."}});
}

std::string long_notes(const std::string& words) {
  return words;
}

std::string discovered() {
  return lines({Line("discovery").step("interpret").complete(long_notes(), {interpretation()}),
                Line("discovery").step("hand-off").complete(long_notes(), {discovery_handoff()})});
}

std::string shaped(const Shape& shape) {
  return Line("shaping").complete(long_notes(), {shaping_handoff(shape)});
}

std::string designed() {
  return Line("design").complete(long_notes(),
                                 {Value::object({{"kind", "small.design"}, {"summary", "One button, to the left."}})});
}

std::string coded(const std::string& text, const std::string& file) {
  return lines({Line("coding").step("build").call("Write", Value::object({{"file_path", file}, {"content", text}})),
                Line("coding").step("build").complete(long_notes()),
                Line("coding").step("hand-off").complete(long_notes(), {coding_handoff({file})})});
}

std::string reviewed(const std::string& word, Value::Array findings) {
  return Line("review").complete(long_notes(), {verdict(word, std::move(findings))});
}

std::string fixed(const std::string& text, const std::string& file) {
  return lines({Line("fix").call("Read", Value::object({{"file_path", file}})),
                Line("fix").call("Write", Value::object({{"file_path", file}, {"content", text}})),
                Line("fix").complete(long_notes(), {coding_handoff({file}, {"Fixed as found."})})});
}

std::string audited() {
  return Line("audit").complete(long_notes(),
                                {Value::object({{"kind", "small.audit"}, {"summary", "One place is not safe."}})});
}

std::string clean_run() {
  return discovered() + shaped() + coded() + reviewed();
}

}  // namespace sb::pipeline_tests
