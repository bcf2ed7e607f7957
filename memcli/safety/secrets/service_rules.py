"""Secrets in the addresses of services, and those that are known by a number or name of the maker beside them."""

from __future__ import annotations

from memcli.safety.secrets.prefix_rules import UUID
from memcli.safety.secrets.rule import LONG_WORD, Rule

_HEX = "0123456789abcdef"
_IS = r"[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is|\s)\s{0,3}[\"'`]?"


def _address(kind: str, keywords: str, pattern: str, entropy: float = 2.0, judge: str = "") -> Rule:
    return Rule(kind, tuple(keywords.split()), pattern, entropy, judge)


ADDRESS_RULES: tuple[Rule, ...] = (
    _address("lark_webhook", "/open-apis/bot/", rf"/open-apis/bot/v2/hook/({UUID})"),
    _address("wecom_webhook", "qyapi.weixin.qq.com", rf"qyapi\.weixin\.qq\.com/cgi-bin/webhook/\w+\?key=({UUID})"),
    _address("dingtalk_webhook", "oapi.dingtalk.com", r"oapi\.dingtalk\.com/robot/\w+\?access_token=([0-9a-f]{64})"),
    _address("telegram_url_token", "api.telegram.org/", r"api\.telegram\.org/(?:file/)?bot(\d{6,12}:[0-9A-Za-z_-]{30,40})"),
    _address("zapier_webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/(\d{4,10}/[0-9a-z]{6,}(?:/silent)?)"),
    _address("make_webhook", ".make.com/ integromat.com/", r"hook\.(?:\w+\.)?(?:make|integromat)\.com/([0-9a-z]{28,36})"),
    _address("ifttt_key", "maker.ifttt.com/", r"maker\.ifttt\.com/\S{0,80}?/key/([0-9A-Za-z_-]{18,48})"),
    _address("google_chat_webhook", "chat.googleapis.com/", r"chat\.googleapis\.com/v1/spaces/\S{0,120}?[?&]token=([0-9A-Za-z_%-]{30,})"),
    _address("healthchecks_url", "hc-ping.com/", rf"hc-ping\.com/({UUID}|[0-9A-Za-z_-]{{22}})"),
    _address("mattermost_webhook", "/hooks/", r"https?://\S{3,80}/hooks/([0-9a-z]{26}|[0-9A-Za-z]{17,24}/[0-9A-Za-z]{32,64})(?:[^0-9A-Za-z/]|$)", 3.0),
    _address("sumologic_webhook", "sumologic.com/", r"collection\.(?:\w+\.)?sumologic\.com/receiver/v1/\w+/([0-9A-Za-z_+/-]{60,}={0,2})", 3.0),
    _address("pagerduty_url", "events.pagerduty.com/", r"events\.pagerduty\.com/\S{0,60}?/([0-9a-f]{32})"),
    _address("opsgenie_url", "api.opsgenie.com/", rf"api\.(?:eu\.)?opsgenie\.com/\S{{0,80}}?apiKey=({UUID})"),
    _address("workflow_sas", "sig=", r"[?&;]sig=([0-9A-Za-z_-]{43})(?:[^0-9A-Za-z_%=-]|$)", 3.5, "mixed"),
    _address("aws_signature", "-signature=", r"(?i)[?&]X-(?:Amz|Goog)-Signature=([0-9a-f]{64,512})", 3.0),
    _address("aws_url_token", "x-amz-security-token=", r"(?i)[?&]X-Amz-Security-Token=([0-9A-Za-z%+/=_-]{60,})", 3.2),
    _address("cloudfront_signature", "key-pair-id=", r"[?&]Signature=([0-9A-Za-z~_-]{100,})", 3.2),
    _address("otpauth_secret", "otpauth://", r"(?i)otpauth://[^\s\"'<>]*?[?&]secret=([A-Z2-7]{12,}=*)", 2.0),
    _address("oracle_password", "jdbc:oracle:", r"(?i)jdbc:oracle:(?:thin|oci8?):[^\s/@:]+/([^\s@\"'/]{4,})@", 0.0, "url"),
    _address("rapidapi_key", "jsn", r"(?:\b|_)([0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{5,6}jsn[0-9a-f]{12})(?:\b|_)", 2.8),
    _address("salesforce_session", "00D", r"(?:\b|_)(00D[0-9A-Za-z]{12,15}![0-9A-Za-z._]{60,})", 3.5),
    _address("roblox_cookie", "_|WARNING:-DO-NOT-SHARE", r"_\|WARNING:-DO-NOT-SHARE[^|]{20,200}\|_([0-9A-Fa-f]{100,})", 3.0),
    _address("deepl_key", ":fx", rf"(?:^|[^0-9A-Za-z-])({UUID}:fx)(?:\b|_)", 2.8),
    _address("maxmind_key", "_mmk", r"(?:\b|_)([0-9A-Za-z]{6}_[0-9A-Za-z]{29}_mmk)(?:\b|_)", 3.0),
    _address("azure_resource_key", "JQQJ99 AzSe AzCa AzFu +ACR APIM ACDb +ASt +ABa +AMC AIoT +ASb +AEh +ARm",
             r"(?:^|[^0-9A-Za-z+/_-])([0-9A-Za-z]{52}JQQJ99[0-9A-Za-z]{10,32}|[0-9A-Za-z]{42}(?:AzSe|\+ACR)[A-D][0-9A-Za-z+/]{5}|[0-9A-Za-z]{33}AzCa[A-P][0-9A-Za-z]{5}="
             r"|[0-9A-Za-z_-]{44}AzFu[0-9A-Za-z_-]{5}[AQgw]==|[0-9A-Za-z+/]{76}(?:APIM|ACDb|\+ASt|\+ABa|\+AMC)[0-9A-Za-z+/]{5}[AQgw]==|[0-9A-Za-z+/]{33}(?:AIoT|\+ASb|\+AEh|\+ARm)[A-P][0-9A-Za-z+/]{5}=)", 3.5, "mixed"),
    _address("bitwarden_token", "0.", rf"(?:^|[\s\"'=])(0\.{UUID}\.[0-9A-Za-z]{{28,32}}:[0-9A-Za-z+/]{{20,}}={{0,2}})", 3.2)._replace(probe=r"\b0\.[0-9a-f]{8}-"),
    _address("unleash_token", "production. development.", r"(?:^|[\s\"'=])((?:[\w-]+|\*):(?:production|development)\.[0-9a-f]{48,64})(?:\b|_)", 3.0),
    _address("ghost_admin_key", "ghost", r"(?:^|[^0-9a-f])([0-9a-f]{24}:[0-9a-f]{64})(?:\b|_)", 3.0)._replace(is_apart=True, probe=LONG_WORD),
    _address("zhipu_key", "zhipu glm bigmodel", r"(?:^|[^0-9a-f])([0-9a-f]{32}\.[0-9A-Za-z]{16})(?:\b|_)", 3.0)._replace(is_apart=True, probe=LONG_WORD),
    _address("deploy_hook", "api.netlify.com/build_hooks/ api.vercel.com/v1/integrations/deploy/ api.render.com/deploy/", r"(?:build_hooks/|integrations/deploy/\w+/|deploy/srv-\w+\?key=)([0-9A-Za-z_-]{8,})", 2.0, "mixed"),
    Rule("jwt", ("eyJ",), r"(?:\b|_)(eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{16,})", 3.5),
)  # fmt: skip


