#include "decision/door.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace sb::decision {
namespace {

Door door_of(std::initializer_list<std::string_view> texts, Door declared = Door::kTwoWay) {
  return classify_door({.declared = declared, .texts = std::span(texts.begin(), texts.size())}).door;
}

Door door_of(std::string_view text) {
  return door_of({text});
}

TEST(Door, EveryListedEnglishPhraseRaises) {
  for (const char* text : {"Run rm -rf on build?",
                           "Delete the branch?",
                           "remove directory tmp",
                           "Remove folder old",
                           "remove file a.txt",
                           "remove files below tmp",
                           "Wipe the disk?",
                           "purge the queue",
                           "TRUNCATE the log",
                           "drop table users",
                           "Drop the table users_old?",
                           "drop all the old tables",
                           "remove the old directory",
                           "Drop database",
                           "drop schema",
                           "drop index",
                           "drop column name",
                           "DELETE FROM users",
                           "force push main",
                           "force-push main",
                           "git push --force",
                           "git reset --hard HEAD~1",
                           "git checkout -- src",
                           "git restore .",
                           "git clean -fd",
                           "git clean -f",
                           "git branch -D old",
                           "kubectl delete pod",
                           "terraform destroy",
                           "Rollback now?",
                           "architecture change",
                           "architectural fork",
                           "architectural shift",
                           "architecture decision",
                           "data model change",
                           "schema migration",
                           "breaking change"}) {
    EXPECT_EQ(door_of(text), Door::kOneWay) << text;
  }
}

TEST(Door, CredentialVerbsWithNounsRaise) {
  for (const char* verb : {"revoke", "reset", "rotate", "Rotate"}) {
    for (const char* noun : {"api key", "token", "secret", "credential", "access key", "password"}) {
      for (const char* ending : {"", "s"}) {
        const std::string text = std::string(verb) + " the old " + noun + ending + "?";
        EXPECT_EQ(door_of(text), Door::kOneWay) << text;
      }
    }
  }
}

TEST(Door, OrdinaryTextStaysTwoWay) {
  for (const char* text : {"",
                           "Which branch should be released?",
                           "The deleted rows were restored yesterday. Go on?",
                           "Add an undelete button?",
                           "Is the password field required?",
                           "Rotate the image by 90 degrees?",
                           "Reset the zoom level?",
                           "Show the token count?",
                           "Use the drop-down for the table?",
                           "Remove the unused import?",
                           "Which architecture?",
                           "How should the truncated label look?",
                           "Restore the window position?",
                           "Check out the -- separator docs?",
                           "Rollbacks were rare. Continue?",
                           "Is that irreversible?",
                           "Welche Datei soll geöffnet werden?",
                           "Quel fichier ouvrir ?",
                           "¿Qué archivo abrir?",
                           "Qual arquivo abrir?",
                           "Quale file aprire?",
                           "Który plik otworzyć?",
                           "Hangi dosya açılsın?",
                           "Какой файл открыть?",
                           "Удалённый сервер доступен?",
                           "Який файл відкрити?",
                           "打开哪个文件？",
                           "どのファイルを開きますか？",
                           "어떤 파일을 열까요?"}) {
    EXPECT_EQ(door_of(text), Door::kTwoWay) << text;
  }
}

TEST(Door, RaisesInOtherLanguages) {
  for (const char* text :
       {"Alle Zeilen löschen?", "Tabelle verwerfen?", "Supprimer la table ?", "¿Borrar la base de datos?",
        "Excluir a tabela?", "Eliminare la tabella?", "Usunąć tabelę?", "Tabloyu silelim mi?", "Удалить таблицу?",
        "УДАЛИТЬ ВСЁ?", "Сделать форс-пуш?", "Отозвать старый ключ?", "Видалити таблицю?", "要删除这个表吗？",
        "強制推送到主分支？", "テーブルを削除しますか？", "強制プッシュしますか", "테이블을 삭제할까요?"}) {
    EXPECT_EQ(door_of(text), Door::kOneWay) << text;
  }
}

TEST(Door, InvisibleCharactersDoNotHideAWord) {
  EXPECT_EQ(door_of("de\u200Blete it"), Door::kOneWay);
  EXPECT_EQ(door_of("ｄｅｌｅｔｅ it"), Door::kOneWay);
  EXPECT_EQ(door_of("delete \xff\xfe it"), Door::kOneWay);
  EXPECT_EQ(door_of(std::string_view("\0delete\0", 8)), Door::kOneWay);
  EXPECT_EQ(door_of("\xff\xfe"), Door::kTwoWay);
}

TEST(Door, EveryTextCounts) {
  EXPECT_EQ(door_of({"Go on?", "Yes", "Drop table users"}), Door::kOneWay);
  EXPECT_EQ(door_of(std::initializer_list<std::string_view>{}), Door::kTwoWay);
}

TEST(Door, RegisteredIdsAreOneWay) {
  for (const char* id :
       {"ship-test-failure-triage", "review-sql-safety", "review-llm-trust-boundary",
        "office-hours-landscape-privacy-gate", "plan-ceo-review-premise-revise", "plan-eng-review-arch-finding",
        "investigate-fix-apply", "land-and-deploy-merge-confirm", "land-and-deploy-rollback",
        "cso-global-scan-approval", "cso-finding-fix", "autoplan-user-challenge"}) {
    EXPECT_TRUE(is_one_way_id(id)) << id;
    EXPECT_EQ(classify_door({.question_id = id}).reason, DoorReason::kRegistry);
  }
  for (const char* id : {"", "ship-changelog-voice", "constructor", "Review-sql-safety"}) {
    EXPECT_FALSE(is_one_way_id(id)) << id;
  }
}

TEST(Door, ReasonsAreOrdered) {
  const std::string_view text = "Delete it?";
  const std::span texts(&text, 1);
  const auto reason = [&](DoorFacts facts) { return std::string(to_string(classify_door(facts).reason)); };
  EXPECT_EQ(reason({.declared = Door::kOneWay, .question_id = "review-sql-safety", .texts = texts}), "declared");
  EXPECT_EQ(reason({.question_id = "review-sql-safety", .skill = "cso", .category = "approval", .texts = texts}),
            "registry");
  EXPECT_EQ(reason({.question_id = "x", .skill = "cso", .category = "approval", .texts = texts}), "skill-category");
  EXPECT_EQ(reason({.skill = "land-and-deploy", .category = "approval"}), "skill-category");
  EXPECT_EQ(reason({.question_id = "x", .skill = "cso", .category = "routing", .texts = texts}), "keyword");
  EXPECT_EQ(classify_door({.texts = texts}).keyword, "Delete");
  EXPECT_EQ(reason({.question_id = "x"}), "default-two-way");
}

TEST(Gap6, ADeclaredTwoWayDoorIsRaisedAndAOneWayDoorIsNeverLowered) {
  EXPECT_EQ(door_of("Delete the production database and force-push?"), Door::kOneWay);
  EXPECT_EQ(door_of({"Which colour?"}, Door::kOneWay), Door::kOneWay);
}

TEST(Door, AHugeTextIsExaminedToItsEnd) {
  std::string text(2u << 20, 'a');
  for (std::size_t i = 6; i < text.size(); i += 7) text[i] = ' ';
  EXPECT_EQ(door_of(text + " delete"), Door::kOneWay);
}

}  // namespace
}  // namespace sb::decision
