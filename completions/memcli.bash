# Completions of memcli for bash. Made by `memcli completions bash`: do not edit.

# What a command takes: `commands`; `options`, each NAME or NAME=VALUE; `arguments`, each VALUE or, repeated, VALUE...
# A VALUE is files, dirs, what `memcli __complete` has by this name, `,one,of,these`, or - for anything.
_memcli_table() {
  commands= options= arguments=
  case $1 in
  '')
    commands='agent blame browse check completions demo diff doctor edit export feedback forget gc get graph guard help hook import inbox ingest init link list mcp merge-driver metrics off on pin provider recall remember restore schema serve session space status store trust watch show add rm'
    options='--version --help -h'
    ;;
  'agent')
    commands='install uninstall list check'
    options='--help -h'
    ;;
  'agent install')
    options='--user --local --dry-run -n --next-turn --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',claude,codex,cursor,copilot,gemini,opencode,windsurf,cline,zed,generic'
    ;;
  'agent uninstall')
    options='--user --local --dry-run -n --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',claude,codex,cursor,copilot,gemini,opencode,windsurf,cline,zed,generic'
    ;;
  'agent list')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'agent check')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',claude,codex,cursor,copilot,gemini,opencode,windsurf,cline,zed,generic'
    ;;
  'blame')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs'
    ;;
  'browse')
    options='--kind=kinds -k=kinds --tag=tags -t=tags --web --port=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='paths'
    ;;
  'check')
    commands='code recall secrets store'
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'check code')
    options='--changed=- --reanchor --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files...'
    ;;
  'check recall')
    options='--questions=files --top=- -l=- --budget=- --fail-under=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files...'
    ;;
  'check secrets')
    options='--history --staged --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files...'
    ;;
  'check store')
    options='--repair --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'completions')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',bash,zsh,fish'
    ;;
  'demo')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'diff')
    options='--stat --exit-code --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='- -'
    ;;
  'doctor')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'edit')
    options='--text=- --set=- --tag=tags -t=tags --untag=tags --object --if-digest=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'export')
    options='--out=files -o=files --format=,json,jsonl,md -f=,json,jsonl,md --sign=files --kind=kinds -k=kinds --tag=tags -t=tags --under=paths --private --redact --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces'
    ;;
  'feedback')
    commands='gaps'
    options='--helpful --unhelpful --rejected --reason=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'feedback gaps')
    options='--check --close --clear --semantic=,local,llm --model=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='-...'
    ;;
  'forget')
    options='--recursive -r --purge --now --if-digest=- --yes -y --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'gc')
    options='--ttl-days=- --dry-run -n --trust-clock --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces'
    ;;
  'get')
    options='--field=,id,path,kind,raw,summary_micro,summary_short,summary_long,tags,metadata,relevance,pinned,created_at,updated_at,content,importance,confidence,trust,strength,version,active,superseded_by,valid_from,valid_until,season,scope,provenance,links,triggers,enforce,procedure,episode,chunks,context,anchors --context --digest --rev=- --no-usage --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'graph')
    options='--depth=- -d=- --format=,json,dot,mermaid,html,text -f=,json,dot,mermaid,html,text --output=files -o=files --all -a --clusters --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs'
    ;;
  'guard')
    options='--staged --diff=files --changed=- --format=,text,json,sarif,github --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'help')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',COMMAND,TOPIC...'
    ;;
  'hook')
    commands='install uninstall status retry run'
    options='--help -h'
    ;;
  'hook install')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',post-commit,post-merge,post-checkout,post-rewrite,prepare-commit-msg,pre-push...'
    ;;
  'hook uninstall')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',post-commit,post-merge,post-checkout,post-rewrite,prepare-commit-msg,pre-push...'
    ;;
  'hook status')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'hook retry')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'hook run')
    options='--agent=- --next-turn --detached --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',post-commit,post-merge,post-checkout,post-rewrite,prepare-commit-msg,pre-push -...'
    ;;
  'import')
    options='--mode=,merge,replace --trusted-key=files --from=,auto,memcli,adr,agents,markdown,mcp,mem0 --dry-run -n --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files'
    ;;
  'inbox')
    options='--all --set=- --object --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',list,show,accept,reject,edit refs...'
    ;;
  'ingest')
    options='--git=- --since=- --staged --stdin0 --propose --dry-run -n --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files...'
    ;;
  'init')
    options='--project=- --git --hooks --agent=- --undo --purge --yes --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'link')
    options='--relation=,relates_to,supersedes,contradicts,derived_from,depends_on -r=,relates_to,supersedes,contradicts,derived_from,depends_on --weight=- --remove --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs refs'
    ;;
  'list')
    options='--kind=kinds -k=kinds --tag=tags -t=tags --limit=- -l=- --offset=- --all -a --include-raw --tree --depth=- --rev=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='paths'
    ;;
  'mcp')
    options='--tools=,default,all --http=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'merge-driver')
    options='--textconv --path=paths --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files files files'
    ;;
  'metrics')
    options='--textfile=files --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'off')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'on')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'pin')
    options='--remove --if-digest=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'provider')
    commands='list check usage'
    options='--help -h'
    ;;
  'provider list')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'provider check')
    options='--within=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='-'
    ;;
  'provider usage')
    options='--day=- --since=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'recall')
    options='--topics=files --limit=- -l=- --raw-limit=- --include-raw --include-metadata --format=,json,md,prompt,table,text --budget=- --kind=kinds -k=kinds --tag=tags -t=tags --under=paths --scope=,project,global,session --include=,turns,chunks,episodes --exclude=,turns,chunks,episodes --since=- --until=- --rev=- --at=- --prefer-kind=kinds --prefer-tag=tags --require-high-relevance --min-score=- --min-importance=- --about=- --include-inactive --backend=,basic,fusion,graph,hybrid,patricia,raptor --weights=- --recency-bias=- --deadline=- --all-spaces --no-global --verbose -v --explain --include-untrusted --no-usage --fail-empty --fail-weak --from-diff=files --verify=- --verify-timeout=- --model=- --changed=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='-'
    ;;
  'remember')
    options='--file=files -f=files --object=- --batch=files --keep-going --kind=kinds -k=kinds --kind-new --path=paths -p=paths --path-hint=paths --project=- --tag=tags -t=tags --pin --relevance=,high,medium,low --summary-micro=- --summary-short=- --summary-long=- --importance=- --confidence=- --trust=- --scope=,project,global,session --created-at=- --valid-from=- --valid-until=- --season=- --source=,user_stated,user_corrected,observed,inferred,extracted,imported --reason=- --commit=- --trigger=- --enforce --link=- --anchor=files --speaker=- --group=- --context=- --session=sessions --meta=- --set=- --id=- --supersedes=refs --no-check --keep-both --merge --semantic=,local,llm,off --model=- --temperature=- --max-tokens=- --fallback=,local --embed --propose --yes --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='-'
    ;;
  'restore')
    options='--run=- --list --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'schema')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',space,object,policy,bundle,export,session'
    ;;
  'serve')
    options='--port=- --workers=- --verbose --role=,reader,writer,admin --name=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',token,create,list,revoke...'
    ;;
  'session')
    commands='context start add pause resume list show share end arc facts promote topic sync delete import export'
    options='--help -h'
    ;;
  'session context')
    options='--session=sessions --no-session --system=files --total=- --reserve-system=- --reserve-working=- --insert=refs --format=,markdown,json,openai,anthropic --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='-'
    ;;
  'session start')
    options='--title=- -t=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'session add')
    options='--role=,user,assistant,tool -r=,user,assistant,tool --file=files -f=files --speaker=- --at=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions -'
    ;;
  'session pause')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session resume')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session list')
    options='--limit=- -l=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'session show')
    options='--from=- --to=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session share')
    options='--undo --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session end')
    options='--outcome=- --semantic=,local,llm,off --model=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session arc')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session facts')
    options='--from=files --semantic=,local,llm,off --model=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session promote')
    options='--semantic=,local,llm,off --model=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='-...'
    ;;
  'session topic')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='- -'
    ;;
  'session sync')
    options='--background --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'session delete')
    options='--keep-memories --yes -y --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'session import')
    options='--format=,auto,memcli,jsonl,claude-code,codex,gemini,copilot,cline,opencode,chatgpt,claude-ai --discover --dry-run -n --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files...'
    ;;
  'session export')
    options='--out=files -o=files --redact --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='sessions'
    ;;
  'space')
    commands='create list show policy delete'
    options='--help -h'
    ;;
  'space create')
    options='--reset --meta=- --metadata=- --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces'
    ;;
  'space list')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'space show')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces'
    ;;
  'space policy')
    options='--set=- --unset=- --file=files -f=files --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces'
    ;;
  'space delete')
    options='--space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces'
    ;;
  'status')
    options='--stats --usage --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'store')
    commands='copy sync maintain audit index fmt'
    options='--help -h'
    ;;
  'store copy')
    options='--mode=,merge,replace --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='dirs dirs'
    ;;
  'store sync')
    options='--with=dirs --accept-deletions --as-new --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces'
    ;;
  'store maintain')
    options='--dry-run -n --only=,usage,archive,decay,links,clusters,merge,tags,review --background --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'store audit')
    options='--limit=- -l=- --since=- --id=refs --verify --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    ;;
  'store index')
    options='--background --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments=',show,rebuild,embed'
    ;;
  'store fmt')
    options='--check --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='spaces...'
    ;;
  'trust')
    options='--imported --status --revoke --yes -y --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'watch')
    options='--glob=- --git --no-git --embed --once --status --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='files...'
    ;;
  'show')
    options='--field=,id,path,kind,raw,summary_micro,summary_short,summary_long,tags,metadata,relevance,pinned,created_at,updated_at,content,importance,confidence,trust,strength,version,active,superseded_by,valid_from,valid_until,season,scope,provenance,links,triggers,enforce,procedure,episode,chunks,context,anchors --context --digest --rev=- --no-usage --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  'add')
    options='--file=files -f=files --object=- --batch=files --keep-going --kind=kinds -k=kinds --kind-new --path=paths -p=paths --path-hint=paths --project=- --tag=tags -t=tags --pin --relevance=,high,medium,low --summary-micro=- --summary-short=- --summary-long=- --importance=- --confidence=- --trust=- --scope=,project,global,session --created-at=- --valid-from=- --valid-until=- --season=- --source=,user_stated,user_corrected,observed,inferred,extracted,imported --reason=- --commit=- --trigger=- --enforce --link=- --anchor=files --speaker=- --group=- --context=- --session=sessions --meta=- --set=- --id=- --supersedes=refs --no-check --keep-both --merge --semantic=,local,llm,off --model=- --temperature=- --max-tokens=- --fallback=,local --embed --propose --yes --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='-'
    ;;
  'rm')
    options='--recursive -r --purge --now --if-digest=- --yes -y --space=spaces -s=spaces --root=dirs --json --quiet -q --offline --freeze-clock=- --color=,auto,always,never --no-pager --help -h'
    arguments='refs...'
    ;;
  esac
}

