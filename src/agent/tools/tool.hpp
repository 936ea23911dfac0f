// The interface of the tools that an agent may call. A tool never fails the turn: its errors are results that the agent
// reads.
//
// Threads: run() of read-only tools is called from several threads at a time; run() of the others from one thread at a
// time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/model/model.hpp"

namespace sb::agent {

struct ToolCall {
  std::string id, name;
  Value input;
};

struct ToolResult {
  std::string text;
  bool is_error = false;
  Value facts = {};  // kept in the log: {path, hash} of a file that was read, or null
  // Why the call was denied: outside the fence, against the step's interlock, … Logged as `refused`.
  std::string refused = {};
};

struct ToolRun {
  std::function<bool()> should_continue;                  // false: killed, or out of time
  std::function<void(std::string_view bytes)> on_output;  // reports progress
  std::int64_t left_ms = 0;                               // of the session's time
};

class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolDeclaration& declaration() const = 0;
  virtual bool only_reads(const ToolCall& call) const = 0;
  virtual std::string what(const ToolCall& call) const = 0;  // one line for people, secrets redacted
  virtual ToolResult run(const ToolCall& call, const ToolRun& run) = 0;
};
using Tools = std::vector<std::unique_ptr<Tool>>;

// Checks the arguments against the tool's schema: every fault in one text for the agent, with the nearest name; empty
// when they are valid.
std::string schema_errors(const ToolDeclaration& declaration, const Value& input);

}  // namespace sb::agent
