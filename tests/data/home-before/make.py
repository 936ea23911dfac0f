#!/usr/bin/env python3
"""Makes the home of this folder. Run once, with the programs as they were; README.md says how.

Usage: make.py FOLDER-OF-PROGRAMS, in /home/ann, as the only process that uses it.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ANN = pathlib.Path("/home/ann")
PROGRAM = sys.argv[1] + "/signalbox"
os.chdir(ANN)
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": str(ANN),
    "SIGNALBOX_HOME": str(ANN / ".sb"),
    "SIGNALBOX_WORKFLOWS": str(ANN / "flows"),
    "GSTACK_PROJECT_SLUG": "shop",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def write(path, text, mode=0o644):
    file = ANN / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


def run(*words, given="", code=0, folder="shop", program=PROGRAM):
    done = subprocess.run([program, *words], input=given, capture_output=True, text=True, env=ENVIRONMENT, cwd=ANN / folder)
    print(f"$ {' '.join(words)}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    if done.returncode != code:
        sys.exit(f"{words}: exit {done.returncode}, not {code}")
    return done.stdout


def last(text):
    return json.loads(text.strip().splitlines()[-1])


def git(*words, folder="shop"):
    run(*words, folder=folder, program="git")


def step(id, contract=None, **more):
    made = {"id": id, "title": id.capitalize(), "prompt": f"Do {id} for {{{{goal}}}}.", **more}
    return {**made, "outputContract": {"contractRef": "wr.contracts." + contract}} if contract else made


def flow(id, *steps, **more):
    whole = {"id": id, "name": id, "description": "A small workflow.", "version": "1.0.0", **more, "steps": list(steps)}
    write(f"flows/{id}.json", json.dumps(whole, indent=1) + "\n")


NOTES = "Read what there is, wrote what was asked for, then looked at it again."
INTERPRETATION = {
    "kind": "wr.interpretation", "taskType": "targeted_fix", "interpretation": "The price file must exist.",
    "rivalInterpretations": [], "unresolvedAssumptions": ["No one reads the file by its length."], "codebaseBeliefs": [],
    "ambiguityLevel": "clear",
    "confidenceBreakdown": {"tier0Injected": False, "tier1Complete": True, "tier2Retrieved": False,
                            "rivalInterpretationStrength": "weak", "unresolvedAssumptionCount": 1,
                            "overallAmbiguityLevel": "clear"}}
DISCOVERY = {"kind": "wr.discovery_handoff", "version": 1, "selectedDirection": "Write the price file.", "designDocPath": "",
             "confidenceBand": "high", "keyInvariants": ["The check stays."], "implementationConstraints": ["One file."]}
SHAPING = {"kind": "wr.shaping_handoff", "version": 1, "pitchPath": ".signalbox/current-pitch.md",
           "selectedShape": "A file with the price.", "appetite": "an hour", "keyConstraints": ["No new programs."],
           "rabbitHoles": ["Currencies."], "outOfScope": ["Anything but the price."],
           "validationChecklist": ["The price is there."]}
REVIEW = {"kind": "wr.review_verdict", "verdict": "clean", "confidence": "high", "findings": [],
          "summary": "Looked at every line."}


def line(phase, step_id, tool, given):
    return {"when": {"workflow": "small." + phase, "step": step_id},
            "content": [{"type": "tool_use", "name": tool, "input": given}]}


def done(phase, step_id, artifact=None):
    return line(phase, step_id, "complete_step", {"notes": NOTES, **({"artifacts": [artifact]} if artifact else {})})


def coded(file):
    return [line("coding", "build", "Write", {"file_path": file, "content": "42\n"}), done("coding", "build"),
            done("coding", "hand-off", {"kind": "wr.coding_handoff", "version": 1, "keyDecisions": ["Plain text."],
                                        "knownLimitations": [], "testsAdded": [], "filesChanged": [file]})]


BEFORE = [done("discovery", "interpret", INTERPRETATION), done("discovery", "hand-off", DISCOVERY),
          done("shaping", "hand-off", SHAPING)]


def script(*lines):
    write("script.jsonl", "".join(json.dumps(each) + "\n" for each in lines))


def wait_for(is_so):
    for _ in range(1200):
        if is_so():
            return
        time.sleep(0.05)
    sys.exit("waited too long")


# --- what everything else needs
write(".gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n")
write("shop/README.md", "A shop.\n")
write("shop/check", "#!/bin/sh\n# Whether there is a price.\nls price-*.txt >/dev/null 2>&1 && grep -q 42 price-*.txt\n", 0o755)
write("shop/.signalbox/workflows/checked.yaml",
      "id: shop.checked\nname: Checked\ndescription: A step with a command.\nversion: 1.0.0\nsteps:\n"
      "  - {id: build, title: Build, prompt: Build it., verification: {command: test -e README.md}}\n")
git("init", "--quiet", "--bare", "--initial-branch=main", str(ANN / "shop.git"))
git("init", "--quiet", "--initial-branch=main")
git("remote", "add", "origin", str(ANN / "shop.git"))
git("add", "--all")
git("commit", "--quiet", "--message", "Begin")
git("push", "--quiet", "--set-upstream", "origin", "main")
write(".sb/config.yaml",
      "# As a user wrote it.\nmodels: {script: {provider: scripted, script: /home/ann/script.jsonl}}\n"
      "roles: {default: script}\nchecks: [./check]\nmerge: ask\n"
      "phases: {discovery: small.discovery, shaping: small.shaping, coding: small.coding, review: small.review}\n")
flow("small.discovery", step("interpret", "interpretation"), step("hand-off", "discovery_handoff"))
flow("small.shaping", step("hand-off", "shaping_handoff"))
flow("small.coding", step("build"), step("hand-off", "coding_handoff"))
flow("small.review", step("verdict", "review_verdict"), role="reviewer")
flow("ann.two", step("plan", captures={"slices": {"type": "array"}}), step("build", "loop_control"))
flow("ann.gated", step("draft", requireConfirmation=True), step("send"))
flow("ann.parent", {"id": "call", "title": "Call", "type": "workflow", "workflowId": "ann.two", "goal": "A part",
                    "captureAs": "part"}, step("after"))

# --- operators, decisions, planned prompts, preferences, tokens, trust
run("operator", "init", "--name", "ann", given="correct horse\n")
write("ask/env.yaml", 'decision: env\ninstruction: "Which environment should get it?"\noptions: [staging, production]\n')
write("ask/colour.yaml", 'decision: colour\ninstruction: "Which colour should it have?"\noptions: [red, green, blue]\n')
write("ask/gone.yaml", 'decision: gone\ninstruction: "Keep the old page?"\noptions: ["yes", "no"]\n')
write("ask/undone.yaml", 'decision: undone\ninstruction: "Keep the old logo?"\noptions: ["yes", "no"]\n')
write("ask/release.yaml",
      'flow: release\nsteps:\n  - {key: branch, instruction: "Which branch?", options: [main, hotfix]}\n'
      '  - {key: env, instruction: "Which environments?", select: many, options: [staging, production]}\n')
write("ask/chat.yaml",
      "chain: chat\nskill: plan-ceo-review\nprofile: gstack\nnumber: 3\nrelation: independent\noptions:\n"
      "  - {key: E1, label: Slack bot, eli10: A bot., recommend: {choice: include, reason: many want it}}\n"
      "  - {key: E2, label: Discord bot, eli10: Another., recommend: {choice: defer, reason: few want it}}\n")
write("ask/drop.yaml",
      'decision: drop-table\ninstruction: "Drop the table users_old?"\ndoor: one-way\n'
      "irreversible_note: The rows cannot be restored.\noptions:\n"
      "  - {id: keep, label: Keep it}\n  - {id: drop, label: Drop it}\n")
write("ask/drop-more.yaml",
      'decision: drop-more\ninstruction: "Drop the table orders_old?"\ndoor: one-way\n'
      "irreversible_note: The rows cannot be restored.\noptions:\n"
      "  - {id: keep, label: Keep it}\n  - {id: drop, label: Drop it}\n")
for name in ("env", "colour", "gone", "undone", "release", "chat", "drop", "drop-more"):
    run("ask", str(ANN / f"ask/{name}.yaml"), "--json", code=1)
run("inbox", "answer", "env", "staging", "--reason", "it is Friday")
run("inbox", "answer", "release", "branch=main,env=staging+production")
run("inbox", "answer", "chat", "E1=include,E2=cut")
run("inbox", "answer", "drop-table", "drop", given="correct horse\n")
run("inbox", "decline", "gone")
run("inbox", "answer", "undone", "yes")
run("inbox", "withdraw", "undone")
planned = json.loads(run("render", "--def", str(ANN / "ask/colour.yaml"), "--host", "ask_user_question"))
run("pref", "--write", '{"question_id":"ship-voice","preference":"never-ask","source":"inline-user"}')
run("operator", "token", "--scope", "decision:drop-more", "--expires", "3d", given="correct horse\n")
serve_token = run("serve", "token", "ada").strip()
run("trust", str(ANN / "shop"), given="correct horse\n")

# --- sessions: done, at a gate, blocked, forked, with a child that is open
CONTROL = json.dumps({"kind": "wr.loop_control", "decision": "stop"})
write("control.json", CONTROL + "\n")


def start(flow_id, goal):
    return last(run("session", "start", flow_id, "--goal", goal, "--workspace", str(ANN / "shop"), "--json"))


def go_on(token, *words, code=0):
    return last(run("session", "continue", token, *words, "--json", code=code))


first = start("ann.two", "The finished one")
second = go_on(first["continueToken"], "--note", "Two slices.", "--context", 'slices=["a","b"]')
go_on(second["continueToken"], "--note", "Built both.", "--artifact", str(ANN / "control.json"))
tokens = {"serve": serve_token, "planned": planned, "finished": first["sessionId"]}
gated = start("ann.gated", "The one at a gate")
gate = go_on(gated["continueToken"], "--note", "A draft of the letter.")
tokens["gated"] = gated["sessionId"]
tokens["gated_token"] = gate["continueToken"]
blocked = start("ann.two", "The blocked one")
refused = go_on(blocked["continueToken"], "--note", "No slices yet.", code=1)
tokens["blocked"] = blocked["sessionId"]
tokens["blocked_token"] = refused["retryContinueToken"]
forked = start("ann.two", "The forked one")
go_on(forked["continueToken"], "--note", "One way.", "--context", 'slices=["one"]')
branch = last(run("session", "fork", forked["sessionId"], "--node", "1", "--json"))
other = go_on(branch["continueToken"], "--note", "The other way.", "--context", 'slices=["two"]')
tokens["forked"] = forked["sessionId"]
tokens["forked_token"] = other["continueToken"]
parent = start("ann.parent", "The one with a child")
tokens["parent"] = parent["sessionId"]
tokens["parent_token"] = parent["continueToken"]
tokens["child_token"] = parent["children"][0]["continueToken"]
checked = start("shop.checked", "The one with a command")
tokens["checked"] = checked["sessionId"]
tokens["checked_token"] = checked["continueToken"]

# --- runs: finished, interrupted, waiting
script(*BEFORE, *coded("price-1.txt"), done("review", "verdict", REVIEW))
run("run", "Write the first price", "--json", code=1)
open_now = [each for each in json.loads(run("inbox", "list", "--json")) if "drop-more" not in json.dumps(each)]
merge = [each["decision"] for each in open_now if "erge" in json.dumps(each.get("text", "")) ]
run("inbox", "answer", merge[-1], "merge")
run("runs", "resume", "last", "--json")

interrupted = [*BEFORE, line("coding", "build", "Bash", {"command": "touch waits; sleep 600"}), *coded("price-2.txt"),
               done("review", "verdict", REVIEW)]
script(*interrupted)
process = subprocess.Popen([PROGRAM, "run", "Write the second price", "--json"], env=ENVIRONMENT, cwd=ANN / "shop",
                           stdout=subprocess.DEVNULL, start_new_session=True)
wait_for(lambda: list(ANN.glob(".sb/**/waits")) or list(ANN.glob("**/waits")))
os.killpg(process.pid, signal.SIGKILL)
process.wait()
for left in ANN.glob("**/waits"):
    left.unlink()
tokens["interrupted"] = json.loads(run("runs", "show", "last", "--json"))["run"]

script(*BEFORE, *coded("price-3.txt"), done("review", "verdict", REVIEW))
run("run", "Write the third price", "--json", code=1)
tokens["waiting"] = json.loads(run("runs", "show", "last", "--json"))["run"]
script(*interrupted)  # for whoever resumes it

tokens["finished_run"] = json.loads(run("runs", "list", "--json"))[-1]["run"]

# --- the demonstration, in a home of its own
ENVIRONMENT.pop("SIGNALBOX_WORKFLOWS")
run("demo", "--dir", str(ANN / "demo"), "--json", folder=".")

# --- what is left: no samples of git, no files of a database that is open
for sample in ANN.glob("**/hooks/*.sample"):
    sample.unlink()
for database in ANN.glob("**/signalbox.db"):
    run(str(database), "PRAGMA wal_checkpoint(TRUNCATE); VACUUM;", program="sqlite3", folder=".")
for left in [*ANN.glob("**/signalbox.db-shm"), *ANN.glob("**/signalbox.db-wal")]:
    left.unlink()
write("tokens.json", json.dumps(tokens, indent=1) + "\n")
