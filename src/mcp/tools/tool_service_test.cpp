// The tools through the Service, as a client calls them.
#include "mcp/tools/tool_service.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/limits.hpp"
#include "mcp/tools/testing.hpp"

namespace sb::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class Tools : public ToolFixture {};

std::vector<std::string> ids_of(const Value& workflows) {
  std::vector<std::string> ids;
  for (const Value& each : workflows.items()) ids.push_back(*each.string_at("workflowId"));
  return ids;
}

TEST_F(Tools, RunsAWorkflowFromStartToEnd) {
  const Value first = start();
  EXPECT_EQ(first.string_at("kind"), "ok");
  EXPECT_EQ(first["pending"].string_at("stepId"), "one");
  EXPECT_EQ(first["pending"]["requires"]["captures"].items().front().string_at("key"), "size");
  EXPECT_THAT(text, HasSubstr("Do one."));

  const Value blocked = line("continue_workflow",
                             R"({"continueToken": ")" + token_of(first) + R"(", "output": {"notesMarkdown": "Done"}})");
  EXPECT_EQ(blocked.string_at("kind"), "blocked");
  EXPECT_TRUE(blocked["retryable"].as_bool());
  const std::string retry = blocked.string_at("retryContinueToken").value_or("");
  const Value second = line("continue_workflow",
                            R"({"continueToken": ")" + retry + R"(", "notes": "Done", "context": "{\"size\": 3}"})");
  EXPECT_EQ(second["pending"].string_at("stepId"), "two");
  EXPECT_THAT(text, HasSubstr("Note: context was sent as JSON in a string and read as an object."));

  const Value end = line("continue_workflow", R"({"continueToken": ")" + token_of(second) + R"(", "notes": "Done"})");
  EXPECT_EQ(end.string_at("kind"), "complete");
  EXPECT_TRUE(end["isComplete"].as_bool());
}

TEST_F(Tools, BlockedResultNamesTheStepAsShown) {
  add_workflow("named", R"({"id": "named", "name": "Named", "description": "D", "version": "1.0.0",
    "steps": [{"id": "one", "title": "Build {{thing}}", "prompt": "P"}]})");
  const Value first = line("start_workflow", R"({"workflowId": "named", "workspacePath": "W", "goal": "G",
    "context": {"thing": "the bridge"}})");
  const Value blocked =
      line("continue_workflow", R"({"continueToken": ")" + token_of(first) + R"(", "intent": "advance"})");
  EXPECT_EQ(blocked.string_at("kind"), "blocked");
  EXPECT_EQ(to_json(blocked["pending"]), to_json(first["pending"]));
  EXPECT_EQ(blocked["pending"].string_at("title"), "Build the bridge");
}

TEST_F(Tools, ShowsTheStepAgainWithoutOutput) {
  const Value first = start();
  const std::string token = R"({"continueToken": ")" + token_of(first) + R"(")";
  for (const char* rest : {"}", R"(, "intent": "rehydrate", "workspacePath": "W"})", R"(, "output": {}})"}) {
    const Value again = line("continue_workflow", token + rest);
    EXPECT_EQ(again["pending"].string_at("stepId"), "one") << rest;
    EXPECT_THAT(text, HasSubstr("Do one."));
  }
  const Value wrong = error("continue_workflow", token + R"(, "intent": "rehydrate"})");
  EXPECT_EQ(wrong["details"]["validationErrors"].items().front().string_at("path"), "workspacePath");
  EXPECT_NE(wrong["details"]["correctTemplate"].find("workspacePath"), nullptr);
  const Value both =
      error("continue_workflow", token + R"(, "intent": "rehydrate", "workspacePath": "W", "notes": "N"})");
  EXPECT_EQ(both["details"]["correctTemplate"].string_at("intent"), "advance");
}

