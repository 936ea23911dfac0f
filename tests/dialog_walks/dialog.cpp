#include "dialog_walks/dialog.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/document/document.hpp"
#include "started/program.hpp"

namespace sb {

Dialog::Dialog(Client client) : client_(client) {
  std::string pattern = testing::TempDir() + "sb-dialog-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  directory_ = std::filesystem::canonical(pattern).string();
  std::filesystem::create_directories(directory_ + "/work");
}

Dialog::~Dialog() {
  std::filesystem::remove_all(directory_);
}

Dialog::Ran Dialog::run(std::vector<std::string> arguments, const std::string& input,
                        std::optional<std::int64_t> kill_after_us) const {
  const std::string program = std::string(SB_PROGRAMS) + "/" + arguments.front();
  arguments.erase(arguments.begin());
  const auto ran = test_program::start_program(
      program, {"HOME=" + directory_, "SIGNALBOX_HOME=" + directory_ + "/sb", "LC_ALL=C.UTF-8"},
      {.arguments = std::move(arguments),
       .input = input,
       .directory = directory_ + "/work",
       .kill_after_us = kill_after_us});
  return {ran.code, ran.output, ran.errors};
}

void Dialog::write(const std::string& name, const std::string& text) const {
  std::ofstream(directory_ + "/work/" + name) << text;
}

void Dialog::begin(const std::string& file) {
  const Ran ran = run({"signalbox", "render", "--def", file, "--host", host()});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  call_ = call_in(ran.output);
}

Value Dialog::event(const std::string& name) const {
  Value event = Value::object({{"session_id", "5e55"},
                               {"transcript_path", directory_ + "/t.jsonl"},
                               {"cwd", directory_ + "/work"},
                               {"permission_mode", "default"},
                               {"hook_event_name", name}});
  if (client_ == Client::kCodex) event.set("model", "gpt-5");
  event.set(client_ == Client::kCodex ? "turn_id" : "prompt_id", "p-1");
  return event;
}

Value Dialog::before(const Value& input) const {
  Value before = event("PreToolUse");
  before.set("tool_name", tool());
  before.set("tool_input", input);
  before.set("tool_use_id", "toolu_1");
  return before;
}

// Codex answers by the question's id, with a list: the label, or its own entry and what was typed. It has no
// multi-select: `a, b` is yes to these two of the questions and no to the others.
Value Dialog::codex_response(const Value& given) const {
  Value answers = Value::object();
  const auto& questions = call_["questions"].items();
  const auto offered = labels();
  const std::string text = given.as_string();
  const bool is_label = std::ranges::find(offered, text) != offered.end();
  for (const Value& question : questions) {
    const std::string asked = question.string_at("question").value_or("");
    Value list = Value::array();
    if (questions.size() == 1) {
      list.push_back(is_label ? text : "None of the above");
      if (!is_label) list.push_back("user_note: " + text);
    } else {
      const std::string sentence = asked.substr(0, asked.find_first_of("<\n"));
      bool is_chosen = false;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(", ", at), text.size());
        is_chosen = is_chosen || sentence.find(" \u2014 " + text.substr(at, end - at)) != std::string::npos;
        at = end + 2;
      }
      list.push_back(is_chosen ? "Yes" : "No");
    }
    answers.set(question.string_at("id").value_or(""), Value::object({{"answers", list}}));
  }
  return to_json(Value::object({{"answers", answers}}));
}

Value Dialog::after(const Value& given) const {
  Value answers = Value::object();
  answers.set(question(), given);
  Value after = event("PostToolUse");
  after.set("tool_name", tool());
  after.set("tool_input", call_);
  after.set("tool_response", client_ == Client::kCodex
                                 ? codex_response(given)
                                 : Value::object({{"questions", call_["questions"]}, {"answers", answers}}));
  after.set("tool_use_id", "toolu_1");
  return after;
}

std::string Dialog::fire(const Value& event) const {
  const Ran ran = run({"signalbox-hook"}, to_json(event));
  EXPECT_EQ(ran.code, 0) << ran.errors;
  return ran.output;
}

std::string Dialog::told(const std::string& output) {
  const auto reply = parse_json(output.empty() ? "{}" : output);
  EXPECT_TRUE(reply) << output;
  const Value& specific = (*reply)["hookSpecificOutput"];
  const std::string text =
      specific.string_at("additionalContext").value_or(specific.string_at("permissionDecisionReason").value_or(""));
  call_ = call_in(text);
  return text;
}

std::string Dialog::answer(const Value& given) {
  EXPECT_EQ(fire(before(call_)), "") << "the hook touched the call " << to_json(call_);
  last_ = after(given);
  return told(fire(last_));
}

bool Dialog::is_asked_again_after_kill(const Value& given, std::int64_t after_us) {
  (void)run({"signalbox-hook"}, to_json(after(given)), after_us);
  const std::string reply = fire(before(call_));
  if (reply.empty()) return true;
  told(reply);
  return false;
}

std::string Dialog::repeat() const {
  return fire(last_);
}

std::string Dialog::say(const std::string& message) {
  Value said = event("UserPromptSubmit");
  said.set("prompt", message);
  return told(fire(said));
}

std::string Dialog::question() const {
  return call_["questions"].items().at(0).string_at("question").value_or("");
}

std::vector<std::string> Dialog::labels() const {
  std::vector<std::string> labels;
  if (!call_["questions"].is_array()) return labels;
  for (const Value& option : call_["questions"].items().at(0)["options"].items()) {
    labels.push_back(option.string_at("label").value_or(""));
  }
  return labels;
}

Value Dialog::decision() const {
  const auto list = parse_json(run({"signalbox", "inbox", "list", "--all", "--json"}).output);
  const Value& all = list ? (*list)["decisions"] : Value();
  return all.is_array() && all.size() > 0 ? all.items().front() : Value();
}

Value Dialog::call_in(const std::string& text) {
  const std::size_t at = text.find("{\"questions\"");
  if (at == std::string::npos) return {};
  const std::size_t end = text.find('\n', at);
  const auto call = parse_json(text.substr(at, end - at));
  return call ? *call : Value();
}

}  // namespace sb
