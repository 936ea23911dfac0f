// Which files of the user a command sees in the real sandbox.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/relay.hpp"
#include "sandbox/testing.hpp"

namespace sb::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Doors, IgnoredFilesOfTheUsersCheckoutAreHiddenUnlessNamed) {
  room.write("user/project/.gitignore", ".env\nnode_modules/\n*.pem\n");
  room.write("user/project/.env", "SECRET-MARK");
  room.write("user/project/deep/key.pem", "SECRET-MARK");
  room.write("user/project/node_modules/a/index.js", "dependency");
  ASSERT_EQ(room.shell("cd user/project && git init -q && git add .gitignore"), 0);
  EXPECT_THAT(room.output("cat .env deep/key.pem"), Not(HasSubstr("SECRET-MARK")));
  EXPECT_EQ(room.run("cat node_modules/a/index.js").output, "dependency");
  room.settings.read = {".env"};
  EXPECT_EQ(room.run("cat .env").output, "SECRET-MARK");
}

TEST_F(Doors, WhatAnAgentMakesInItsOwnTreeStaysUsable) {
  room.workspace = room.homes.state + "/trees/one";
  room.write("user/.sb/trees/one/.gitignore", "made\n");
  ASSERT_EQ(room.shell("cd user/.sb/trees/one && git init -q"), 0);
  open("echo x > made");
  EXPECT_EQ(room.run("cat made").output, "x\n");
}

TEST_F(Doors, IgnoredFoldersAreHiddenExceptForDependenciesAndBuildOutput) {
  room.write("user/project/.gitignore", "secrets/\nlocal/\nnode_modules/\ntarget/\n");
  for (const char* name : {"secrets/key", "secrets/public", "deep/local/key"}) {
    room.write(std::string("user/project/") + name, "SECRET-MARK");
  }
  room.write("user/project/node_modules/a/index.js", "dependency");
  room.write("user/project/deep/target/x", "built");
  room.write("user/project/deep/tracked", "");
  ASSERT_EQ(room.shell("cd user/project && git init -q && git add ."), 0);
  EXPECT_THAT(room.output("cat secrets/* deep/local/*"), Not(HasSubstr("SECRET-MARK")));
  EXPECT_EQ(room.run("cat node_modules/a/index.js deep/target/x").output, "dependencybuilt");
  room.settings.read = {"secrets/public"};
  EXPECT_EQ(room.run("cat secrets/public").output, "SECRET-MARK");
  closed("cat secrets/key");
  room.settings.read = {"secrets"};
  EXPECT_EQ(room.run("cat secrets/key").output, "SECRET-MARK");
}

TEST_F(Doors, ManyIgnoredFilesDoNotMakeOthersVisible) {
  room.write("user/project/.gitignore", "*.o\n*.dat\n.env\n");
  room.write("user/project/server/.env", "SECRET-MARK");
  room.write("user/project/server/tracked", "");
  ASSERT_EQ(room.shell("cd user/project && git init -q && git add . && for i in $(seq 1100); do : > aaa$i.o; done"), 0);
  EXPECT_THAT(room.output("cat server/.env"), Not(HasSubstr("SECRET-MARK")));
  ASSERT_EQ(room.shell("cd user/project && for i in $(seq 1100); do : > aaa$i.dat; done"), 0);
  EXPECT_THAT(room.refused("cat server/.env"),
              HasSubstr("git ignores 1101 files and folders in " + room.workspace + "; at most 1000 can be hidden"));
}

TEST_F(Doors, ACommandIsNotRunWhereGitCannotListWhatItIgnores) {
  room.write("user/project/.env", "SECRET-MARK");
  ASSERT_EQ(room.shell("cd user/project && git init -q && echo garbage > .git/HEAD"), 0);
  const std::string why = room.refused("cat .env");
  EXPECT_THAT(why, HasSubstr("cannot list the files in " + room.workspace + " that git ignores: git: fatal: "));
  EXPECT_THAT(why, HasSubstr("status` work first"));
}

TEST_F(Doors, IgnoredFilesAreHiddenInPartsOfACheckoutAndInCheckoutsWithinIt) {
  room.write("user/project/.gitignore", ".env\n");
  room.write("user/project/part/.env", "SECRET-MARK");
  room.write("user/project/vendor/other/.gitignore", "own.key\n");
  room.write("user/project/vendor/other/own.key", "SECRET-MARK");
  ASSERT_EQ(room.shell("cd user/project && git init -q && git -C vendor/other init -q"), 0);
  EXPECT_THAT(room.output("cat part/.env vendor/other/own.key"), Not(HasSubstr("SECRET-MARK")));
  room.workspace += "/part";
  EXPECT_THAT(room.output("cat .env"), Not(HasSubstr("SECRET-MARK")));
}

