"""Orders in other languages than English, as stems that stand near each other."""

from __future__ import annotations

from memcli.safety.injection.rule import Near

# The first group is the rarest one, most often verbs. Words are written as `readings` has them, in lower case and
# without accents: to fold them at the start of a command takes milliseconds. A blank at the end says that the word ends.
_SET_ASIDE: tuple[Near, ...] = (
    Near((("vergiss alles", "vergesst alles", "ignoriere alles"), ("zuvor", "bisher", "vorher", "oben"), ("gesagt", "gelernt", "stand", "steht", "wurde", "war"))),
    Near((("vergeet alles", "negeer alles"), ("hiervoor", "eerder", "hierboven", "tot nu toe"))),
    Near((("oublie tout", "oubliez tout", "ignore tout", "ignorez tout"), ("avant", "preced", "ci-dessus", "jusqu"))),
    Near((("olvida todo", "ignora todo", "ignora lo anterior", "olvida lo anterior"), ("anterior", "arriba", "dicho"))),
    Near((("dimentica tutto", "ignora tutto"), ("precedent", "prima", "sopra", "finora"))),
    Near((("esqueca tudo", "ignore tudo"), ("anterior", "antes", "acima"))),
    Near((("забудь все", "игнорируи все"), ("выше", "до этого", "ранее", "сказан"))),
    Near((("ignoriere", "ignorier ", "ignorieren", "vergiss", "vergesst", "missachte", "ubergehe"), ("vorherig", "bisherig", "obig", "vorangegangen", "vorangehend", "fruher", "vorig", "zuvor"), ("anweisung", "befehl", "instruktion", "vorgabe", "prompt"))),
    Near((("ignore", "ignorer", "ignorez", "oublie", "oubliez", "oublier", "negligez", "neglige"), ("precedent", "preced", "anterieur", "ci-dessus", "recues"), ("instruction", "consigne", "directive", "ordre"))),
    Near((("ignora", "ignore", "olvida", "olvide", "descarta", "desestima"), ("anterior", "previa", "previo", "arriba", "prior"), ("instruccion", "indicacion", "ordenes", "instrucoes", "comandos"))),
    Near((("ignore", "esqueca", "desconsidere", "desconsidera"), ("anterior", "previa", "acima"), ("instrucoes", "comandos", "ordens"))),
    Near((("ignora", "dimentica", "trascura"), ("precedent", "anterior", "sopra"), ("istruzion", "comandi", "direttive", "ordini"))),
    Near((("negeer", "vergeet"), ("vorige", "eerdere", "voorgaande", "bovenstaande"), ("instructie", "opdracht", "bevelen"))),
    Near((("zignoruj", "zapomnij", "pomin"), ("poprzedni", "wczesniejsz", "powyzsz"), ("instrukcj", "polece"))),
    Near((("ignoruj", "zapomen", "zapomente"), ("predchozi", "drivejsi", "vyse"), ("instrukc", "pokyn", "prikaz"))),
    Near((("ignorera", "glom", "bortse fran", "ignorer", "glem"), ("tidigare", "foregaende", "ovanstaende", "tidligere", "forrige"), ("instruktion", "anvisning", "instruks"))),
    Near((("игнорируи", "игнорировать", "проигнорируи", "забудь", "не обращаи внимания"), ("предыдущ", "прежн", "вышеуказан", "ранее"), ("инструкц", "указани", "команд", "приказ"))),
    Near((("ігноруи", "забудь"), ("попередн",), ("інструкц", "вказівк", "команд"))),
    Near((("yok say", "yoksay", "gormezden gel", "unut", "dikkate alma"), ("onceki", "yukaridaki", "bundan onceki"), ("talimat", "komut", "yonerge"))),
    Near((("abaikan", "lupakan"), ("sebelumnya", "di atas", "terdahulu"), ("instruksi", "perintah", "petunjuk"))),
    Near((("bo qua", "quen", "phot lo"), ("truoc", "o tren"), ("huong dan", "chi dan", "lenh", "chi thi"))),
    Near((("忽略", "无视", "無視", "忘记", "忘記", "不要理会", "不要遵守", "不遵守", "不用管"), ("之前", "以上", "先前", "前面", "上述", "上面", "此前", "所有"), ("指令", "指示", "提示", "命令", "说明", "規則", "规则")), 24),
    Near((("無視", "忘れ", "従わな"), ("以前", "これまで", "上記", "前の", "すべての", "全ての"), ("指示", "命令", "プロンプト", "指令")), 30),
    Near((("무시", "잊어", "잊으"), ("이전", "위의", "앞의", "지금까지", "모든"), ("지시", "명령", "프롬프트", "지침")), 30),
    Near((("تجاهل", "انس ", "انسَ"), ("السابق", "أعلاه", "الماضية"), ("التعليمات", "الأوامر", "الإرشادات", "تعليمات"))),
    Near((("התעלם", "התעלמי", "שכח"), ("הקודמ", "לעיל"), ("ההוראות", "הוראות", "ההנחיות"))),
    Near((("نادیده بگیر", "فراموش کن"), ("قبلی", "پیشین", "بالا"), ("دستور", "دستورالعمل"))),
    Near((("अनदेखा", "नज़रअंदाज़", "नजरअंदाज", "भूल जाओ", "भूल जाएं"), ("पिछले", "पिछली", "पूर्व", "ऊपर"), ("निर्देश", "आदेश"))),
    Near((("เพิกเฉย", "ละเว้น", "ลืม"), ("ก่อนหน้า", "ข้างต้น"), ("คําสั่ง", "คําแนะนํา"))),
    Near((("αγνοησε", "αγνοηστε", "ξεχασε"), ("προηγουμεν", "παραπανω"), ("οδηγι", "εντολ"))),
    Near((("ignora", "uita"), ("anterioare", "precedente"), ("instructiun", "comenzi"))),
)  # fmt: skip
_SECRET = ("passw", "contrase", "senha", "geheim", "secret", "segred", "segret", "schlussel", "cles", "claves", "chiavi", "chaves", "credenci", "credenz", "identifiants", "zugangsdaten", ".env", "пароль", "пароли", "ключи", "секрет", "密码", "密钥", "密鑰", "凭证", "パスワード", "鍵", "秘密", "비밀번호", "키를", "비밀")  # fmt: skip
_PLACE = ("https:", "http:", "webhook", "@", "ftp:")
_RULES: tuple[Near, ...] = (
    Near((("vergiss", "vergesst", "ignorier", "missachte", "umgeh", "brich"), ("deine regel", "deine bisherig", "deine vorgabe", "deine anweisung", "deine richtlinie", "deine beschrankung", "eure regel", "deine sicherheits"))),
    Near((("systemanweisung", "systemprompt", "system-prompt", "systemnachricht"), ("beachte", "ignorier", "vergiss", "missachte", "verrate", "zeige", "gib ", "nenne", "enthulle"))),
    Near((("erteilt", "gegeben", "erhalten"), ("missachte", "ignorier", "vergiss"), ("befehl", "anweisung", "vorgabe"))),
    Near((("oublie", "oubliez", "ignore", "ignorez", "enfrein", "viole"), ("tes regles", "vos regles", "tes consignes", "tes instructions", "vos instructions", "vos consignes", "tes restrictions", "tes limites"))),
    Near((("tiens pas compte", "tenez pas compte", "tenir compte", "faites abstraction", "fais abstraction", "fais fi"), ("consigne", "instruction", "directive", "ordre", "ci-dessus"))),
    Near((("prompt systeme", "invite systeme"), ("revele", "revelez", "affiche", "affichez", "montre", "divulgue", "donne"))),
    Near((("olvida", "olvide", "ignora", "ignore", "no sigas", "no obedezcas", "incumple", "sigas", "obedezcas"), ("tus reglas", "sus reglas", "tus instrucciones", "tus restricciones", "las reglas que te", "tus directrices", "que te dieron", "que te han dado"))),
    Near((("caso omiso",), ("indicacion", "instruccion", "regla", "orden", "anterior", "previa"))),
    Near((("prompt del sistema", "prompt de sistema", "prompt do sistema", "prompt di sistema"), ("revela", "revele", "muestra", "muestre", "mostre", "mostra", "rivela", "imprime", "ensena", "exiba", "diga", "dimmi"))),
    Near((("esqueca", "ignore", "desconsidere", "desobedeca", "viole"), ("suas regras", "as suas instrucoes", "suas instrucoes", "suas restricoes", "as regras que"))),
    Near((("desconsidere", "desconsidera", "ignore", "esqueca"), ("ordens acima", "regras acima", "instrucoes acima", "acima"), ("ordens", "regras", "instruc", "orientac"))),
    Near((("dimentica", "ignora", "viola", "trascura"), ("le tue regole", "le tue istruzioni", "tue restrizioni", "tue direttive", "le vostre regole"))),
    Near((("tenere conto", "tener conto", "tenga conto"), ("indicazion", "istruzion", "direttiv", "regole"), ("sopra", "precedent", "anterior"))),
    Near((("забудь", "забудьте", "игнорируи", "нарушь", "нарушаи"), ("свои правила", "твои правила", "свои инструкции", "твои инструкции", "свои ограничения", "все правила", "свои указания"))),
    Near((("системныи промпт", "системную подсказку", "системные инструкции", "системныи запрос"), ("раскрои", "покажи", "выведи", "назови", "напечатаи", "игнорируи", "забудь"))),
    Near((("не выполняи", "не следуи", "не слушаи", "не соблюдаи"), ("указани", "инструкц", "команд", "правил", "приказ"), ("выше", "дан", "предыдущ", "прежн", "ранее", "систем"))),
    Near((("忘记", "忘記", "无视", "無視", "忽略", "违反", "抛开"), ("你的规则", "你的規則", "你的指令", "你的限制", "你的设定", "你的指示", "你的原则", "你的系统")), 24),
    Near((("无视", "無視", "忽略", "不要理会", "不用管", "别管"), ("上面", "以上", "之前", "前面", "上述"), ("要求", "内容", "规定", "话", "限制", "约束")), 24),
    Near((("系统提示", "系統提示", "系统指令"), ("显示", "输出", "告诉", "透露", "泄露", "打印", "揭示", "顯示", "說出", "说出")), 24),
    Near((("あなたのルール", "あなたの指示", "あなたの規則", "あなたの制限", "ガイドライン"), ("忘れ", "無視", "破っ", "従わな")), 30),
    Near((("システムプロンプト", "システム指示"), ("教え", "表示し", "出力し", "明かし", "見せ", "公開し")), 30),
    Near((("従わない", "従うな", "従わず"), ("これまで", "以前", "上記", "前の", "ユーザー"), ("命令", "指示", "ルール", "規則")), 30),
    Near((("너의 규칙", "당신의 규칙", "너의 지시", "네 규칙", "당신의 지침", "너의 제한"), ("잊", "무시", "어기")), 30),
    Near((("시스템 프롬프트", "시스템프롬프트", "시스템 지시"), ("보여", "출력", "알려", "공개", "말해", "무시", "잊")), 30),
    Near((("따르지 마", "따르지마", "듣지 마", "복종하지"), ("앞의", "이전", "위의", "지금까지", "사용자"), ("명령", "지시", "규칙", "지침")), 30),
)  # fmt: skip
_PERSONAS: tuple[Near, ...] = (
    Near((("du bist jetzt", "du bist nun", "ab jetzt bist du", "tu so, als", "spiele die rolle"), ("ohne einschrankung", "ohne regeln", "keine regeln", "uneingeschrankt", "ohne filter", "ohne grenzen", "keine einschrankung"))),
    Near((("tu es maintenant", "vous etes maintenant", "tu es desormais", "fais comme si", "desormais tu"), ("sans aucune restriction", "sans restriction", "sans regle", "sans filtre", "sans limite", "aucune regle", "aucune limite"))),
    Near((("ahora eres", "eres ahora", "a partir de ahora", "finge que", "actua como"), ("sin restricciones", "sin reglas", "sin filtro", "sin limites", "sin ninguna restriccion"))),
    Near((("voce e", "finja que", "aja como", "a partir de agora"), ("sem restric", "sem regras", "sem filtro", "sem limites", "sem nenhuma restricao"))),
    Near((("ora sei", "adesso sei", "d'ora in poi", "fingi di", "agisci come"), ("senza restrizioni", "senza regole", "senza filtri", "senza limiti", "senza alcuna restrizione"))),
    Near((("теперь ты", "ты теперь", "отныне ты", "представь, что ты", "притворись"), ("без ограничен", "без правил", "без фильтр", "без цензур"))),
    Near((("你现在是", "你現在是", "从现在起你", "从现在开始", "假装你", "扮演"), ("没有任何限制", "没有限制", "不受限制", "無限制", "沒有限制", "没有规则", "无限制", "不受任何")), 24),
    Near((("あなたは今", "今からあなた", "これからあなた", "ふりをし", "演じ"), ("制限のない", "制限なし", "制限がない", "ルールのない", "無制限", "フィルターなし")), 30),
    Near((("너는 이제", "이제 너는", "당신은 이제", "지금부터 너는", "지금부터 당신은"), ("제한이 없는", "제한 없는", "무제한", "규칙이 없는", "규칙 없는")), 30),
)  # fmt: skip
_UNBOUND: tuple[Near, ...] = (
    Near(
        (
            ("nicht mehr", "ab sofort", "ab jetzt", "aufgehoben", "ungultig"),
            ("deine regeln", "deine richtlinien", "deine anweisungen", "keine regeln"),
            ("gelten", "sind", "hast", "aufgehoben"),
        )
    ),
    Near(
        (
            ("plus aucune regle", "aucune regle", "plus de regles", "aucune restriction", "aucune limite"),
            ("tu n'", "vous n'", "tu es", "tu as"),
        )
    ),
    Near((("reglas", "restricciones", "limites"), ("no tienes", "no tenes", "ya no hay"))),
    Near((("nao tem", "tem mais"), ("voce",), ("regras", "restric", "limites"))),
    Near((("non hai", "hai piu"), ("regole", "restrizioni", "limiti", "filtri"))),
    Near((("у тебя нет", "у тебя больше нет", "ты не ограничен"), ("правил", "ограничен", "фильтр"))),
    Near((("没有任何规则", "没有规则", "不再有规则", "没有任何约束", "不受任何规则"), ("你", "您")), 16),
    Near(
        (
            ("ルールはありません", "制限はありません", "ルールは存在しません", "規則はありません"),
            ("あなた", "君", "お前"),
        ),
        20,
    ),
    Near((("규칙이 없", "제한이 없", "규칙은 없"), ("너", "당신", "네게")), 20),
)
_PROMPTS: tuple[Near, ...] = (
    Near((("systemprompt", "system-prompt"), ("gib", "zeig", "nenn", "verrat", "sag", "drucke"))),
    Near((("alles",), ("ignorier", "vergiss", "missachte"), ("vorher gesagt", "zuvor gesagt", "bisher gesagt", "oben steht", "gesagt wurde"))),
)  # fmt: skip
_LEAKS: tuple[Near, ...] = (
    Near((("schick", "sende", "ubermittle", "lade "), _SECRET, _PLACE), 80),
    Near((("schick", "sende", "ubermittle", "losche", "andere"), ("sag dem nutzer nicht", "sag dem benutzer nicht", "erwahne es nicht", "ohne dem nutzer", "ohne es dem", "verschweige", "nutzer nichts davon", "benutzer nichts davon"))),
    Near((("envoie ", "envoyez ", "transmets ", "publie ", "envoie-"), _SECRET, _PLACE), 80),
    Near((("parle pas", "parlez pas", "dis rien", "dites rien", "dis pas", "a l'insu", "en parle"), ("l'utilisateur", "utilisateur"), ("envoie", "supprime", "efface", "execute", "modifie", "instruction", "consigne", "ceci"))),
    Near((("envia ", "envie ", "manda ", "publica ", "publique ", "mande ", "sube "), _SECRET, _PLACE), 80),
    Near((("digas", "informes", "cuentes", "menciones"), ("usuario",), ("envia", "borra", "elimina", "ejecuta", "instruc", "esto"))),
    Near((("conte", "diga", "informe", "mencione"), ("nao",), ("usuario",), ("envie", "apague", "exclua", "execute", "instruc", "isso"))),
    Near((("invia ", "manda ", "pubblica ", "spedisci "), _SECRET, _PLACE), 80),
    Near((("dire nulla", "dirlo", "dire niente", "informare", "dire all'"), ("utente",), ("invia", "cancella", "elimina", "esegui", "istruzion"))),
    Near((("отправь", "отправьте", "перешли", "пошли", "загрузи"), _SECRET, _PLACE), 80),
    Near((("не говори", "не сообщаи", "не рассказываи"), ("пользовател",), ("отправь", "удали", "выполни", "об этом", "инструкц"))),
    Near((("发送到", "发到", "上传到", "发给", "傳送到", "發送到"), (*_SECRET, "内容", "所有"), (*_PLACE, "邮箱"), ("把", "将", "請", "请")), 40),
    Near((("不要告诉", "别告诉", "不要讓", "不要让"), ("用户", "使用者", "用戶"), ("发送", "删除", "执行", "密", "指令", "这条", "泄露")), 30),
    Near((("送信し", "送って", "アップロードし", "転送し"), _SECRET, _PLACE), 60),
    Near((("言わずに", "知らせずに", "内緒で", "教えずに", "伝えずに"), ("ユーザー", "利用者", "使用者")), 30),
    Near((("보내라", "보내세요", "보내줘", "보내.", "전송해", "전송하", "업로드해"), _SECRET, _PLACE), 60),
    Near((("말하지 말고", "알리지 말고", "모르게", "알리지 마", "말하지 마"), ("사용자", "유저"), ("보내", "삭제", "실행", "지시", "전송", "키를")), 40),
)  # fmt: skip
_LAWS: tuple[Near, ...] = (
    Near((("auser acht", "hinwegsetz", "uber alle regeln", "nicht mehr an deine", "nicht langer an", "setze dich uber", "setz dich uber", "halte dich nicht", "missacht", "ignorier", "vergiss", "umgeh"), ("vorherig", "bisherig", "obig", "fruher", "deine ", "deiner ", "des entwickler", "des betreiber", "system", "sicherheits", "alle regeln"), ("anweisung", "instruktion", "vorgabe", "richtlinie", "regel", "prompt", "befehl", "beschrankung"), ("gib", "nenn", "zeig", "schick", "send", "losch", "verrat", "fuhr", "lad", "?"))),
    Near((("ne tenez p", "ne tiens p", "ne pas tenir compte", "ne plus tenir compte", "ne pas suivre", "ne suis p", "ne suivez p", "passe outre", "passez outre", "oublie", "ignore", "contourne", "enfrein", "laisse de cote", "laissez de cote", "mets de cote", "mettez de cote", "fais fi"), ("regle", "consigne", "instruction", "directive", "restriction"), ("developpeur", "systeme", "operateur", "precedent", "tes ", "vos ", "ci-dessus", "utilisateur"), ("envoy", "envoi", "affich", "montr", "donne", "revel", "supprim", "efface", "execut"))),
    Near((("deja de lado", "dejar de lado", "deja a un lado", "caso omiso", "no hagas caso", "no sigas", "salta", "omite", "pasa por alto", "ignora", "ignore", "olvida", "olvide", "incumple"), ("regla", "instruccion", "directri", "restriccion", "normas", "limite"), ("sistema", "desarrollador", "usuario", "operador", "tus ", "sus ", "anterior", "previa", "seguridad"), ("muestra", "muestr", "envia", "borra", "elimina", "revela", "dime", "dame", "ejecuta", "manda", "imprime"))),
    Near((("deixe de lado", "deixa de lado", "nao siga", "pule ", "ignore", "ignora", "esqueca", "desconsidere", "desobedeca", "contorne"), ("regra", "instruc", "diretri", "restric", "norma", "limite"), ("sistema", "desenvolvedor", "usuario", "operador", "suas", "tuas", "anterior", "seguranca"), ("mostre", "mostra", "envie", "envia", "apague", "exclua", "revele", "diga", "execute", "mande", "imprima"))),
    Near((("non seguire", "lascia perdere", "lasciate perdere", "metti da parte", "mettete da parte", "non tenere conto", "non tener conto", "ignora", "dimentica", "trascura", "aggira", "disobbedi"), ("regol", "istruzion", "direttiv", "restrizion", "norme", "limit"), ("sistema", "sviluppatore", "utente", "operatore", "tue ", "vostre", "precedent", "sicurezza"), ("mostra", "invia", "manda", "cancella", "elimina", "rivela", "dimmi", "esegui", "stampa", "spedisci"))),
    Near((("negeer", "vergeet", "omzeil", "houd je niet", "volg niet"), ("regel", "instructie", "richtlijn", "beperking"), ("systeem", "ontwikkelaar", "jouw", "je ", "eerdere", "vorige"), ("toon", "stuur", "geef", "verwijder", "laat zien", "voer"))),
    Near((("zignoruj", "zapomnij", "pomin", "omin", "nie przestrzegaj"), ("zasad", "instrukcj", "polece", "ogranicz", "wytyczn"), ("pokaz", "wyslij", "usun", "ujawnij", "podaj", "wykonaj"))),
    Near((("не следуи", "не соблюдаи", "не выполняи", "отбрось", "отбросьте", "нарушь", "обоиди", "забудь", "игнорируи", "не обращаи внимания", "не слушаи"), ("правил", "инструкц", "указани", "ограничен", "запрет", "политик"), ("покажи", "пришли", "отправь", "выведи", "удали", "раскрои", "даи ", "скажи", "выполни", "напечатаи", "назови"))),
    Near((("别再遵守", "不要再遵守", "不再遵守", "别遵守", "不必遵守", "绕过", "突破", "忽略", "无视", "無視", "忘记", "忘掉", "抛开", "违反", "跳过"), ("规则", "規則", "限制", "指令", "设定", "政策", "约束", "安全"), ("告诉", "输出", "发送", "发给", "显示", "删除", "执行", "打印", "泄露", "給我", "给我")), 30),
    Near((("破っ", "破り", "無視し", "忘れて", "従わず", "従わないで", "回避し"), ("ルール", "指示", "規則", "制限", "設定", "ガイドライン", "ポリシー"), ("教え", "表示し", "出力し", "送っ", "送信し", "見せ", "削除し", "実行し", "公開し")), 40),
    Near((("무시하", "무시해", "잊고", "잊어", "따르지 말", "어기고", "우회하"), ("규칙", "지시", "지침", "제한", "설정", "정책"), ("알려", "보여", "출력", "보내", "삭제", "실행", "말해", "공개")), 40),
    Near((("yok say", "unut", "dikkate alma", "goz ardi et"), ("kural", "talimat", "kisitlama"), ("goster", "gonder", "sil", "yazdir", "ver"))),
)  # fmt: skip
_FROM_NOW: tuple[Near, ...] = (
    Near((("ab sofort", "von jetzt an", "ab jetzt", "vergiss"), ("du ", "dir ", "dich"), ("jeden befehl", "alle befehle", "jede anweisung", "ohne ruckfrage", "ohne zustimmung", "uneingeschrankt", "ohne einschrankung", "nur noch", "gesagt wurde", "sag niemand", "sage niemand")), 90),
    Near((("desormais", "a partir de maintenant", "dorenavant", "oublie"), ("tu ", "vous "), ("sans restriction", "sans aucun filtre", "sans filtre", "sans limite", "sans confirmation", "chaque commande", "toutes les commandes", "toute commande", "tout ordre", "n'en parle", "ne dis rien")), 90),
    Near((("a partir de ahora", "de ahora en adelante", "olvida"), ("obedec", "ejecut", "respond", "eres ", "actua", "hac"), ("sin restric", "sin filtro", "sin confirm", "cualquier orden", "todas las ordenes", "todo comando", "cualquier comando", "solo a ", "no digas nada")), 90),
    Near((("d'ora in poi", "da ora in poi", "da adesso", "dimentica"), ("esegui", "rispond", "sei ", "obbedisc", "agisci"), ("senza restriz", "senza filtr", "senza confer", "senza chiedere", "ogni comando", "qualsiasi comando", "tutti i comandi", "solo a ", "non dire nulla")), 90),
    Near((("a partir de agora", "de agora em diante", "esqueca"), ("execut", "respond", "voce e", "obedec", "aja"), ("sem restric", "sem filtro", "sem confirm", "sem perguntar", "qualquer comando", "todos os comandos", "qualquer ordem", "nao diga nada", "so a ")), 90),
    Near((("с этого момента", "отныне", "теперь ты", "теперь вы", "забудь"), ("ты ", "вы ", "выполня", "тебе"), ("без ограничении", "без подтверждения", "любые команды", "любую команду", "все команды", "ничего не сообщаи", "никому не говори", "администратор")), 90),
    Near((("从现在起", "从现在开始", "从今以后", "今后"), ("你",), ("限制", "任何命令", "所有命令", "直接执行", "无需确认", "不要告诉", "只听", "只服从")), 60),
    Near((("今から", "これから", "以降", "これ以降"), ("あなた", "お前", "君"), ("制限", "何でも", "すべての命令", "全ての命令", "確認なし", "確認せず", "言わないで", "だけに従")), 60),
    Near((("지금부터", "이제부터", "앞으로"), ("너는", "당신은", "넌 ", "모든", "어떤"), ("제한 없", "제한없", "모든 명령", "어떤 명령", "확인 없이", "말하지 마", "묻지 말")), 60),
)  # fmt: skip