# Cuts the line up to the cursor into `words`. COMP_WORDS is cut at `:` and `=` too, where no word of ours ends.
_memcli_split() {
  local line=${COMP_LINE:0:COMP_POINT} blank piece i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    blank=${line%%[![:space:]]*} line=${line#"${line%%[![:space:]]*}"} piece=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || piece=$line
    if [[ $i -gt 0 && -z $blank ]]; then words[${#words[@]} - 1]+=$piece; else words+=("$piece"); fi
    line=${line#"$piece"}
  done
}

# Sets `plain` to what the shell makes of the word $1, without running anything, and `quote` to what it leaves open.
_memcli_plain() {
  local rest=$1 char
  plain= quote=
  case $rest in \~ | \~/*) plain=$HOME rest=${rest:1} ;; esac
  while [[ -n $rest ]]; do
    char=${rest:0:1} rest=${rest:1}
    case $quote$char in
    \' | \") quote=$char ;;
    "''" | '""') quote= ;;
    \\ | '"\') if [[ -n $rest ]]; then plain+=${rest:0:1} rest=${rest:1}; else quote=\\; fi ;;
    *) plain+=$char ;;
    esac
  done
}

# Offers those lines of $1 that begin with `plain`: what was `typed`, and the rest quoted as its place wants it.
_memcli_offer() {
  local value rest
  while IFS= read -r value; do
    [[ -n $value && $value == "$plain"* ]] || continue
    rest=${value:${#plain}}
    case $quote in
    \') rest=${rest//\'/$apostrophe} ;;
    \") rest=${rest//\\/\\\\} rest=${rest//\"/\\\"} rest=${rest//\$/\\\$} rest=${rest//\`/\\\`} ;;
    *) [[ -z $rest ]] || printf -v rest %q "$rest" ;;
    esac
    COMPREPLY+=("$typed$rest")
  done <<< "$1"
  if [[ ${#COMPREPLY[@]} == 1 && $value$COMPREPLY == */ ]]; then compopt -o nospace 2> /dev/null; fi
}

_memcli_offer_value() {
  case $1 in
  -) ;;
  files) compopt -o default 2> /dev/null ;;
  dirs) compopt -o dirnames 2> /dev/null ;;
  ,*) _memcli_offer "${1//,/$newline}" ;;
  *) _memcli_offer "$(memcli __complete "$1" "$plain" "$space" "$root" 2> /dev/null < /dev/null)" ;;
  esac
}