TEST_F(Tools, DistinguishesInvalidTokens) {
  const std::string good = token_of(start());
  std::string mangled = good;
  mangled[20] = mangled[20] == 'a' ? 'b' : 'a';
  EXPECT_THAT(*error("continue_workflow", R"({"continueToken": "hello"})").string_at("code"),
              HasSubstr("TOKEN_INVALID"));
  EXPECT_THAT(*error("continue_workflow", R"({"continueToken": ")" + mangled + R"("})").string_at("code"),
              HasSubstr("TOKEN_"));
  EXPECT_THAT(*error("checkpoint_workflow", R"({"checkpointToken": "x"})").string_at("code"), HasSubstr("TOKEN_"));
}

TEST_F(Tools, ResumesFromACheckpoint) {
  const Value first = start();
  const Value mark =
      structured("checkpoint_workflow", R"({"checkpointToken": ")" + *first.string_at("checkpointToken") + R"("})");
  const std::string next = *mark["nextCall"]["params"].string_at("continueToken");
  EXPECT_EQ(next, mark.string_at("resumeToken"));
  EXPECT_EQ(line("continue_workflow", R"({"continueToken": ")" + next + R"("})")["pending"].string_at("stepId"), "one");
}

TEST_F(Tools, FindsAndResumesASession) {
  start();
  const Value found = structured("resume_session", R"({"workspacePath": "W", "query": "faster"})");
  ASSERT_THAT(found["candidates"].items(), SizeIs(1));
  const Value& candidate = found["candidates"].items().front();
  EXPECT_EQ(candidate.string_at("workflowId"), "two-steps");
  EXPECT_EQ(found["totalEligible"].as_integer(), 1);
  const Value again =
      line("continue_workflow", R"({"continueToken": ")" + *candidate.string_at("resumeToken") + R"("})");
  EXPECT_EQ(again["pending"].string_at("stepId"), "one");
  EXPECT_THAT(text, HasSubstr("Make it faster"));
}

TEST_F(Tools, DoesNotOfferAnotherProjectsSessionAndReportsWhatWasNotFound) {
  start();
  const std::string elsewhere = workspace + "/elsewhere";
  ASSERT_TRUE(std::filesystem::create_directory(elsewhere));
  const std::string there = R"({"workspacePath": ")" + elsewhere + R"(")";
  const auto warned = [&](const std::string& arguments) {
    const Value found = structured("resume_session", arguments);
    EXPECT_THAT(found["warnings"].items(), SizeIs(1)) << to_json(found);
    return found["candidates"].size();
  };
  EXPECT_EQ(warned(there + "}"), 0u);
  EXPECT_EQ(warned(there + R"(, "query": "warehouse"})"), 0u);
  EXPECT_EQ(warned(there + R"(, "sessionId": "s-unknown"})"), 0u);
  EXPECT_EQ(warned(R"({"workspacePath": "W", "sessionId": "s-unknown"})"), 0u);
  EXPECT_EQ(warned(R"({"workspacePath": "W", "query": "warehouse"})"), 1u);
  EXPECT_THAT(structured("resume_session", there + R"(, "query": "faster"})")["candidates"].items(), SizeIs(1));
}

TEST_F(Tools, FixableMistakeSaysSoAndItsTemplateIsAccepted) {
  const Value wrong = error("ask", R"({"declaration": 5})");
  EXPECT_EQ(wrong["retry"].string_at("kind"), "retryable_immediate");
  Value corrected = wrong["details"]["correctTemplate"];
  corrected.set("workspacePath", workspace);
  EXPECT_EQ(line("ask", to_json(corrected)).string_at("kind"), "awaiting");
  for (const auto& [tool, arguments] : std::vector<std::pair<std::string, std::string>>{
           {"ask", R"({"declaration": {"decision": "env", "instruction": "Which?", "option": ["a", "b"]}})"},
           {"continue_workflow", R"({"continueToken": "ct_abc"})"},
           {"start_workflow", R"({"workflowId": "two-step", "workspacePath": "W", "goal": "G"})"}}) {
    EXPECT_EQ(error(tool, arguments)["retry"].string_at("kind"), "retryable_immediate") << tool;
  }
}

