// What is known about files that judge: their names, and which programs are driven by which files.
#pragma once

#include <array>
#include <string_view>

namespace sb::pipeline {

struct Group {
  std::string_view why;
  std::string_view globs;  // separated by blanks
};

inline constexpr std::array<Group, 5> kAlways = {{
    {"settings of Signalbox", "signalbox.yaml **/signalbox.yaml .signalbox/**"},
    {"workflow folder", "workflows/** .workrail/**"},
    {"rules for agents",
     "**/CLAUDE.md **/CLAUDE.local.md **/AGENTS.md **/GEMINI.md **/.cursorrules **/.windsurfrules **/.clinerules "
     "**/.claude/** **/.codex/** **/.cursor/** **/.windsurf/** **/.firebender/** **/.continue/** **/.gemini/** "
     "**/.opencode/** **/.roo/** **/opencode.json **/.mcp.json **/.aider.conf.yml **/copilot-instructions.md"},
    {"CI definition",
     ".github/** .gitlab/** .gitlab-ci.yml **/.gitlab-ci.yml .circleci/** .buildkite/** .forgejo/** .gitea/** "
     ".woodpecker/** .woodpecker.yml .woodpecker.yaml .drone.yml .travis.yml .cirrus.yml .appveyor.yml appveyor.yml "
     "azure-pipelines.yml .azure-pipelines/** bitbucket-pipelines.yml Jenkinsfile **/Jenkinsfile* .teamcity/** "
     ".tekton/** cloudbuild.yaml cloudbuild.yml buildspec.yml .semaphore/** CODEOWNERS docs/CODEOWNERS"},
    {"settings of git",
     "**/.gitattributes .gitmodules .githooks/** .husky/** lefthook.yml lefthook.yaml .lefthook/** "
     "**/.pre-commit-config.yaml"},
}};

// Programs, and the files that tell them what to do, in any folder.
struct Driver {
  std::string_view programs, globs;
};
inline constexpr std::array kDrivers = {
    Driver{"npm npx yarn pnpm bun bunx node deno",
           "package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml deno.json deno.jsonc "
           "jest.config.* vitest.config.* vite.config.* .mocharc.* karma.conf.* playwright.config.* cypress.config.* "
           "ava.config.* babel.config.* .babelrc* tsconfig*.json .eslintrc* eslint.config.* .eslintignore biome.json* "
           "node_modules/**"},
    Driver{"jest vitest mocha eslint tsc prettier biome",
           "package.json jest.config.* vitest.config.* .mocharc.* .eslintrc* eslint.config.* .eslintignore "
           "tsconfig*.json .prettierrc* .prettierignore biome.json*"},
    Driver{"make gmake", "Makefile makefile GNUmakefile *.mk *.mak"},
    Driver{"just", "justfile Justfile .justfile *.just"},
    Driver{"task", "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml"},
    Driver{"cmake ctest ninja", "CMakeLists.txt CMakePresets.json CMakeUserPresets.json *.cmake build.ninja"},
    Driver{"meson", "meson.build meson_options.txt meson.options"},
    Driver{"bazel bazelisk buck2 pants",
           "BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel .bazelrc *.bzl BUCK pants.toml"},
    Driver{"cargo",
           "Cargo.toml build.rs rust-toolchain rust-toolchain.toml clippy.toml .clippy.toml .cargo/** "
           ".cargo/config.toml .cargo/config"},
    Driver{"go golangci-lint", "go.mod go.work .golangci.*"},
    Driver{"python python3 pytest py.test tox nox uv poetry hatch pdm pipenv ruff mypy pyright flake8 pylint coverage",
           "pytest.ini .pytest.ini conftest.py tox.ini setup.cfg setup.py pyproject.toml noxfile.py .coveragerc "
           "mypy.ini .mypy.ini "
           "ruff.toml .ruff.toml .flake8 .pylintrc pyrightconfig.json sitecustomize.py usercustomize.py"},
    Driver{"mvn mvnw", "pom.xml .mvn/**"},
    Driver{"gradle gradlew", "*.gradle *.gradle.kts gradle.properties gradle/** buildSrc/**"},
    Driver{"rake bundle rspec ruby rails",
           "Rakefile *.rake Gemfile .rspec spec_helper.rb rails_helper.rb .rubocop.yml"},
    Driver{"rubocop standardrb", ".rubocop.yml .rubocop_todo.yml .standard.yml"},
    Driver{"composer phpunit php", "composer.json phpunit.xml phpunit.xml.dist phpstan.neon* vendor/bin/**"},
    Driver{"dotnet", "*.csproj *.fsproj *.sln Directory.Build.* Directory.Packages.props global.json nuget.config"},
    Driver{"mix", "mix.exs test_helper.exs .credo.exs"},
    Driver{"sbt", "build.sbt project/**"},
    Driver{"swift", "Package.swift"},
    Driver{"zig", "build.zig build.zig.zon"},
    Driver{"nix nix-build nix-shell", "flake.nix flake.lock shell.nix default.nix"},
    Driver{"docker docker-compose podman", "Dockerfile* docker-compose*.yml docker-compose*.yaml compose*.y*ml"},
    Driver{"pre-commit", ".pre-commit-config.yaml"},
    Driver{"clang-tidy run-clang-tidy clang-format git-clang-format", ".clang-tidy .clang-format .clang-format-ignore"},
    Driver{"cppcheck", ".cppcheck *.cppcheck"},
    Driver{"shellcheck", ".shellcheckrc shellcheckrc"},
    Driver{"shfmt editorconfig-checker ec", ".editorconfig .ecrc .editorconfig-checker.json"},
    Driver{"stylelint", ".stylelintrc* stylelint.config.* .stylelintignore"},
    Driver{"markdownlint markdownlint-cli2 mdl", ".markdownlint* .mdlrc"},
    Driver{"yamllint", ".yamllint .yamllint.yml .yamllint.yaml"},
    Driver{"hadolint", ".hadolint.yaml .hadolint.yml"},
    Driver{"bandit", ".bandit bandit.yaml"},
    Driver{"sqlfluff", ".sqlfluff .sqlfluffignore"},
    Driver{"codespell typos vale", ".codespellrc typos.toml _typos.toml .typos.toml .vale.ini"},
    Driver{"tflint terraform tofu", ".tflint.hcl .terraform.lock.hcl"},
    Driver{"ktlint detekt", ".editorconfig detekt.yml"},
    Driver{"phpcs php-cs-fixer psalm phpstan", "phpcs.xml* .phpcs.xml* .php-cs-fixer.* psalm.xml* phpstan.neon*"},
    Driver{"swiftlint swift-format", ".swiftlint.yml .swift-format"},
    Driver{"buf protolint", "buf.yaml buf.work.yaml .protolint.yaml"},
    Driver{"gitleaks semgrep", ".gitleaks.toml .gitleaksignore .semgrep.yml .semgrepignore"},
    Driver{"rustfmt", "rustfmt.toml .rustfmt.toml"},
    Driver{"dart flutter", "analysis_options.yaml pubspec.yaml"},
    Driver{"commitlint", "commitlint.config.* .commitlintrc*"}};

// A word after one of these is run.
inline constexpr std::array<std::string_view, 22> kInterpreters = {
    "sh",   "bash", "dash", "zsh",  "source",  ".",   "python",  "python3", "node", "deno",    "bun",
    "ruby", "perl", "php",  "exec", "include", "env", "command", "xargs",   "lua",  "Rscript", "pwsh"};

// The word after one of these is a folder in which more is looked for.
inline constexpr std::string_view kFolderWords =
    "cd pushd -C --directory --prefix --cwd --dir --project -S add_subdirectory subdir PYTHONPATH pythonpath";

// Options whose value tells a program how to judge; `-f` does for these programs.
inline constexpr std::array<std::string_view, 9> kFileOptions = {
    "--config", "--rc", "--rules", "--plugin", "--preset", "--require", "--setup", "--makefile", "--justfile"};
inline constexpr std::string_view kProgramsWithFile = "awk gawk mawk make gmake just";

inline constexpr std::string_view kTestFolders = "test tests spec specs __tests__";

inline constexpr std::array<std::string_view, 9> kScriptEnds = {".sh", ".bash", ".py", ".js",  ".mjs",
                                                                ".ts", ".rb",   ".pl", ".bats"};

// Modules that a new file replaces where Python looks for modules first: those of its library and of what runs tests.
inline constexpr std::string_view kPythonModules =
    "abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins "
    "bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall "
    "concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime "
    "dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl "
    "filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib "
    "grp gzip hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json "
    "keyword linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib "
    "msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os "
    "ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint "
    "profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline "
    "reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd "
    "smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics "
    "string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib "
    "tempfile termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback "
    "tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid venv warnings wave weakref "
    "webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo pytest "
    "_pytest pluggy coverage mypy ruff flake8 pylint tox nox";

// Files of rules that may include others.
inline constexpr std::string_view kRuleNames = "claude.md claude.local.md agents.md gemini.md copilot-instructions.md";

}  // namespace sb::pipeline
