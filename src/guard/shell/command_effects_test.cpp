#include "guard/shell/command_effects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guard/shell/shell_script.hpp"

namespace sb::guard {
namespace {

using testing::IsEmpty;

std::string_view name_of(Effect effect) {
  switch (effect) {
    case Effect::kReads:
      return "reads";
    case Effect::kRepository:
      return "repository";
    case Effect::kPaths:
      return "paths";
    case Effect::kTree:
      return "tree";
    case Effect::kInstalls:
      return "installs";
    case Effect::kOutside:
      return "outside";
    case Effect::kUnknown:
      return "unknown";
  }
  return "";
}

// `rm: paths a b`; an unknown target is followed by a question mark.
std::string effects_text(std::string_view line) {
  std::string text;
  for (const CommandEffect& effect : effects_of(line)) {
    if (!text.empty()) text += "; ";
    text += effect.name + ": " + std::string(name_of(effect.effect));
    for (const Target& target : effect.targets) text += " " + target.path + (target.is_known ? "" : "?");
  }
  return text;
}

TEST(CommandEffects, ReadingIsAllowed) {
  for (const char* line : {
           "",
           "   # nothing",
           "ls -la src",
           "cat a.txt b.txt | head -n 5",
           "grep -rn \"foo$\" src | sort | uniq -c | sort -rn",
           "rg 'a|b' --glob '*.cpp' | wc -l",
           "git status && git log --oneline -5 && git diff HEAD~1 -- src/a.cpp",
           "git --no-pager show HEAD:src/a.cpp",
           "git branch",
           "git branch --show-current",
           "git branch -a",
           "git stash list",
           "git remote -v",
           "git config --get user.name",
           "find . -name '*.hpp' -not -path './build/*' -type f",
           "find src -type f -exec grep -l foo {} +",
           "find . -name x | xargs grep -n bar",
           "head -20 README.md; tail -f log",
           "jq '.a | .b > 3' x.json",
           "awk '{print $1}' x",
           "awk '$3 > 5' x",
           "sed -n '1,20p' x.txt",
           "sed 's/where/here/' x",
           "cd src && ls",
           "for f in *.c; do wc -l \"$f\"; done",
           "while read x; do echo \"$x\"; done < list.txt",
           "if [ -f x ]; then cat x; fi",
           "[[ -f x && 3 > 2 ]] && echo yes",
           "echo $(git rev-parse HEAD)",
           "echo \"it is $(date)\" 2>/dev/null >&2",
           "cat <<'EOF'\nrm -rf /\nEOF",
           "cat x 2>&1 | less",
           "ls > /dev/null 2>&1",
           "ls &> /dev/null",
           "FOO=bar ls",
           "env FOO=bar ls",
           "timeout 5 ls",
           "nice -n 5 cat x",
           "bash -c 'ls | wc -l'",
           "echo $((1 + 2))",
           "node --version",
           "make --help",
           "command -v cargo",
           "type ls",
           "tar tzf x.tgz",
           "curl -s https://example.com | jq .",
           "diff <(ls a) <(ls b)",
           "echo 'a > b; rm x'",
           "echo \"a > b\" \\> c",
           "test -d x || echo no",
           "gh pr view 3",
           "npm ls",
           "docker ps",
           "signalbox session continue --token ct_x",
           "/usr/bin/signalbox session show s-1",
           "true",
           "(cd src; ls)",
           "printf '%s\\n' {a,b}",
           "uniq x",
           "dd if=/dev/zero bs=1 count=1",
           "git diff --stat | cat",
           "git tag -l 'v*'",
           "git ls-files -o --exclude-standard | tee /dev/null",
           "git grep -o foo",
           "node -v && python3 -V",
           "uniq -f 1 x",
           "git -C sub log",
       }) {
    EXPECT_EQ(effects_text(line), "") << line;
  }
}

TEST(CommandEffects, ChangesAreDetected) {
  const struct {
    const char *line, *effects;
  } cases[] = {
      {"echo x > a.txt", "a redirection: paths a.txt"},
      {"echo x >> a.txt", "a redirection: paths a.txt"},
      {"echo x >| a", "a redirection: paths a"},
      {"ls 2> err", "a redirection: paths err"},
      {"ls &> all", "a redirection: paths all"},
      {"ls >& all", "a redirection: paths all"},
      {">a", "a redirection: paths a"},
      {"cat <<EOF > out\nhello\nEOF", "a redirection: paths out"},
      {"cat > out <<EOF\n$(rm x)\nEOF", "a redirection: paths out; rm: paths x"},
      {"cat x | tee a b", "tee: paths a b"},
      {"tee -a log", "tee: paths log"},
      {"sed -i s/a/b/ x y", "sed -i: paths x y"},
      {"sed -i.bak -e s/a/b/ x", "sed -i: paths x"},
      {"sed --in-place s/a/b/ x", "sed -i: paths x"},
      {"sed -n 'w out' x", "sed: paths out"},
      {"rm -rf a 'b c'", "rm: paths a b c"},
      {"\\rm a", "rm: paths a"},
      {"/bin/rm a", "rm: paths a"},
      {"r''m a", "rm: paths a"},
      {"\"rm\" a", "rm: paths a"},
      {"mv a b", "mv: paths a b"},
      {"cp -r a b c/", "cp: paths c/"},
      {"cp -t out a b", "cp: paths out"},
      {"mkdir -p a/b && touch a/b/c", "mkdir: paths a/b; touch: paths a/b/c"},
      {"ls; rm x", "rm: paths x"},
      {"ls | xargs rm", "rm: paths (what xargs reads)?"},
      {"ls | xargs -n 1 -I{} mv {} out", "mv: paths {} out (what xargs reads)?"},
      {"find . -name '*.o' -delete", "find -delete: paths ."},
      {"find src -exec rm {} \\;", "rm: paths src"},
      {"find src lib -name x -exec cp a {} +", "cp: paths src; cp: paths lib"},
      {"find src -exec mv {} {}.old \\;", "mv: paths src {}.old?"},
      {"find src -execdir rm {} \\;", "rm: paths src?"},
      {"find src -exec rm a \\;", "rm: paths a"},
      {"find . -exec sh -c 'rm \"$1\"' _ {} ';'", "rm: paths $1?"},
      {"git commit -m x", "git commit: repository"},
      {"git commit -m \"$(cat <<'EOF'\nit's (done)\nEOF\n)\"", "git commit: repository"},
      {"git push origin main", "git push: repository"},
      {"git checkout main", "git checkout: tree"},
      {"git -C /x reset --hard", "git reset: tree"},
      {"git stash", "git stash: tree"},
      {"git restore a", "git restore: tree"},
      {"git rm a", "git rm: paths a"},
      {"git branch new", "git branch: repository"},
      {"git diff --output=x", "git diff: paths x"},
      {"git -c core.pager=x log", "git -c: unknown"},
      {"npm install left-pad", "npm install: installs"},
      {"pip install x", "pip install: installs"},
      {"sudo rm x", "sudo: unknown; rm: paths x"},
      {"sh -c 'rm x'", "rm: paths x"},
      {"bash -lc \"echo hi > x\"", "a redirection: paths x"},
      {"bash script.sh", "bash: unknown"},
      {"eval 'rm x'", "rm: paths x"},
      {"eval $X", "eval: unknown"},
      {"$CMD x", "$CMD: unknown"},
      {"python3 -c 'print(1)'", "python3: unknown"},
      {"make test", "make: unknown"},
      {"echo $(rm x)", "rm: paths x"},
      {"echo \"$(rm x)\"", "rm: paths x"},
      {"echo `rm x`", "rm: paths x"},
      {"ls <(rm x)", "rm: paths x"},
      {"(rm x)", "rm: paths x"},
      {"{ rm x; }", "rm: paths x"},
      {"! rm x", "rm: paths x"},
      {"if true; then rm x; fi", "rm: paths x"},
      {"for f in a b; do rm $f; done", "rm: paths $f?"},
      {"while true; do rm x; done", "rm: paths x"},
      {"A=1 B=2 rm x", "rm: paths x"},
      {"PATH=. ls", "PATH: unknown"},
      {"env A=1 rm x", "rm: paths x"},
      {"env -i rm x", "rm: paths x"},
      {"nohup rm x &", "rm: paths x"},
      {"timeout -k 1 5 rm x", "rm: paths x"},
      {"time rm x", "rm: paths x"},
      {"exec rm x", "rm: paths x"},
      {"command rm x", "rm: paths x"},
      {"cd sub && rm x", "rm: paths sub/x"},
      {"cd $D && rm x", "rm: paths x?"},
      {"cd /a && echo > b", "a redirection: paths /a/b"},
      {"(cd a) && rm x", "rm: paths x"},
      {"rm ~/x", "rm: paths ~/x?"},
      {"rm {a,b.c}/x{1,2}", "rm: paths */x*?"},
      {"rm {a,../b} {a/b,c} a{,.bak} {1..3} {a,{b,c}} {a,$B} {a,b",
       "rm: paths {a,../b}? {a/b,c}? a{,.bak}? {1..3}? {a,*}? {a,$B}? {a,b?"},
      {"pushd sub && rm x", "rm: paths sub/x"},
      {"pushd sub; popd; rm x", "rm: paths sub/x?"},
      {"rm *.o", "rm: paths *.o"},
      {"ls\nrm x", "rm: paths x"},
      {"ls \\\n; rm x", "rm: paths x"},
      {"ls & rm x", "rm: paths x"},
      {"ls || rm x", "rm: paths x"},
      {"ls |& tee x", "tee: paths x"},
      {"ls # x\nrm y", "rm: paths y"},
      {"sort -o x y", "sort: paths x"},
      {"sort -ox y", "sort: paths x"},
      {"sort -uo x y", "sort: paths x"},
      {"git -C sub rm a && rm b", "git rm: paths a?; rm: paths b"},
      {"git grep -Ovim x", "git grep -O: unknown"},
      {"pytest -v", "pytest: unknown"},
      {"uniq a b", "uniq: paths b"},
      {"tar xf x.tar", "tar: tree"},
      {"dd of=x", "dd: paths x"},
      {"curl -o x http://h", "curl: paths x"},
      {"wget http://h", "wget: tree"},
      {"perl -pi -e s/a/b/ x", "perl -i: paths x"},
      {"yq -i .a=1 x.yaml", "yq -i: paths x.yaml"},
      {"patch -p1 < x.diff", "patch: tree"},
      {"fd -x rm", "fd --exec: unknown"},
      {"awk '{print > \"out\"}' x", "awk: paths out"},
      {"awk 'BEGIN{system(\"rm x\")}'", "awk: unknown"},
      {"f() { rm x; }", "f: unknown; the command line: unknown"},
      {"case x in a) rm y;; esac", "the command line: unknown"},
      {"echo 'open", "the command line: unknown"},
      {"echo $(open", "the command line: unknown"},
      {"signalbox session stop s-1", "signalbox session: unknown"},
      {"signalbox inbox answer d keep", "signalbox inbox: unknown"},
      {"ls > >(tee x)", "tee: paths x; a redirection: paths ?"},
  };
  for (const auto& each : cases) EXPECT_EQ(effects_text(each.line), each.effects) << each.line;
}

void expect_effects(std::initializer_list<std::pair<const char*, const char*>> cases) {
  for (const auto& [line, effects] : cases) EXPECT_EQ(effects_text(line), effects) << line;
}

TEST(CommandEffects, AFileNamedLikeAProgramIsNotThatProgram) {
  expect_effects({
      {"./test", "./test: unknown"},
      {"scripts/find . -name x", "scripts/find: unknown"},
      {"tools/git status", "tools/git: unknown"},
      {"/tmp/evil/ls", "/tmp/evil/ls: unknown"},
      {"./cat x", "./cat: unknown"},
      {"./x --version", "./x: unknown"},
      {"/usr/bin/../../tmp/ls", "/usr/bin/../../tmp/ls: unknown"},
      {"cd /tmp && ./ls", "./ls: unknown"},
      {"env ./ls", "./ls: unknown"},
      {"~/bin/ls", "~/bin/ls: unknown"},
      {"/usr/bin/ls", ""},
      {"/usr/local/bin/git status", ""},
      {"cd /usr/bin && ./ls", ""},
      {"//bin//rm x", "rm: paths x"},
  });
}

TEST(CommandEffects, OptionValuesAreNotPaths) {
  expect_effects({
      {"chmod +x src/a.c", "chmod: paths src/a.c"},
      {"chmod 755 src/a.c", "chmod: paths src/a.c"},
      {"chmod -R u+w src", "chmod: paths src"},
      {"chmod -x src/a.c", "chmod: paths src/a.c"},
      {"chmod --reference=x src/a.c", "chmod: paths src/a.c"},
      {"chmod $M src/a.c", "chmod: paths $M? src/a.c"},
      {"chown a src/a", "chown: paths src/a"},
      {"chown -R a:b src", "chown: paths src"},
      {"chgrp g src/a", "chgrp: paths src/a"},
      {"mkdir -m 755 src/d", "mkdir: paths src/d"},
      {"mkdir --mode 755 -p src/d", "mkdir: paths src/d"},
      {"truncate -s 0 src/a.c", "truncate: paths src/a.c"},
      {"truncate -s0 src/a.c", "truncate: paths src/a.c"},
      {"touch -d now src/a.c", "touch: paths src/a.c"},
      {"touch -t 202601010000 src/a.c", "touch: paths src/a.c"},
      {"touch -r docs/x src/a.c", "touch: paths src/a.c"},
      {"touch -- -d", "touch: paths -d"},
      {"mv -t out a b", "mv: paths a b out"},
      {"cp -at out a", "cp: paths out"},
      {"cp --target-directory out a", "cp: paths out"},
      {"install -m 644 a src/a", "install: paths src/a"},
      {"install -d src/a src/b", "install: paths src/a src/b"},
      {"ln -s ../x/a", "ln: paths a"},
      {"git checkout -b x", "git checkout: repository"},
      {"git checkout -q -b x HEAD", "git checkout: repository"},
      {"git switch -c x", "git switch: repository"},
      {"git checkout -b x origin/main", "git checkout: tree"},
      {"git checkout -f -b x", "git checkout: tree"},
      {"git switch main", "git switch: tree"},
  });
}

TEST(CommandEffects, ASubshellHasItsOwnFolder) {
  expect_effects({
      {"(cd src && touch a)", "touch: paths src/a"},
      {"(cd /tmp && touch a)", "touch: paths /tmp/a"},
      {"(cd src && (cd b; touch c); touch d); touch e", "touch: paths src/b/c; touch: paths src/d; touch: paths e"},
      {"(cd a); (touch b)", "touch: paths b"},
      {"cd x; echo $(cd y; rm z) > a", "rm: paths x/y/z; a redirection: paths x/a"},
      {"sh -c 'cd src; rm a'; rm b", "rm: paths src/a; rm: paths b"},
      {"cd src | true; rm a", "rm: paths a"},
      {"cd src & rm a", "rm: paths a"},
      {"{ cd src; rm a; }; rm b", "rm: paths src/a; rm: paths src/b"},
      {"env -C docs rm a; rm b", "rm: paths a?; rm: paths b"},
      {"(cd $X; rm a); rm b", "rm: paths a?; rm: paths b"},
  });
}

TEST(CommandEffects, KnownWritersAreReported) {
  expect_effects({
      {"awk '{print > \"README.md\"}' x", "awk: paths README.md"},
      {"awk '{print $1 >> \"a\" $2}' x", "awk: paths (what its script names)?"},
      {"awk '{print > $2}' x", "awk: paths (what its script names)?"},
      {"awk -i inplace '{print}' a b", "awk -i inplace: paths a b"},
      {"awk '{print ($1 > 5)} $2 > 3 {print}' x", ""},
      {"awk '{print \"a > b\"; if ($1 > 2) n++}' x", ""},
      {"awk '/a > b/ || $1 ~ /x|y/ {print}' x", ""},
      {"prettier --write src", "prettier: paths src"},
      {"npx prettier --write .", "npx: unknown; prettier: paths ."},
      {"prettier --check .", "prettier: unknown"},
      {"black .", "black: paths ."},
      {"black --check .", "black: unknown"},
      {"gofmt -w a.go", "gofmt: paths a.go"},
      {"gofmt -l .", ""},
      {"clang-format -i a.c b.c", "clang-format: paths a.c b.c"},
      {"clang-format --dry-run a.c", ""},
      {"eslint --fix", "eslint: paths ."},
      {"eslint src", "eslint: unknown"},
      {"ruff check --fix src", "ruff check: paths src"},
      {"ruff check src", "ruff check: unknown"},
      {"ruff format", "ruff format: paths ."},
      {"cargo fmt", "cargo fmt: tree"},
      {"cargo fmt --check", ""},
      {"cargo test", "cargo test: unknown"},
      {"gh pr create --title list", "gh pr: outside"},
      {"gh pr -R a/b merge 3", "gh pr: outside"},
      {"terraform apply -auto-approve", "terraform apply: outside"},
      {"terraform show", ""},
      {"kubectl delete pod x", "kubectl delete: outside"},
      {"git stash push -m list", "git stash: tree"},
      {"curl -sSo x http://h", "curl: paths x"},
      {"curl -sLO http://h/x", "curl -O: tree"},
      {"sed 's/a/b/w out' x", "sed: paths out"},
      {"sed -n '/x/{w out\np}' x", "sed: paths out"},
  });
}

TEST(CommandEffects, OptionsThatRunOrWriteAreNotReading) {
  expect_effects({
      {"sed s/a/b/e x", "sed: unknown"},
      {"sed -i 1e x", "sed: unknown; sed -i: paths x"},
      {"sed '1!G;e ls' x", "sed: unknown"},
      {"sed -f script x", "sed -f: unknown"},
      {"sed -n --file=script x", "sed -f: unknown"},
      {"sort --compress-program=x a", "sort --compress-program: unknown"},
      {"sort --compress-prog x a", "sort --compress-prog: unknown"},
      {"sort --out=x a", "sort: paths x"},
      {"git --exec-path=/tmp/x status", "git --exec-path: unknown"},
      {"git ls-remote ext::sh", "git ls-remote: unknown"},
      {"git ls-remote --upload-pack=x h", "git --upload-pack: unknown"},
      {"git show --ext-diff", "git --ext-diff: unknown"},
      {"man -P ./x ls", "man -P: unknown"},
      {"less -o x a", "less: paths x"},
      {"less '+!x' a", "less +: unknown"},
      {"hash -p ./x ls", "hash -p: unknown"},
      {"BASH_ENV=x bash -c ls", "BASH_ENV: unknown"},
      {"LESSOPEN='|x %s' less a", "LESSOPEN: unknown"},
      {"export PATH=.; ls", "export PATH: unknown"},
      {"bash --rcfile x -ic ls", "bash: unknown"},
      {"date 1111", "date: unknown"},
      {"date -s now", "date: unknown"},
      {"hostname x", "hostname: unknown"},
      {"mapfile -C ./x -c 1 a", "mapfile -C: unknown"},
      {"awk 'BEGIN { \"x\" | getline }'", "awk: unknown"},
      {"awk -f x a", "awk -f: unknown"},
      {"tar tf x --to-command=sh", "tar: tree"},
      {"curl -X POST http://h", "curl -X: unknown"},
      {"wget -qO- --post-data=x http://h", "wget --post-data: unknown"},
      {"wget -O x http://h", "wget: paths x"},
      {"xxd a b", "xxd: paths b"},
      {"unzip x.zip", "unzip: tree"},
      {"openssl dgst -out x a", "openssl -out: unknown"},
      {"ip link set eth0 down", "ip link: unknown"},
      {"iconv -o x a", "iconv: paths x"},
      {"go env -w A=b", "go -w: unknown"},
  });
}

TEST(CommandEffects, ReadingIsNotRefusedForItsOptions) {
  for (const char* line : {"xxd a",
                           "xxd -l 16 a",
                           "join a b",
                           "iconv -f latin1 -t utf-8 a",
                           "unzip -l a.zip",
                           "openssl dgst -sha256 a",
                           "wget -qO- https://example.com",
                           "wget -q -O - https://example.com",
                           "bc <<< '1 + 2'",
                           "ip a",
                           "ip -br addr show",
                           "date +%F",
                           "date -d yesterday +%F",
                           "date -u",
                           "sed -n '$='  x",
                           "sed ':a;N;$!ba;s/\\n/ /g' x",
                           "sed -e 1d -e '/we/,/e w/p' x",
                           "sed -E 's|a/e|b w|g; /^#/d' x",
                           "sed 's/ / e /' x",
                           "sed '1a\\\nw out' x",
                           "sort -to x",
                           "curl -X GET -sS -H 'a: b' https://example.com",
                           "PAGER=cat git log",
                           "GIT_PAGER=cat git diff",
                           "hash -r",
                           "git grep std::vector",
                           "less -N a"}) {
    EXPECT_EQ(effects_text(line), "") << line;
  }
}

TEST(CommandEffects, HostileLinesTerminate) {
  const std::string deep(5'000, '(');
  std::string substitutions;
  for (int i = 0; i < 1'000; ++i) substitutions += "$(";
  std::string shells = "rm x";
  for (int i = 0; i < 6; ++i) shells = "sh -c \"" + shells + "\"";
  for (const std::string& line :
       {deep, substitutions, shells, std::string(100'000, '"'), std::string(100'000, '`'), std::string(1, '\0'),
        std::string("\xff\xfe > \xff"), std::string("<<<<<<"), std::string("<<"), std::string("\\"), std::string("$"),
        std::string("${"), std::string("a<<E\n"), std::string(50'000, ';'), std::string("[[ ")}) {
    (void)effects_of(line);
  }
  EXPECT_FALSE(effects_of(deep).empty());
  EXPECT_FALSE(effects_of(substitutions).empty());
}

}  // namespace
}  // namespace sb::guard