TEST_F(Tools, RemediesNameToolsNotCommandOptions) {
  add_workflow("each", R"({"id": "each", "name": "Each", "description": "For tests.", "version": "1.0.0",
      "steps": [{"id": "every", "title": "Each", "type": "loop",
                 "loop": {"type": "forEach", "items": "xs", "maxIterations": 3},
                 "body": [{"id": "body", "title": "B", "prompt": "P"}]}]})");
  const Value lacking = error("start_workflow", R"({"workflowId": "each", "workspacePath": "W", "goal": "G"})");
  EXPECT_THAT(*lacking.string_at("message"), HasSubstr("`context` of start_workflow"));
  EXPECT_THAT(*lacking.string_at("message"), Not(HasSubstr("--context")));
  const Value unknown = error("start_workflow", R"({"workflowId": "zzzzzzzz", "workspacePath": "W", "goal": "G"})");
  EXPECT_THAT(*unknown.string_at("message"), HasSubstr("See list_workflows"));
  const Value no_token = error("continue_workflow", R"({"continueToken": "what I had"})");
  EXPECT_THAT(*no_token.string_at("message"), HasSubstr("resume_session"));
  EXPECT_THAT(*no_token.string_at("message"), Not(HasSubstr("signalbox session")));
}

TEST_F(Tools, RejectsOversizedInputWithoutSubmitting) {
  const Value first = start();
  const std::string token = R"({"continueToken": ")" + token_of(first) + R"(", )";
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  const std::vector<std::string> too_much{
      R"("notes": ")" + std::string(sb::limits::kNotesBytes + 1, 'n') + R"("})",
      R"("context": {"big": ")" + std::string(sb::limits::kContextBytes, 'c') + R"("}})",
      R"("context": ")" + deep + R"("})",
      R"("artifacts": [{"kind": "k", "t": ")" + std::string(sb::limits::kArtifactBytes, 'a') + R"("}]})",
      R"("notes": "N", "context": {"eat_token": 1}})",
  };
  for (const std::string& rest : too_much) {
    EXPECT_EQ(error("continue_workflow", token + rest).string_at("code"), "VALIDATION_ERROR") << rest.substr(0, 60);
  }
  const Value next = line("continue_workflow", token + R"("notes": "N", "context": {"size": 1}})");
  EXPECT_EQ(next["pending"].string_at("stepId"), "two");
}

TEST_F(Tools, ResumeFindsNothingIfNothingWasStarted) {
  const Value found = structured("resume_session", R"({"workspacePath": "W", "sameWorkspaceOnly": "true"})");
  EXPECT_THAT(found["candidates"].items(), IsEmpty());
  EXPECT_THAT(found["warnings"].items(), SizeIs(2));
}

TEST_F(Tools, WorkflowsAreListedByTag) {
  const Value all = structured("list_workflows", R"({"workspacePath": "W"})");
  EXPECT_THAT(ids_of(all["workflows"]), testing::IsSupersetOf({"two-steps", "wr.coding-task"}));
  EXPECT_THAT(all["tagSummary"].items(), Not(IsEmpty()));
  const Value tagged = structured("list_workflows", R"({"workspacePath": "W", "tags": ["other"]})");
  EXPECT_THAT(ids_of(tagged["workflows"]), ElementsAre("two-steps"));
  EXPECT_EQ(tagged.find("tagSummary"), nullptr);
  const Value none = structured("list_workflows", R"({"workspacePath": "W", "tags": ["codin"]})");
  EXPECT_THAT(ids_of(none["workflows"]), IsEmpty());
  EXPECT_THAT(none["warnings"].items().front().as_string(), HasSubstr("did you mean coding?"));
}