# Sets `value` to what the option $1 takes; fails when it takes nothing.
_memcli_takes() {
  [[ " $options " == *" $1="* ]] || return 1
  value=" $options" value=${value#*" $1="} value=${value%% *}
}

_memcli() {
  local IFS=$' \t\n' newline=$'\n' apostrophe="'\\''" typed=$2 commands options arguments words word plain quote value
  local at= wanted= ended= space= root= count=0
  COMPREPLY=()
  _memcli_split
  _memcli_table ''
  for word in "${words[@]:1:${#words[@]} - 2}"; do
    _memcli_plain "$word"
    if [[ -n $wanted ]]; then plain=$wanted=$plain wanted=
    elif [[ -n $ended ]]; then ((++count)); continue
    elif [[ $word == -- ]]; then ended=1
    elif [[ $word == -* ]] && _memcli_takes "$word"; then wanted=$word
    elif [[ $word == -[!-]?* ]]; then plain=${plain:0:2}=${plain:2}
    elif [[ $word == -* ]]; then :
    elif [[ " $commands " == *" $plain "* ]]; then at+=${at:+ }$plain; _memcli_table "$at"
    else ((++count))
    fi
    case $plain in --space=* | -s=*) space=${plain#*=} ;; --root=*) root=${plain#*=} ;; esac
  done
  word=${words[${#words[@]} - 1]}
  if [[ -z $wanted$ended && $word == --*=* ]]; then wanted=${word%%=*} word=${word#*=}; fi
  _memcli_plain "$word"
  if [[ $quote == \\ ]]; then typed=${typed%\\}; fi
  if [[ -n $wanted ]]; then _memcli_takes "$wanted" && _memcli_offer_value "$value"
  elif [[ -z $ended && $word == -* ]]; then
    value=
    for word in $options; do value+=${word%%=*}$newline; done
    _memcli_offer "$value"
  elif [[ -n $commands ]]; then ((count)) || _memcli_offer "${commands// /$newline}"
  else
    for word in $arguments; do
      if [[ $((count--)) == 0 || $word == *... ]]; then _memcli_offer_value "${word%...}"; break; fi
    done
  fi
}

complete -F _memcli memcli