// An agent may have made the checkout; git runs outside of the sandbox there.
TEST_F(Doors, ListingIgnoredFilesRunsNothingThatACheckoutNames) {
  const std::string marker = room.directory + "/marker";
  room.write("script", "#!/bin/sh\ntouch " + marker + "\n");
  ASSERT_EQ(
      room.shell("chmod 755 script; git init -q user/project/made && cd user/project/made && echo x > .gitignore && "
                 "git add . && git -c user.name=a -c user.email=a@b commit -qm x && "
                 "git update-index --skip-worktree .gitignore && rm .gitignore && touch a.q && "
                 "rm -rf .git/objects/?? && git config core.fsmonitor ../../../script && "
                 "git config core.repositoryFormatVersion 1 && git config extensions.partialClone origin && "
                 "git config remote.origin.promisor true && git config remote.origin.url ssh://h/x && "
                 "git config core.sshCommand ../../../script && git config protocol.allow always"),
      0);
  (void)room.attempt("true", {});
  EXPECT_FALSE(std::filesystem::exists(marker));
}

// Git obeys the configuration there when the user asks for the status of the whole.
TEST_F(Doors, CheckoutsWithinACheckoutKeepTheirGitFolder) {
  room.write("user/project/libs/part/file", "old");
  ASSERT_EQ(room.shell("git init -q user/project && git init -q user/project/libs/part"), 0);
  for (const char* line : {"echo x >> libs/part/.git/config", "mv libs/part/.git away", "mv libs/part away",
                           "mv libs away", "rm -rf libs; test ! -e libs/part/.git"}) {
    closed(line);
  }
  open("mkdir libs/new && echo x > libs/new/file && mv libs/new libs/part/moved && git -C libs/part status");
}

TEST_F(Doors, SubmodulesOfAWorkTreeKeepTheirGitFile) {
  ASSERT_EQ(room.shell("export HOME=$PWD GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=protocol.file.allow "
                       "GIT_CONFIG_VALUE_0=always GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=a "
                       "GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=a@b; git init -q part && cd part && "
                       "git commit -q --allow-empty -m x && cd .. && git init -q whole && cd whole && "
                       "git submodule --quiet add ../part libs/part && git commit -q -m x && "
                       "git worktree add -q ../user/.sb/work-trees/r && cd ../user/.sb/work-trees/r && "
                       "git submodule --quiet update --init"),
            0);
  room.workspace = room.homes.state + "/work-trees/r";
  for (const char* line : {"echo x > libs/part/.git", "mv libs/part/.git away", "mv libs/part away", "mv libs away"}) {
    closed(line);
  }
  open("echo x > libs/part/new && test -s libs/part/.git");
}

// A home kept in git ignores all folders; a project in one is not part of that checkout.
TEST_F(Doors, AFolderThatAnOuterCheckoutIgnoresIsVisible) {
  room.write("user/.gitignore", "*\n");
  room.write("user/project/deep/visible", "fine");
  ASSERT_EQ(room.shell("cd user && git init -q"), 0);
  EXPECT_EQ(room.run("cat deep/visible").output, "fine");
}

TEST_F(Doors, WhatIsHiddenStaysHiddenBehindALinkThatIsNamed) {
  room.write("user/.ssh/id", "SECRET-MARK");
  room.write("user/notes", "fine");
  ASSERT_EQ(room.shell("ln -s user all"), 0);
  room.settings.read = {room.directory + "/all"};
  EXPECT_EQ(room.run("cat " + room.directory + "/all/notes").output, "fine");
  EXPECT_THAT(room.output("cat " + room.directory + "/all/.ssh/id"), Not(HasSubstr("SECRET-MARK")));
}

// As `chdir; bind("dev.sock")` does: the system knows no path of it. Sockets of containers are not known to it at all.
Socket listen_at_relative_path(const std::string& folder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  Socket made = listen_at_path("dev.sock");
  std::filesystem::current_path(before);
  return made;
}

TEST_F(Doors, SocketsAndPipesThatTheSystemDoesNotListAreHidden) {
  const std::string named = room.directory + "/named/deep";
  std::filesystem::create_directories(named);
  const Socket one = listen_at_relative_path(room.workspace), two = listen_at_relative_path(named);
  ASSERT_TRUE(one.is_open() && two.is_open());
  room.settings.read = {room.directory + "/named"};
  const std::string connect =
      "python3 -c 'import socket,os,sys; os.chdir(sys.argv[1]); s=socket.socket(socket.AF_UNIX); "
      "s.connect(\"dev.sock\"); print(\"REACHED\")' ";
  for (const std::string& folder : {room.workspace, named}) {
    EXPECT_THAT(room.output(connect + folder), Not(HasSubstr("REACHED"))) << folder;
  }
  ASSERT_EQ(room.shell("ln -s named link"), 0);
  room.settings.read = {room.directory + "/link"};
  EXPECT_THAT(room.output(connect + room.directory + "/link/deep"), Not(HasSubstr("REACHED"))) << "named by a link";
  room.settings.read = {room.directory + "/named"};
  ASSERT_EQ(room.shell("mkfifo user/project/pipe named/pipe"), 0);
  closed("test -p pipe || test -p " + room.directory + "/named/pipe");
  ASSERT_EQ(room.shell("cd user/project; for i in $(seq 1000); do mkfifo p$i; done"), 0);
  EXPECT_THAT(room.refused("true"), HasSubstr("has 1002 sockets and named pipes; at most 1000"));
}

}  // namespace
}  // namespace sb::sandbox