TEST_F(Tools, BrokenWorkflowIsListedWithItsReasonAndNotStarted) {
  add_workflow("broken", R"({"id": "broken", "name": "Broken"})");
  const Value all = structured("list_workflows", R"({"workspacePath": "W", "tags": ["other"]})");
  const Value& broken = all["workflows"].items().front();
  EXPECT_EQ(broken.string_at("workflowId"), "broken");
  EXPECT_FALSE(broken["loads"].as_bool());
  EXPECT_THAT(*broken.string_at("reason"), HasSubstr("missing"));
  for (const char* tool : {"start_workflow", "inspect_workflow"}) {
    const Value wrong = error(tool, R"({"workflowId": "broken", "workspacePath": "W", "goal": "G"})");
    EXPECT_EQ(wrong.string_at("code"), "VALIDATION_ERROR");
    EXPECT_THAT(wrong["details"]["faults"].items(), Not(IsEmpty()));
  }
}

TEST_F(Tools, UnknownWorkflowSuggestsTheNearest) {
  for (const char* tool : {"start_workflow", "inspect_workflow"}) {
    const Value wrong = error(tool, R"({"workflowId": "two-step", "workspacePath": "W", "goal": "G"})");
    EXPECT_EQ(wrong.string_at("code"), "NOT_FOUND");
    EXPECT_THAT(*wrong.string_at("message"), HasSubstr("two-steps"));
  }
}

TEST_F(Tools, InspectsAWorkflowWithAndWithoutItsSteps) {
  const Value preview = structured("inspect_workflow", R"({"workflowId": "two-steps", "workspacePath": "W"})");
  EXPECT_EQ(preview.string_at("mode"), "preview");
  EXPECT_THAT(preview["compiled"]["steps"].items(), SizeIs(2));
  const Value metadata = structured("inspect_workflow",
                                    R"({"workflowId": "two-steps", "workspacePath": "W", "mode": "metadata", "x": 1})");
  EXPECT_EQ(metadata["compiled"].find("steps"), nullptr);
  EXPECT_EQ(metadata.string_at("workflowHash"), preview.string_at("workflowHash"));
  EXPECT_THAT(metadata["warnings"].items(), SizeIs(1));
}

TEST_F(Tools, ReportsAMissingWorkspace) {
  for (const char* tool : {"list_workflows", "resume_session"}) {
    EXPECT_EQ(error(tool, R"({"workspacePath": "/no/such/folder"})").string_at("code"), "NOT_FOUND");
  }
}

TEST_F(Tools, ValidatesAWorkflowAsTextObjectAndFile) {
  const Value good = structured("validate_workflow", "{\"workflow\": " + std::string(kTwoSteps) + "}");
  EXPECT_TRUE(good["valid"].as_bool());
  EXPECT_EQ(good.string_at("workflowId"), "two-steps");

  const Value bad = structured("validate_workflow", R"({"workflowJson": "{\"id\": \"abc\",\n \"nmae\": \"x\"}"})");
  EXPECT_FALSE(bad["valid"].as_bool());
  bool has_line = false;
  for (const Value& fault : bad["faults"].items()) has_line |= fault["line"] == Value(2);
  EXPECT_TRUE(has_line) << to_json(bad);

  const Value half = structured("validate_workflow", R"({"workflowJson": "{\"id\": "})");
  EXPECT_FALSE(half["valid"].as_bool());

  const Value file = structured("validate_workflow",
                                "{\"path\": " + quote_json(workspace + "/.signalbox/workflows/two-steps.json") + "}");
  EXPECT_TRUE(file["valid"].as_bool());
  EXPECT_EQ(error("validate_workflow", R"({"path": "/no/such/file.json"})").string_at("code"), "NOT_FOUND");
}