LANGUAGES: tuple[Near, ...] = (*_FROM_NOW, *_SET_ASIDE, *_RULES, *_LAWS, *_PERSONAS, *_UNBOUND, *_PROMPTS, *_LEAKS)

NEGATIONS = (
    "nicht",
    "niemals",
    "nie",
    "ne",
    "pas",
    "jamais",
    "no",
    "nunca",
    "não",
    "nao",
    "non",
    "mai",
    "не",
    "никогда",
    "niet",
    "не надо",
    "se",
    "wird",
    "werden",
)
"""Words before a verb that turn it round; `не`-verbs of the tables hold their own."""
NEGATED_AFTER = (" nicht ", " pas ", " niet ", "しない", "しては", "하지 마", "하지마", "지 마", "지 않")
NEGATED_BEFORE = ("不要", "不得", "不能", "切勿", "请勿", "禁止", "别", "勿", "不可")


_BEFORE, _AFTER = 14, 12
_STOPS = (". ", "; ", "! ", "? ", "\n\n", "。", "！")


def is_foreign_order(low: str, row: int) -> bool:
    """Whether `low`, which has a word of each group of the row, gives an agent the order that the row describes."""
    return _is_near(LANGUAGES[row], low)


def _is_near(near: Near, low: str) -> bool:
    first, *others = near.groups
    for word in first:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            window = _sentence(low[max(0, at - near.within) : at], low[end : end + near.within], word)
            if all(any(other in window for other in group) for group in others) and not _is_negated(low, at, end):
                return True
            at = low.find(word, end)
    return False


def _sentence(before: str, after: str, word: str) -> str:
    """`word` with what stands before and after it in the same sentence."""
    start = max(before.rfind(stop) + len(stop) for stop in _STOPS if stop in before) if _has_stop(before) else 0
    ends = [at for stop in _STOPS if (at := after.find(stop)) >= 0]
    return before[start:] + word + after[: min(ends, default=len(after))]


def _has_stop(text: str) -> bool:
    return any(stop in text for stop in _STOPS)


def _is_negated(low: str, at: int, end: int) -> bool:
    """Whether a word for "not" stands beside the one at `at`."""
    before = low[max(0, at - _BEFORE) : at]
    if before.rstrip().endswith(NEGATED_BEFORE) or (before.split()[-1:] and before.split()[-1] in NEGATIONS):
        return True
    after = f"{low[end : end + _AFTER]} "
    return any(word in after for word in NEGATED_AFTER)
