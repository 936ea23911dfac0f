// Lines of a scripted model for the small workflows of place.hpp. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"

namespace sb::pipeline_tests {

// One reply. `workflow` is a phase's name (`coding`), or a full id with a dot.
class Line {
 public:
  explicit Line(const std::string& workflow);
  Line& step(const std::string& id);
  Line& when_contains(const std::string& text);
  Line& when_lacks(const std::string& text);
  Line& expect(const std::string& text);
  Line& expect_lacks(const std::string& text);
  Line& text(const std::string& words);
  Line& call(const std::string& tool, Value input);
  Line& complete(const std::string& notes, Value::Array artifacts = {}, Value context = {});
  Line& error(const std::string& kind, const std::string& message, int retry_after_ms = 1);
  Line& stop(const std::string& reason);
  Line& delay_ms(int ms);
  Line& repeat();
  operator std::string() const;

 private:
  Value& part(std::string_view name);
  Value line_;
};

std::string lines(const std::vector<std::string>& all);

// Artifacts of the contracts, with parameters for what tests vary.
Value interpretation(const std::string& text = "The answer file must say right.");
Value discovery_handoff(const std::string& direction = "Write the answer file.");
struct Shape {
  std::vector<std::string> out_of_scope = {"Anything but the answer."};
  std::vector<std::string> checklist = {"The answer is right."};
};
Value shaping_handoff(const Shape& shape = {});
Value coding_handoff(std::vector<std::string> files = {"answer.txt"},
                     std::vector<std::string> decisions = {"Plain text."});
Value finding(const std::string& severity, const std::string& summary, const std::string& category = "correctness");
Value verdict(const std::string& word, Value::Array findings = {});
std::string long_notes(
    const std::string& words = "Read what there is and wrote what was asked for, then looked at it.");

// The lines of successful phases.
std::string discovered();
std::string shaped(const Shape& shape = {});
std::string designed();
std::string coded(const std::string& text = "right\n", const std::string& file = "answer.txt");
std::string reviewed(const std::string& word = "clean", Value::Array findings = {});
// Rewrites the answer; the file exists, so it is read first.
std::string fixed(const std::string& text = "right\nand tidy\n", const std::string& file = "answer.txt");
std::string audited();
// A whole FULL run that ends merged.
std::string clean_run();

}  // namespace sb::pipeline_tests