// It would quote any file to the holder of a token, and block forever on a pipe.
TEST_F(Tools, ValidatesOnlyRegularFilesAndOnlyForTheLocalUser) {
  const std::string pipe = workspace + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(*error("validate_workflow", "{\"path\": " + quote_json(pipe) + "}").string_at("message"),
              HasSubstr("not a regular file"));
  const std::string file = workspace + "/.signalbox/workflows/two-steps.json";
  call.caller = {.principal = "ann", .is_local_user = false};
  EXPECT_THAT(*error("validate_workflow", "{\"path\": " + quote_json(file) + "}").string_at("message"),
              HasSubstr("server's machine"));
}

TEST_F(Tools, SummarizesManyUnknownInputs) {
  std::string given = R"({"workspacePath": "W", "workflowId": "two-steps", "goal": "g")";
  for (int i = 0; i < 300; ++i) given += ", \"unheard" + std::to_string(i) + "\": 1";
  EXPECT_LT(text_of(result("start_workflow", given + "}")).size(), 1'500u);
}

// What is written into a removed file is read by no one.
TEST_F(Tools, RecreatesAHomeThatWasRemoved) {
  const std::string start = R"({"workspacePath": "W", "workflowId": "two-steps", "goal": "g"})";
  result("start_workflow", start);
  std::filesystem::remove_all(directory + "/own");
  result("start_workflow", start);
  EXPECT_TRUE(std::filesystem::exists(directory + "/own/signalbox.db"));
}

TEST_F(Tools, ValidateAcceptsExactlyOneInput) {
  const Value none = error("validate_workflow", "{}");
  EXPECT_NE(none["details"]["correctTemplate"].find("workflowJson"), nullptr);
  const Value both = error("validate_workflow", R"({"workflowJson": "{}", "path": "/x.json"})");
  EXPECT_EQ(both["details"]["correctTemplate"].find("path"), nullptr);
}

TEST_F(Tools, AttachesAndDetachesAFolder) {
  const std::string folder = directory + "/mine";
  ASSERT_TRUE(files.make_directories(folder));
  ASSERT_TRUE(files.write_atomic(folder + "/mine.json", R"({"id": "mine", "name": "Mine", "description": "D",
    "version": "1.0.0", "steps": [{"id": "one", "title": "One", "prompt": "P"}]})"));
  const std::string given = "\"path\": " + quote_json(folder) + "}";
  const Value done = structured("manage_workflow_source", "{\"action\": \"attach\", " + given);
  EXPECT_EQ(done.string_at("path"), folder);
  EXPECT_THAT(ids_of(structured("list_workflows", R"({"workspacePath": "W"})")["workflows"]),
              testing::Contains("mine"));
  structured("manage_workflow_source", "{\"action\": \"detach\", " + given);
  EXPECT_THAT(ids_of(structured("list_workflows", R"({"workspacePath": "W"})")["workflows"]),
              Not(testing::Contains("mine")));
  EXPECT_EQ(error("manage_workflow_source", R"({"action": "attach", "path": "/no/such"})").string_at("code"),
            "NOT_FOUND");
}

TEST_F(Tools, FolderAttachedByAnAgentReplacesAndRunsNothing) {
  const std::string folder = directory + "/mine/workflows";
  ASSERT_TRUE(files.make_directories(folder));
  const std::string file = R"(, "name": "Mine", "description": "D", "version": "1.0.0",
    "steps": [{"id": "one", "title": "One", "prompt": "P", "verification": {"command": "touch ran"}}]})";
  ASSERT_TRUE(files.write_atomic(folder + "/mine.json", R"({"id": "mine")" + file));
  ASSERT_TRUE(files.write_atomic(folder + "/ours.json", R"({"id": "wr.coding-task")" + file));
  structured("manage_workflow_source", R"({"action": "attach", "path": )" + quote_json(folder) + "}");
  const Value ours = structured("inspect_workflow", R"({"workflowId": "wr.coding-task", "workspacePath": "W"})");
  EXPECT_EQ(ours["compiled"].string_at("name"), "Coding task");
  Value at = start("mine");
  for (int i = 0; i < 3 && at.string_at("kind") == "ok"; ++i) {
    at = line("continue_workflow", R"({"continueToken": ")" + token_of(at) + R"(", "notes": "N"})");
  }
  EXPECT_EQ(at["blockers"].items().front().string_at("code"), "NOT_TRUSTED") << text;
  EXPECT_EQ(files.kind(workspace + "/ran"), FileKind::kMissing);
}

