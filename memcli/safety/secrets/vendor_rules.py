"""Secrets of code hosts, registries, models, messengers, payments and offices, by the formats of their makers."""

from __future__ import annotations

from memcli.safety.secrets.rule import LONG_WORD, Rule

_HEX = "0123456789abcdef"
_IS = r"[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?"

CODE_RULES: tuple[Rule, ...] = (
    Rule("github_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"(?:\b|_)(gh[pousr]_[0-9A-Za-z]{36,255})(?:\b|_)", 3.2),
    Rule("github_fine_grained_token", ("github_pat_",), r"(?:\b|_)(github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59})(?:\b|_)", 3.2),
    Rule("gitlab_token", ("glpat-", "glptt-", "glrt-", "gldt-", "glft-", "glsoat-", "glcbt-", "glimt-", "glagent-", "gloas-", "glffct-", "GR1348941"),
         r"(?:\b|_)(gl(?:pat|ptt|rt|dt|ft|soat|cbt|imt|agent|oas|ffct)-[0-9A-Za-z_.=-]{20,}|GR1348941[0-9A-Za-z_-]{20})", 3.2),
    Rule("bitbucket_token", ("ATBB",), r"(?:\b|_)(ATBB[0-9A-Za-z]{28,36})(?:\b|_)", 3.2),
    Rule("atlassian_token", ("ATATT3", "ATCTT3"), r"(?:\b|_)(AT[AC]TT3[0-9A-Za-z_=-]{60,})", 3.5),
    Rule("npm_token", ("npm_",), r"(?:\b|_)(npm_[0-9A-Za-z]{36})(?:\b|_)", 3.2),
    Rule("npmrc_token", ("_authtoken", "_auth="), r":_auth(?:Token)?\s{0,2}=\s{0,2}[\"']?([0-9A-Za-z+/=_-]{20,})", 3.0, "mixed", probe=LONG_WORD, is_apart=True),
    Rule("pypi_token", ("pypi-AgE",), r"(?:\b|_)(pypi-AgE[0-9A-Za-z_-]{50,})", 3.5),
    Rule("rubygems_key", ("rubygems_",), r"(?:\b|_)(rubygems_[0-9a-f]{48})(?:\b|_)", 2.8),
    Rule("crates_token", ("crates", "cargo"), r"(?:\b|_)(cio[0-9A-Za-z]{32})(?:\b|_)", 3.5, "mixed", probe=LONG_WORD, is_apart=True),
    Rule("docker_token", ("dckr_pat_", "dckr_oat_"), r"(?:\b|_)(dckr_[po]at_[0-9A-Za-z_-]{27,})", 3.2),
    Rule("nuget_key", ("oy2",), r"(?:\b|_)(oy2[a-z0-9]{43})(?:\b|_)", 3.2),
    Rule("artifactory_key", ("AKCp", "cmVmdGtuO"), r"(?:\b|_)(AKCp[0-9A-Za-z]{60,}|cmVmdGtuO[0-9A-Za-z]{50,})(?:\b|_)", 3.5),
    Rule("clojars_token", ("clojars_",), r"(?:\b|_)(CLOJARS_[0-9a-f]{60})(?:\b|_)", 2.8),
    Rule("circleci_token", ("CCIPAT_", "CCIPRJ_"), r"(?:\b|_)(CCI(?:PAT|PRJ)_[0-9A-Za-z]{22}_[0-9a-f]{40})(?:\b|_)", 3.0),
    Rule("buildkite_token", ("bkua_",), r"(?:\b|_)(bkua_[0-9a-f]{40})(?:\b|_)", 2.8),
    Rule("sonar_token", ("squ_", "sqp_", "sqa_"), r"(?:\b|_)(sq[pua]_[0-9a-f]{40})(?:\b|_)", 2.8),
    Rule("sourcegraph_token", ("sgp_",), r"(?:\b|_)(sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40})(?:\b|_)", 2.8),
    Rule("postman_key", ("PMAK-",), r"(?:\b|_)(PMAK-[0-9a-f]{24}-[0-9a-f]{34})(?:\b|_)", 2.8),
    Rule("linear_key", ("lin_api_", "lin_oauth_"), r"(?:\b|_)(lin_(?:api|oauth)_[0-9A-Za-z]{40,})(?:\b|_)", 3.2),
    Rule("notion_token", ("secret_", "ntn_"), r"(?:\b|_)(secret_[0-9A-Za-z]{43}|ntn_[0-9A-Za-z]{40,})(?:\b|_)", 3.5, "mixed"),
    Rule("airtable_token", ("airtable",), r"(?:\b|_)(pat[0-9A-Za-z]{14}\.[0-9a-f]{64})(?:\b|_)", 3.0, probe=LONG_WORD, is_apart=True),
    Rule("figma_token", ("figd_",), r"(?:\b|_)(figd_[0-9A-Za-z_-]{38,})", 3.2),
    Rule("clickup_token", tuple(f"pk_{n}" for n in range(10)), r"(?:\b|_)(pk_\d{6,10}_[0-9A-Z]{32})(?:\b|_)", 3.2),
    Rule("contentful_token", ("CFPAT-",), r"(?:\b|_)(CFPAT-[0-9A-Za-z_-]{43})", 3.2),
    Rule("postgres_neon_key", ("napi_",), r"(?:\b|_)(napi_[0-9a-z]{60,})(?:\b|_)", 3.2),
)  # fmt: skip

MODEL_RULES: tuple[Rule, ...] = (
    Rule("anthropic_key", ("sk-ant-",), r"(?:\b|_)(sk-ant-[a-z0-9]{3,10}-[0-9A-Za-z_-]{80,})", 3.5),
    Rule(
        "openai_key",
        ("sk-",),
        r"(?:\b|_)(sk-(?:proj|svcacct|admin|None)-[0-9A-Za-z_-]{40,}|sk-[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20}"
        r"|sk-[0-9A-Za-z]{48}|sk-[0-9a-f]{32})(?:[^0-9A-Za-z_-]|$)",
        3.0,
        "mixed",
    ),
    Rule("openrouter_key", ("sk-or-v1-",), r"(?:\b|_)(sk-or-v1-[0-9a-f]{64})(?:\b|_)", 2.8),
    Rule("huggingface_token", ("hf_", "api_org_"), r"(?:\b|_)((?:hf|api_org)_[A-Za-z0-9]{34})(?:\b|_)", 3.4),
    Rule("replicate_token", ("r8_",), r"(?:\b|_)(r8_[0-9A-Za-z]{37})(?:\b|_)", 3.2),
    Rule("groq_key", ("gsk_",), r"(?:\b|_)(gsk_[0-9A-Za-z]{52})(?:\b|_)", 3.2),
    Rule("perplexity_key", ("pplx-",), r"(?:\b|_)(pplx-[0-9A-Za-z]{48})(?:\b|_)", 3.2),
    Rule("xai_key", ("xai-",), r"(?:\b|_)(xai-[0-9A-Za-z]{70,})(?:\b|_)", 3.5),
    Rule("langsmith_key", ("lsv2_",), r"(?:\b|_)(lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})(?:\b|_)", 2.8),
    Rule("pinecone_key", ("pcsk_",), r"(?:\b|_)(pcsk_[0-9A-Za-z_]{50,})(?:\b|_)", 3.4),
    Rule("elevenlabs_key", tuple("sk_" + c for c in _HEX), r"(?:\b|_)(sk_[0-9a-f]{48})(?:\b|_)", 2.8),
    Rule("nvidia_key", ("nvapi-",), r"(?:\b|_)(nvapi-[0-9A-Za-z_-]{60,})", 3.4),
    Rule("tavily_key", ("tvly-",), r"(?:\b|_)(tvly-(?:dev-|prod-)?[0-9A-Za-z]{32})(?:\b|_)", 3.2),
)

SERVICE_RULES: tuple[Rule, ...] = (
    Rule("slack_token", ("xoxb-", "xoxa-", "xoxp-", "xoxe-", "xoxe.", "xoxo-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-"),
         r"(?:\b|_)(xox[abceoprsd](?:\.xox[bp])?-(?:\d-)?[0-9A-Za-z%/+_-]{20,}|xapp-\d-[0-9A-Z]{8,}-\d{8,}-[0-9a-f]{40,})", 3.0, "mixed"),
    Rule("slack_webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([0-9A-Za-z/_+-]{40,})", 3.2),
    Rule("discord_token", ("discord", "bot_token", "bot token", "bottoken", "bot.run", "client.run"), r"(?:\b|_)([MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,38})(?:[^0-9A-Za-z_-]|$)", 3.5, "mixed", probe=LONG_WORD, is_apart=True),
    Rule("discord_webhook", ("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/\d{17,20}/([0-9A-Za-z_-]{60,})", 3.4),
    Rule("telegram_token", (":AA",), r"(?:\b|_)(\d{8,10}:AA[0-9A-Za-z_-]{33})(?:[^0-9A-Za-z_-]|$)", 3.4),
    Rule("teams_webhook", ("webhook.office.com/",), r"webhook\.office\.com/webhookb2/([0-9A-Za-z@/_-]{60,})", 3.0),
    Rule("twilio_key", tuple("SK" + c for c in _HEX), r"(?:\b|_)(SK[0-9a-f]{32})(?:\b|_)", 2.8),
    Rule("twilio_auth_token", ("twilio",), r"(?i:twilio)" + _IS + r"([0-9a-f]{32})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    Rule("sendgrid_key", ("SG.",), r"(?:\b|_)(SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43})(?:[^0-9A-Za-z_-]|$)", 3.5),
    Rule("mailgun_key", ("mailgun", *("key-" + c for c in _HEX)), r"(?:\b|_)(key-[0-9a-f]{32})\b|(?i:mailgun)" + _IS + r"([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    Rule("mailchimp_key", tuple(f"-us{n}" for n in range(1, 10)), r"(?:\b|_)([0-9a-f]{32}-us\d{1,2})(?:\b|_)", 2.8),
    Rule("brevo_key", ("xkeysib-", "xsmtpsib-"), r"(?:\b|_)(x(?:key|smtp)sib-[0-9a-f]{64}-[0-9A-Za-z]{16})(?:\b|_)", 3.0),
    Rule("resend_key", ("re_",), r"(?:\b|_)(re_[0-9A-Za-z]{8}_[0-9A-Za-z]{24})(?:\b|_)", 3.4, "mixed", r"\bre_[0-9a-z]{8}_[0-9a-z]{24}"),
    Rule("hubspot_token", ("pat-na", "pat-eu"), r"(?:\b|_)(pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\b|_)", 2.8),
    Rule("pagerduty_key", ("pagerduty",), r"(?i:pagerduty)" + _IS + r"([0-9A-Za-z+_-]{20})(?:[^0-9A-Za-z+_-]|$)", 3.4, "mixed", probe=LONG_WORD, is_apart=True),
    Rule("stripe_key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"(?:\b|_)([sr]k_(?:live|test)_[0-9A-Za-z]{16,})(?:\b|_)", 3.0, "mixed"),
    Rule("stripe_webhook_secret", ("whsec_",), r"(?:\b|_)(whsec_[0-9A-Za-z+/]{32,}={0,2})", 3.2),
    Rule("square_token", ("EAAA", "sq0atp-", "sq0csp-"), r"(?:\b|_)(EAAA[0-9A-Za-z_-]{56,}|sq0atp-[0-9A-Za-z_-]{22}|sq0csp-[0-9A-Za-z_-]{43})", 3.2),
    Rule("braintree_token", ("access_token$",), r"(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})", 2.8),
    Rule("shopify_token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"(?:\b|_)(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})(?:\b|_)", 2.8),
    Rule("plaid_token", ("access-sandbox-", "access-development-", "access-production-"),
         r"(?:\b|_)(access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\b|_)", 2.8),
    Rule("razorpay_key", ("rzp_live_", "rzp_test_"), r"(?:\b|_)(rzp_(?:live|test)_[0-9A-Za-z]{14,})(?:\b|_)", 3.0),
    Rule("flutterwave_key", ("flwseck",), r"(?:\b|_)(FLWSECK(?:_TEST)?-[0-9a-fA-F]{12,40}-X)(?:\b|_)", 2.5),
    Rule("facebook_token", ("EAA",), r"(?:\b|_)(EAA[0-9A-Za-z]{80,})(?:\b|_)", 3.5, "mixed"),
    Rule("easypost_key", ("EZAK", "EZTK"), r"(?:\b|_)(EZ[AT]K[0-9A-Za-z]{54})(?:\b|_)", 3.5),
    Rule("shippo_token", ("shippo_",), r"(?:\b|_)(shippo_(?:live|test)_[0-9a-f]{40})(?:\b|_)", 2.8),
    Rule("mapbox_token", ("sk.eyJ",), r"(?:\b|_)(sk\.eyJ[0-9A-Za-z_-]{20,}\.[0-9A-Za-z_-]{20,})", 3.5),
    Rule("dropbox_token", ("sl.u.", "sl.A", "sl.B"), r"(?:\b|_)(sl\.(?:u\.)?[0-9A-Za-z_-]{120,})", 3.8, "mixed"),
    Rule("posthog_key", ("phx_",), r"(?:\b|_)(phx_[0-9A-Za-z]{40,})(?:\b|_)", 3.4),
)  # fmt: skip