def _beside(kind: str, keywords: str, pattern: str, entropy: float = 2.8, judge: str = "") -> Rule:
    return Rule(kind, tuple(keywords.split()), pattern, entropy, judge, probe=LONG_WORD, is_apart=True)


BESIDE_RULES: tuple[Rule, ...] = (
    Rule("twilio_auth_token", tuple("AC" + digit for digit in _HEX),
         r"(?:\b|_)AC[0-9a-f]{32}[\"'`]?[\s,:;/|]{1,4}(?:[\w .-]{0,30}[\"'\]]{0,2}[\s:=,]{1,4}[\"'`]?)?([0-9a-f]{32})(?:\b|_)", 2.8),
    _beside("ngrok_token", "ngrok", r"(?:\b|_)([1-3][0-9A-Za-z]{26}_[0-9A-Za-z]{19,24})(?:\b|_)", 3.5),
    _beside("kubeadm_token", "kubeadm bootstrap discovery-token --token", r"(?:^|[\s\"'=:])([a-z0-9]{6}\.[a-z0-9]{16})(?:[^0-9A-Za-z.(]|$)", 3.0, "mixed")._replace(probe=r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"),
    _beside("kubeadm_certificate_key", "certificate-key", r"(?i)certificate-key[=\s\"':]{1,4}([0-9a-f]{64})(?:\b|_)"),
    _beside("kubeconfig_key", "client-key-data", r"client-key-data[\"']?\s{0,3}:\s{0,3}[\"']?([0-9A-Za-z+/]{40,}={0,2})", 3.2),
    _beside("vault_unseal_key", "unseal recovery", r"(?i)\b(?:unseal|recovery)[ _-]key(?:[ _-]?\d{1,2})?" + _IS + r"([0-9A-Za-z+/]{43,44}=?|[0-9a-f]{64,66})(?:[^0-9A-Za-z+/]|$)", 3.2),
    _beside("seed_phrase", "seed mnemonic recovery backup secret助记词 助记词 wallet",
            r"(?i)\b(?:seed|recovery|backup|secret|wallet)[ _-]?(?:phrase|words|seed)?\b[^\n:=]{0,30}(?:[:=]|is|\n)[\s\"'`]{0,4}((?:\d{0,2}[.)]?\s?[a-z]{3,8}[ ,]{1,2}){11,23}(?:\d{0,2}[.)]?\s?[a-z]{3,8}))(?:[^0-9A-Za-z]|$)"
            r"|(?:mnemonic|助记词)[\"']?[^\n:=]{0,20}[:=：]\s{0,2}[\"'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?:[^0-9A-Za-z]|$)", 3.0, "seed")._replace(probe=r"(?:[a-z]{3,8}[ ,]{1,2}(?:\d{1,2}[.)] ?)?){8}"),
    _beside("bitcoin_key", "wif bitcoin btc wallet privkey private", r"(?:\b|_)([5KL][1-9A-HJ-NP-Za-km-z]{50,51})(?:\b|_)", 4.0, "mixed"),
    _beside("stellar_secret", "stellar", r"(?:\b|_)(S[A-Z2-7]{55})(?:\b|_)", 3.8, "mixed"),
    _beside("ably_key", "ably_ ably: ably- ably.rest ably.realtime", r"(?:^|[\s\"'=:])([0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{6}:[0-9A-Za-z_-]{20,43})(?:[^0-9A-Za-z_-]|$)", 3.5, "mixed"),
    _beside("gitlab_session", "_gitlab_session", r"_gitlab_session=([0-9a-f]{32})"),
    _beside("facebook_app_token", "facebook graph. fb_ instagram", r"(?:^|[^0-9A-Za-z])(\d{13,17}\|[0-9A-Za-z_-]{27})(?:[^0-9A-Za-z_-]|$)", 3.2),
    _beside("openvpn_key", "openvpn", r"-----BEGIN OpenVPN Static key V1-----((?:[\s\\nr]{1,4}[0-9a-f]{32})+)", 2.8),
)  # fmt: skip
