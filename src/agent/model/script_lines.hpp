// The lines of a scripted model's file, read and checked. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.hpp"

namespace sb::agent {

struct TextCondition {
  std::vector<std::string> contains, lacks;
  // For people: the first text that is missing, or that must not occur but does; empty: it holds.
  std::string violation(std::string_view all_texts) const;
};

struct ScriptLine {
  int number = 0;  // in the file, from 1
  std::optional<std::string> workflow, step, role;
  TextCondition when, expect;
  ModelReply reply;
  std::optional<ModelError> error;
  std::int64_t delay_ms = 0;
  bool is_kept = false;  // repeat
};

Result<std::vector<ScriptLine>> read_script(const std::string& name, std::string_view text);

// Every text of the request, and the names next to them, one per line.
std::string all_texts(const ModelRequest& request);

}  // namespace sb::agent
