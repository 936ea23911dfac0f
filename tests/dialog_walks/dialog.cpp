#include "dialog_walks/dialog.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/document/document.hpp"
#include "started/program.hpp"

namespace sb {

Dialog::Dialog() {
  std::string pattern = testing::TempDir() + "sb-dialog-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  directory_ = std::filesystem::canonical(pattern).string();
  std::filesystem::create_directories(directory_ + "/work");
}

Dialog::~Dialog() {
  std::filesystem::remove_all(directory_);
}

Dialog::Ran Dialog::run(std::vector<std::string> arguments, const std::string& input) const {
  const std::string program = std::string(SB_PROGRAMS) + "/" + arguments.front();
  arguments.erase(arguments.begin());
  const auto ran = test_program::start_program(
      program, {"HOME=" + directory_, "SIGNALBOX_HOME=" + directory_ + "/sb", "LC_ALL=C.UTF-8"},
      {.arguments = std::move(arguments), .input = input, .directory = directory_ + "/work"});
  return {ran.code, ran.output, ran.errors};
}

void Dialog::write(const std::string& name, const std::string& text) const {
  std::ofstream(directory_ + "/work/" + name) << text;
}

void Dialog::begin(const std::string& file) {
  const Ran ran = run({"signalbox", "render", "--def", file, "--host", "ask_user_question"});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  call_ = call_in(ran.output);
}

Value Dialog::event(const std::string& name) const {
  return Value::object({{"session_id", "5e55"},
                        {"transcript_path", directory_ + "/t.jsonl"},
                        {"cwd", directory_ + "/work"},
                        {"prompt_id", "p-1"},
                        {"permission_mode", "default"},
                        {"hook_event_name", name}});
}

std::string Dialog::fire(const Value& event) const {
  const Ran ran = run({"signalbox-hook"}, to_json(event));
  EXPECT_EQ(ran.code, 0) << ran.errors;
  return ran.output;
}

std::string Dialog::told(const std::string& output) {
  const auto reply = parse_json(output.empty() ? "{}" : output);
  EXPECT_TRUE(reply) << output;
  const std::string text = (*reply)["hookSpecificOutput"].string_at("additionalContext").value_or("");
  call_ = call_in(text);
  return text;
}

std::string Dialog::answer(const Value& given) {
  Value before = event("PreToolUse");
  before.set("tool_name", "AskUserQuestion");
  before.set("tool_input", call_);
  before.set("tool_use_id", "toolu_1");
  EXPECT_EQ(fire(before), "") << "the hook touched the call " << to_json(call_);
  Value answers = Value::object();
  answers.set(question(), given);
  last_ = event("PostToolUse");
  last_.set("tool_name", "AskUserQuestion");
  last_.set("tool_input", call_);
  last_.set("tool_response", Value::object({{"questions", call_["questions"]}, {"answers", answers}}));
  last_.set("tool_use_id", "toolu_1");
  return told(fire(last_));
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