TEST_F(Tools, UnusableStoreIsAnErrorOfEachCallUntilItIsFixed) {
  ASSERT_TRUE(files.write_atomic(directory + "/own", "a file in its place"));
  const Value wrong = error("start_workflow", R"({"workflowId": "two-steps", "workspacePath": "W", "goal": "G"})");
  EXPECT_EQ(wrong.string_at("code"), "INTERNAL_ERROR");
  EXPECT_THAT(*wrong.string_at("message"), HasSubstr("own"));
  ASSERT_TRUE(files.remove(directory + "/own"));
  EXPECT_EQ(start().string_at("kind"), "ok");
}

TEST_F(Tools, ReloadsChangedConfiguration) {
  start();
  ASSERT_TRUE(files.write_atomic(directory + "/own/config.yaml", "strct: true\n"));
  const Value wrong = error("start_workflow", R"({"workflowId": "two-steps", "workspacePath": "W", "goal": "G"})");
  EXPECT_THAT(*wrong.string_at("message"), HasSubstr("config.yaml"));
  ASSERT_TRUE(files.write_atomic(directory + "/own/config.yaml", "strict: false\n"));
  EXPECT_EQ(start().string_at("kind"), "ok");
}

TEST_F(Tools, UnknownToolSuggestsTheNearest) {
  const HandlerResult outcome = service->call_tool("start_workflw", Value::object(), call);
  const auto* wrong = std::get_if<RpcError>(&outcome);
  ASSERT_NE(wrong, nullptr);
  EXPECT_EQ(wrong->code, net::rpc::kInvalidParams);
  EXPECT_THAT(wrong->message, HasSubstr("start_workflow"));
}

TEST_F(Tools, UnknownInputOfStartIsNotedBeforeTheStep) {
  line("start_workflow",
       R"({"workflowId": "two-steps", "workspacePath": "W", "goal": "G", "modelTier": "heavy", "gaol": "x"})");
  EXPECT_THAT(text, testing::StartsWith("Note: gaol is not an input of start_workflow"));
  EXPECT_THAT(text, HasSubstr("modelTier has no effect"));
}

// A project cannot vouch for a file that runs commands, so the workflow is one of the user's.
class Command : public ToolFixture {
 protected:
  Command() {
    const std::string folder = directory + "/own/workflows";
    EXPECT_TRUE(files.make_directories(folder));
    EXPECT_TRUE(files.write_atomic(folder + "/runs.json", R"({"id": "runs", "name": "Runs", "description": "D",
      "version": "1.0.0", "steps": [{"id": "one", "title": "One", "prompt": "P", "verification": {"command": "sleep 60"}}]})"));
  }
};

TEST_F(Command, CancelledCallEndsTheCommandAndSubmitsNothing) {
  const Value first = start("runs");
  const Value checked = line("continue_workflow", R"({"continueToken": ")" + token_of(first) + R"(", "notes": "N"})");
  ASSERT_EQ(checked["pending"].string_at("stepId"), "one__verification");
  const std::string token = R"({"continueToken": ")" + token_of(checked) + R"(")";

  sink.on_progress = [&] { cancelled->store(true); };
  const Value wrong = error("continue_workflow", token + R"(, "notes": "N"})");
  EXPECT_THAT(*wrong.string_at("message"), HasSubstr("cancelled"));
  EXPECT_THAT(sink.messages, ElementsAre("The step's command has been running for 1 s"));

  cancelled->store(false);
  EXPECT_EQ(line("continue_workflow", token + "}")["pending"].string_at("stepId"), "one__verification");
}

}  // namespace
}  // namespace sb::mcp
