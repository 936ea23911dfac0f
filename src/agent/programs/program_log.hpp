// What the log of a session keeps of an agent program's own work: what its model said, and the tools that the program
// ran itself. The program does not report these; they are read from its exchanges with the model: a reply has the
// calls, a later request the results.
//
// Not synchronised.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/loop/agent_log.hpp"
#include "agent/secrets/redact.hpp"

namespace sb::agent {

// The blocks of a reply without secrets; long ones without their middle, and what exceeds the limit of a reply only
// counted. Pure.
Value::Array logged_blocks(const Value::Array& blocks, const Redactor& redactor);

class OwnCalls {
 public:
  // `hosted`: tools that the program has from us, which are logged where they run.
  OwnCalls(const Redactor& redactor, std::set<std::string> hosted) : redactor_(redactor), hosted_(std::move(hosted)) {}

  // The calls in a reply, as the model made them.
  void add(const Value::Array& blocks, int turn);
  // `program_tool` entries for the calls that have a result now.
  std::vector<AgentLog::Entry> answered_by(const Value::Array& results);
  void clear() { open_.clear(); }

 private:
  struct OpenCall {
    int turn = 0;
    std::string tool, what;
  };
  const Redactor& redactor_;
  std::set<std::string> hosted_;
  std::map<std::string, OpenCall> open_;  // by the id of the call
};

}  // namespace sb::agent
