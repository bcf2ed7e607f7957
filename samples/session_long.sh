#!/usr/bin/env bash
# A long conversation: kept message by message, ended, and found again: its course, its facts, and what was said.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-05T09:00:00Z

memcli init --quiet
memcli session start --title "Import of the price lists" --quiet
echo "--- forty messages, one a line: U is the user, A the assistant"
while IFS= read -r line; do
  case $line in
    U*) role=user ;;
    *) role=assistant ;;
  esac
  memcli session add --role "$role" "${line:2}" --quiet
done <<'TALK'
U The nightly import of the price lists takes four hours. Can we get it below one?
A I will look at where the time goes. The importer is in src/prices/import.py.
U It reads about two million rows from the suppliers' CSV files.
A The profile shows that 80 % of the time is spent in single INSERT statements.
U So we should batch them?
A Yes, or use COPY, which PostgreSQL offers for exactly this.
U What would COPY mean for the validation of the rows?
A The rows would have to be validated before, since COPY stops at the first bad one.
U Okay. We decided to load the rows with COPY into a staging table, because single inserts are too slow.
A Then I validate in SQL in the staging table and move the good rows over in one statement.
U Sounds good. Never delete the old prices before the new ones are checked: last year the shop was empty for an hour.
A Understood: the old prices stay until the new ones are in place, in one transaction.
U Do we need a lock for that?
A No. Readers see the old rows until the commit.
A I changed src/prices/import.py to create the staging table and to COPY into it.
U How long does it take now?
A 22 minutes with the file of March. The rest of the time is the validation of the currencies.
U What is slow about the currencies?
A Each row looks up its currency with a query of its own.
U Could we join them instead?
A Yes, done: the currencies are joined in SQL now. The import takes 9 minutes.
U Great, that is fixed then.
A The tests fail though: test_import_rejects_bad_rows expects an exception at the first bad row.
U Bad rows should be collected and reported, not raise an exception.
A I see. The importer writes them to the table rejected_rows with the reason now.
U Who reads that table?
A Nobody yet. I could send a summary by mail to the purchasing team.
U Maybe later. For now the purchasing team uses the page /admin/rejected.
A Then I add the table to that page.
U From now on we keep rejected rows for 30 days, because the suppliers ask about them for a month.
A Done: a job deletes rejected rows after 30 days. The test for it passes.
U I prefer one migration per change, please split the last one.
A Split: 0041_staging_table and 0042_rejected_rows.
U To deploy: first run the migrations, then restart the importer, then check /admin/rejected.
A I added that to docs/deploy.md.
U Is there anything left to do?
A The documentation of the CSV format is out of date, but that was so before.
U Leave it. Can you run everything once more with the file of April?
A The import of April took 8 minutes and rejected 14 rows. All tests pass.
U Perfect, thanks.
TALK
memcli session list

echo "--- what it states, before anything is stored"
memcli session facts
echo "--- the end: a memory of the session, its episodes and its facts"
memcli session end --outcome "The import takes 8 minutes instead of four hours"
echo "--- its course"
session="$(memcli session list --json | jq -r '.[0].id')"
memcli session arc "$session"
echo "--- facts that wait for a person"
memcli inbox
echo "--- what was said can be searched"
memcli recall "how many rows were rejected in April?" --scope session --limit 2
echo "--- what it yielded is recalled with all else"
memcli recall "why do we load prices with COPY?" --limit 2
