#include "compat/drive.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/document/document.hpp"

namespace sb::compat {

namespace fs = std::filesystem;

namespace {
constexpr int kMostCalls = 200;

std::string text_at(const Value& value, std::string_view name) {
  return value.string_at(name).value_or("");
}
}  // namespace

Drive::Drive(std::string program, const std::string& folder) : program_(fs::absolute(program).string()) {
  std::string pattern = (fs::temp_directory_path() / "sb-compat-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  root_ = pattern;
  environment_ = {"PATH=/usr/bin:/bin", "HOME=" + root_, "SIGNALBOX_HOME=" + root_ + "/home",
                  "SIGNALBOX_WORKFLOWS=" + folder, "LC_ALL=C.UTF-8"};
}

Drive::~Drive() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

test_program::ProgramResult Drive::call(std::vector<std::string> arguments) const {
  return test_program::start_program(program_, environment_, {.arguments = std::move(arguments), .directory = root_});
}

Driven Drive::run(const std::string& workflow, std::map<std::string, std::vector<Delivery>> deliveries) {
  deliveries_ = std::move(deliveries);
  times_.clear();
  Driven driven;
  follow(answered({"session", "start", workflow, "--goal", "Try it", "--workspace", root_}, driven), driven);
  return driven;
}

Value Drive::answered(std::vector<std::string> arguments, Driven& driven) const {
  arguments.push_back("--json");
  const test_program::ProgramResult ended = call(arguments);
  Value answer = ended.last();
  if (!answer.is_object() || text_at(answer, "kind") == "error") {
    driven.stuck = fmt::format("{}: {}{}", fmt::join(arguments, " "), ended.output, ended.errors);
  }
  return answer;
}

// Until it is complete or stuck.
Value Drive::follow(Value answer, Driven& driven) {
  for (int calls = 0; driven.stuck.empty(); ++calls) {
    const std::string kind = text_at(answer, "kind");
    if (kind == "complete") return answer;
    if (calls == kMostCalls) {
      driven.stuck = "it does not end";
    } else if (kind == "awaiting_decision") {
      answer = settle(answer, driven);
    } else if (const Value* children = answer.find("children"); children != nullptr && children->size() > 0) {
      const Value::Array all = children->items();
      for (const Value& child : all) {
        const std::string token = text_at(child, "continueToken");
        if (!token.empty()) follow(answered({"session", "continue", token}, driven), driven);
      }
      answer = answered({"session", "continue", text_at(answer, "continueToken")}, driven);
    } else {
      answer = deliver(answer, driven);
    }
  }
  return answer;
}

Value Drive::deliver(const Value& answer, Driven& driven) {
  const std::string step = text_at(answer["pending"], "stepId");
  const bool is_refused = text_at(answer, "kind") == "blocked";
  if (is_refused) {
    for (const Value& blocker : answer["blockers"].items()) {
      driven.refusals.push_back(step + ": " + text_at(blocker, "code"));
    }
  } else {
    driven.opened.push_back(step);
    driven.texts[step] += text_at(answer, "text");
  }
  const std::string token = text_at(answer, is_refused ? "retryContinueToken" : "continueToken");
  std::vector<std::string> words = {"session", "continue", token, "--note", "Done, with a total: 7 of them."};
  if (const auto found = deliveries_.find(step); found != deliveries_.end()) {
    const Delivery& sent = found->second[std::min(times_[step]++, found->second.size() - 1)];
    for (const Value::Member& member : sent.context.members()) {
      words.insert(words.end(), {"--context", member.name + "=" + to_json(member.value)});
    }
    for (const Value& artifact : sent.artifacts) {
      const std::string path = fmt::format("{}/artifact-{}.json", root_, words.size());
      std::ofstream(path) << to_json(artifact);
      words.insert(words.end(), {"--artifact", path});
    }
  }
  return answered(std::move(words), driven);
}

Value Drive::settle(const Value& answer, Driven& driven) {
  ++driven.gates;
  const Value& decision = answer["decision"];
  const Value& first = decision["options"].items().front();
  const test_program::ProgramResult given = call({"inbox", "answer", text_at(decision, "id"), text_at(first, "id")});
  if (given.code != 0) driven.stuck = text_at(answer["pending"], "stepId") + ": " + given.errors;
  return answered({"session", "continue", text_at(answer, "continueToken")}, driven);
}

}  // namespace sb::compat
