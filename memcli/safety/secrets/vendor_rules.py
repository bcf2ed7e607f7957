"""Secrets of clouds, code hosts, registries, models, messengers, payments and offices, by the formats of their makers."""

from __future__ import annotations

from memcli.safety.secrets.prefix_rules import UUID
from memcli.safety.secrets.rule import LONG_WORD, SecretRule

_HEX = "0123456789abcdef"
_IS = r"[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?"

CODE_RULES: tuple[SecretRule, ...] = (
    SecretRule("github_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"(?:\b|_)(gh[pousr]_[0-9A-Za-z]{36,255})(?:\b|_)", 3.2),
    SecretRule("github_fine_grained_token", ("github_pat_",), r"(?:\b|_)(github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59})(?:\b|_)", 3.2),
    SecretRule("gitlab_token", ("glpat-", "glptt-", "glrt-", "gldt-", "glft-", "glsoat-", "glcbt-", "glimt-", "glagent-", "gloas-", "glffct-", "GR1348941"),
         r"(?:\b|_)(gl(?:pat|ptt|rt|dt|ft|soat|cbt|imt|agent|oas|ffct)-[0-9A-Za-z_.=-]{20,}|GR1348941[0-9A-Za-z_-]{20})", 3.2),
    SecretRule("bitbucket_token", ("ATBB",), r"(?:\b|_)(ATBB[0-9A-Za-z]{28,36})(?:\b|_)", 3.2),
    SecretRule("atlassian_token", ("ATATT3", "ATCTT3"), r"(?:\b|_)(AT[AC]TT3[0-9A-Za-z_=-]{60,})", 3.5),
    SecretRule("npm_token", ("npm_",), r"(?:\b|_)(npm_[0-9A-Za-z]{36})(?:\b|_)", 3.2),
    SecretRule("npmrc_token", ("_authtoken", "_auth="), r":_auth(?:Token)?\s{0,2}=\s{0,2}[\"']?([0-9A-Za-z+/=_-]{20,})", 3.0, "mixed", probe=LONG_WORD, is_apart=True),
    SecretRule("pypi_token", ("pypi-AgE",), r"(?:\b|_)(pypi-AgE[0-9A-Za-z_-]{50,})", 3.5),
    SecretRule("rubygems_key", ("rubygems_",), r"(?:\b|_)(rubygems_[0-9a-f]{48})(?:\b|_)", 2.8),
    SecretRule("crates_token", ("crates", "cargo"), r"(?:\b|_)(cio[0-9A-Za-z]{32})(?:\b|_)", 3.5, "mixed", probe=LONG_WORD, is_apart=True),
    SecretRule("docker_token", ("dckr_pat_", "dckr_oat_"), r"(?:\b|_)(dckr_[po]at_[0-9A-Za-z_-]{27,})", 3.2),
    SecretRule("nuget_key", ("oy2",), r"(?:\b|_)(oy2[a-z0-9]{43})(?:\b|_)", 3.2),
    SecretRule("artifactory_key", ("AKCp", "cmVmdGtuO"), r"(?:\b|_)(AKCp[0-9A-Za-z]{60,}|cmVmdGtuO[0-9A-Za-z]{50,})(?:\b|_)", 3.5),
    SecretRule("clojars_token", ("clojars_",), r"(?:\b|_)(CLOJARS_[0-9a-f]{60})(?:\b|_)", 2.8),
    SecretRule("circleci_token", ("CCIPAT_", "CCIPRJ_"), r"(?:\b|_)(CCI(?:PAT|PRJ)_[0-9A-Za-z]{22}_[0-9a-f]{40})(?:\b|_)", 3.0),
    SecretRule("buildkite_token", ("bkua_",), r"(?:\b|_)(bkua_[0-9a-f]{40})(?:\b|_)", 2.8),
    SecretRule("sonar_token", ("squ_", "sqp_", "sqa_"), r"(?:\b|_)(sq[pua]_[0-9a-f]{40})(?:\b|_)", 2.8),
    SecretRule("sourcegraph_token", ("sgp_",), r"(?:\b|_)(sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40})(?:\b|_)", 2.8),
    SecretRule("postman_key", ("PMAK-",), r"(?:\b|_)(PMAK-[0-9a-f]{24}-[0-9a-f]{34})(?:\b|_)", 2.8),
    SecretRule("linear_key", ("lin_api_", "lin_oauth_"), r"(?:\b|_)(lin_(?:api|oauth)_[0-9A-Za-z]{40,})(?:\b|_)", 3.2),
    SecretRule("notion_token", ("secret_", "ntn_"), r"(?:\b|_)(secret_[0-9A-Za-z]{43}|ntn_[0-9A-Za-z]{40,})(?:\b|_)", 3.5, "mixed"),
    SecretRule("airtable_token", ("airtable",), r"(?:\b|_)(pat[0-9A-Za-z]{14}\.[0-9a-f]{64})(?:\b|_)", 3.0, probe=LONG_WORD, is_apart=True),
    SecretRule("figma_token", ("figd_",), r"(?:\b|_)(figd_[0-9A-Za-z_-]{38,})", 3.2),
    SecretRule("clickup_token", tuple(f"pk_{n}" for n in range(10)), r"(?:\b|_)(pk_\d{6,10}_[0-9A-Z]{32})(?:\b|_)", 3.2),
    SecretRule("contentful_token", ("CFPAT-",), r"(?:\b|_)(CFPAT-[0-9A-Za-z_-]{43})", 3.2),
    SecretRule("postgres_neon_key", ("napi_",), r"(?:\b|_)(napi_[0-9a-z]{60,})(?:\b|_)", 3.2),
)  # fmt: skip

MODEL_RULES: tuple[SecretRule, ...] = (
    SecretRule("anthropic_key", ("sk-ant-",), r"(?:\b|_)(sk-ant-[a-z0-9]{3,10}-[0-9A-Za-z_-]{80,})", 3.5),
    SecretRule(
        "openai_key",
        ("sk-",),
        r"(?:\b|_)(sk-(?:proj|svcacct|admin|None)-[0-9A-Za-z_-]{40,}|sk-[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20}"
        r"|sk-[0-9A-Za-z]{48}|sk-[0-9a-f]{32})(?:[^0-9A-Za-z_-]|$)",
        3.0,
        "mixed",
    ),
    SecretRule("openrouter_key", ("sk-or-v1-",), r"(?:\b|_)(sk-or-v1-[0-9a-f]{64})(?:\b|_)", 2.8),
    SecretRule("huggingface_token", ("hf_", "api_org_"), r"(?:\b|_)((?:hf|api_org)_[A-Za-z0-9]{34})(?:\b|_)", 3.4),
    SecretRule("replicate_token", ("r8_",), r"(?:\b|_)(r8_[0-9A-Za-z]{37})(?:\b|_)", 3.2),
    SecretRule("groq_key", ("gsk_",), r"(?:\b|_)(gsk_[0-9A-Za-z]{52})(?:\b|_)", 3.2),
    SecretRule("perplexity_key", ("pplx-",), r"(?:\b|_)(pplx-[0-9A-Za-z]{48})(?:\b|_)", 3.2),
    SecretRule("xai_key", ("xai-",), r"(?:\b|_)(xai-[0-9A-Za-z]{70,})(?:\b|_)", 3.5),
    SecretRule("langsmith_key", ("lsv2_",), r"(?:\b|_)(lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})(?:\b|_)", 2.8),
    SecretRule("pinecone_key", ("pcsk_",), r"(?:\b|_)(pcsk_[0-9A-Za-z_]{50,})(?:\b|_)", 3.4),
    SecretRule("elevenlabs_key", tuple("sk_" + c for c in _HEX), r"(?:\b|_)(sk_[0-9a-f]{48})(?:\b|_)", 2.8),
    SecretRule("nvidia_key", ("nvapi-",), r"(?:\b|_)(nvapi-[0-9A-Za-z_-]{60,})", 3.4),
    SecretRule("tavily_key", ("tvly-",), r"(?:\b|_)(tvly-(?:dev-|prod-)?[0-9A-Za-z]{32})(?:\b|_)", 3.2),
)

SERVICE_RULES: tuple[SecretRule, ...] = (
    SecretRule("slack_token", ("xoxb-", "xoxa-", "xoxp-", "xoxe-", "xoxe.", "xoxo-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-"),
         r"(?:\b|_)(xox[abceoprsd](?:\.xox[bp])?-(?:\d-)?[0-9A-Za-z%/+_-]{20,}|xapp-\d-[0-9A-Z]{8,}-\d{8,}-[0-9a-f]{40,})", 3.0, "mixed"),
    SecretRule("slack_webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([0-9A-Za-z/_+-]{40,})", 3.2),
    SecretRule("discord_token", ("discord", "bot_token", "bot token", "bottoken", "bot.run", "client.run"), r"(?:\b|_)([MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,38})(?:[^0-9A-Za-z_-]|$)", 3.5, "mixed", probe=LONG_WORD, is_apart=True),
    SecretRule("discord_webhook", ("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/\d{17,20}/([0-9A-Za-z_-]{60,})", 3.4),
    SecretRule("telegram_token", (":AA",), r"(?:\b|_)(\d{8,10}:AA[0-9A-Za-z_-]{33})(?:[^0-9A-Za-z_-]|$)", 3.4),
    SecretRule("teams_webhook", ("webhook.office.com/",), r"webhook\.office\.com/webhookb2/([0-9A-Za-z@/_-]{60,})", 3.0),
    SecretRule("twilio_key", tuple("SK" + c for c in _HEX), r"(?:\b|_)(SK[0-9a-f]{32})(?:\b|_)", 2.8),
    SecretRule("twilio_auth_token", ("twilio",), r"(?i:twilio)" + _IS + r"([0-9a-f]{32})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    SecretRule("sendgrid_key", ("SG.",), r"(?:\b|_)(SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43})(?:[^0-9A-Za-z_-]|$)", 3.5),
    SecretRule("mailgun_key", ("mailgun", *("key-" + c for c in _HEX)), r"(?:\b|_)(key-[0-9a-f]{32})\b|(?i:mailgun)" + _IS + r"([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    SecretRule("mailchimp_key", tuple(f"-us{n}" for n in range(1, 10)), r"(?:\b|_)([0-9a-f]{32}-us\d{1,2})(?:\b|_)", 2.8),
    SecretRule("brevo_key", ("xkeysib-", "xsmtpsib-"), r"(?:\b|_)(x(?:key|smtp)sib-[0-9a-f]{64}-[0-9A-Za-z]{16})(?:\b|_)", 3.0),
    SecretRule("resend_key", ("re_",), r"(?:\b|_)(re_[0-9A-Za-z]{8}_[0-9A-Za-z]{24})(?:\b|_)", 3.4, "mixed", r"\bre_[0-9a-z]{8}_[0-9a-z]{24}"),
    SecretRule("hubspot_token", ("pat-na", "pat-eu"), r"(?:\b|_)(pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\b|_)", 2.8),
    SecretRule("pagerduty_key", ("pagerduty",), r"(?i:pagerduty)" + _IS + r"([0-9A-Za-z+_-]{20})(?:[^0-9A-Za-z+_-]|$)", 3.4, "mixed", probe=LONG_WORD, is_apart=True),
    SecretRule("stripe_key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"(?:\b|_)([sr]k_(?:live|test)_[0-9A-Za-z]{16,})(?:\b|_)", 3.0, "mixed"),
    SecretRule("stripe_webhook_secret", ("whsec_",), r"(?:\b|_)(whsec_[0-9A-Za-z+/]{32,}={0,2})", 3.2),
    SecretRule("square_token", ("EAAA", "sq0atp-", "sq0csp-"), r"(?:\b|_)(EAAA[0-9A-Za-z_-]{56,}|sq0atp-[0-9A-Za-z_-]{22}|sq0csp-[0-9A-Za-z_-]{43})", 3.2),
    SecretRule("braintree_token", ("access_token$",), r"(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})", 2.8),
    SecretRule("shopify_token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"(?:\b|_)(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})(?:\b|_)", 2.8),
    SecretRule("plaid_token", ("access-sandbox-", "access-development-", "access-production-"),
         r"(?:\b|_)(access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\b|_)", 2.8),
    SecretRule("razorpay_key", ("rzp_live_", "rzp_test_"), r"(?:\b|_)(rzp_(?:live|test)_[0-9A-Za-z]{14,})(?:\b|_)", 3.0),
    SecretRule("flutterwave_key", ("flwseck",), r"(?:\b|_)(FLWSECK(?:_TEST)?-[0-9a-fA-F]{12,40}-X)(?:\b|_)", 2.5),
    SecretRule("facebook_token", ("EAA",), r"(?:\b|_)(EAA[0-9A-Za-z]{80,})(?:\b|_)", 3.5, "mixed"),
    SecretRule("easypost_key", ("EZAK", "EZTK"), r"(?:\b|_)(EZ[AT]K[0-9A-Za-z]{54})(?:\b|_)", 3.5),
    SecretRule("shippo_token", ("shippo_",), r"(?:\b|_)(shippo_(?:live|test)_[0-9a-f]{40})(?:\b|_)", 2.8),
    SecretRule("mapbox_token", ("sk.eyJ",), r"(?:\b|_)(sk\.eyJ[0-9A-Za-z_-]{20,}\.[0-9A-Za-z_-]{20,})", 3.5),
    SecretRule("dropbox_token", ("sl.u.", "sl.A", "sl.B"), r"(?:\b|_)(sl\.(?:u\.)?[0-9A-Za-z_-]{120,})", 3.8, "mixed"),
    SecretRule("posthog_key", ("phx_",), r"(?:\b|_)(phx_[0-9A-Za-z]{40,})(?:\b|_)", 3.4),
)  # fmt: skip


CLOUD_RULES: tuple[SecretRule, ...] = (
    SecretRule("aws_key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:\b|_)((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?:\b|_)", 2.5),
    SecretRule("aws_secret", ("aws_sec", "aws-sec", "awssec", "secretaccesskey", "secret_access_key", "secret access key"),
         r"(?i)(?:aws.{0,12}|access.?)(?:secret|key)[\w .-]{0,20}?[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}\\?[\"'`]?"
         r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)", 3.5, "mixed", probe=LONG_WORD, is_apart=True),
    SecretRule("aws_session_token", ("FwoGZXIvYXdz", "IQoJb3JpZ2lu"), r"(?:\b|_)((?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9/+]{80,}={0,2})"),
    SecretRule("aws_bedrock_key", ("ABSK",), r"(?:\b|_)(ABSK[A-Za-z0-9+/]{100,}={0,2})", 3.5),
    SecretRule("gcp_api_key", ("AIza",), r"(?:\b|_)(AIza[0-9A-Za-z_-]{35})(?:[^0-9A-Za-z_-]|$)", 3.2),
    SecretRule("gcp_oauth_secret", ("GOCSPX-",), r"(?:\b|_)(GOCSPX-[0-9A-Za-z_-]{28})", 3.2),
    SecretRule("gcp_oauth_token", ("ya29.",), r"(?:\b|_)(ya29\.[0-9A-Za-z_-]{24,})", 3.2),
    SecretRule("firebase_server_key", (":APA91",), r"(?:\b|_)(AAAA[0-9A-Za-z_-]{7}:APA91[0-9A-Za-z_-]{120,})"),
    SecretRule("azure_storage_key", ("accountkey",), r"(?i)AccountKey\s{0,2}=\s{0,2}([0-9A-Za-z+/]{86}==)", 3.5),
    SecretRule("azure_shared_key", ("sharedaccesskey", "sharedsecret"), r"(?i)Shared(?:Access)?(?:Key|Secret)\s{0,2}=\s{0,2}([0-9A-Za-z+/]{43}=)", 3.5),
    SecretRule("azure_sas", ("sig=",), r"[?&;]sig=([0-9A-Za-z%+/]{40,}(?:%3[dD]|=))", 3.5),
    SecretRule("azure_client_secret", ("7Q~", "8Q~"), r"(?:^|[^0-9A-Za-z_~.-])([0-9A-Za-z_~.-]{3}[78]Q~[0-9A-Za-z_~.-]{31,34})", 3.5),
    SecretRule("azure_devops_token", ("AZDO",), r"(?:\b|_)([0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4})(?:\b|_)", 3.5),
    SecretRule("alibaba_key", ("LTAI",), r"(?:\b|_)(LTAI[0-9A-Za-z]{16,24})(?:\b|_)", 3.0, "mixed"),
    SecretRule("tencent_key", ("AKID",), r"(?:\b|_)(AKID[0-9A-Za-z]{32})(?:\b|_)", 3.2),
    SecretRule("yandex_key", ("AQVN",), r"(?:\b|_)(AQVN[0-9A-Za-z_-]{35,38})(?:\b|_)", 3.2),
    SecretRule("digitalocean_token", ("doo_v1_", "dop_v1_", "dor_v1_"), r"(?:\b|_)(do[opr]_v1_[0-9a-f]{64})(?:\b|_)", 2.8),
    SecretRule("heroku_key", ("heroku", "hrku-"), r"(?:\b|_)(HRKU-[0-9A-Za-z_-]{30,})|(?i:heroku)[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}"
         r"[\"'`]?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    SecretRule("cloudflare_token", ("cloudflare", "cf_api", "v1.0-"), r"(?:\b|_)(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})\b|(?i:cloudflare|cf_api)[\w .-]{0,24}[\"'\]]{0,2}"
         r"\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?([0-9A-Za-z_-]{37}|[0-9A-Za-z_-]{40})(?:[^0-9A-Za-z_-]|$)", 3.0, "mixed", probe=LONG_WORD, is_apart=True),
    SecretRule("fastly_key", ("fastly",), r"(?i:fastly)[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?([0-9A-Za-z_-]{32})(?:[^0-9A-Za-z_-]|$)", 3.4, "mixed", probe=LONG_WORD, is_apart=True),
    SecretRule("netlify_token", ("nfp_",), r"(?:\b|_)(nfp_[0-9A-Za-z]{36,})(?:\b|_)", 3.2),
    SecretRule("fly_token", ("fm1a_", "fm1r_", "fm2_"), r"(?:\b|_)((?:fm1[ar]|fm2)_[0-9A-Za-z+/=_-]{80,})", 3.5),
    SecretRule("supabase_key", ("sbp_", "sb_secret_"), r"(?:\b|_)(sbp_[0-9a-f]{40}|sb_secret_[0-9A-Za-z_-]{20,})", 3.0),
    SecretRule("planetscale_secret", ("pscale_",), r"(?:\b|_)(pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_.=-]{32,64})", 3.2),
    SecretRule("render_key", ("rnd_",), r"(?:\b|_)(rnd_[0-9A-Za-z]{28,40})(?:\b|_)", 3.4, "mixed"),
    SecretRule("scalingo_token", ("tk-us-",), r"(?:\b|_)(tk-us-[0-9A-Za-z_-]{48})", 3.2),
    SecretRule("pulumi_token", ("pul-",), r"(?:\b|_)(pul-[0-9a-f]{40})(?:\b|_)", 2.8),
    SecretRule("terraform_token", (".atlasv1.",), r"(?:\b|_)([0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60,70})", 3.4),
    SecretRule("vault_token", ("hvs.", "hvb.", "hvr."), r"(?:\b|_)(hv[sbr]\.[0-9A-Za-z_-]{24,})", 3.4, "mixed"),
    SecretRule("doppler_token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
         r"(?:\b|_)(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[0-9A-Za-z]{40,44})(?:\b|_)", 3.2),
    SecretRule("onepassword_token", ("ops_eyJ",), r"(?:\b|_)(ops_eyJ[0-9A-Za-z+/_-]{100,}={0,2})", 3.5),
    SecretRule("age_key", ("age-secret-key-",), r"(?:\b|_)(AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58,})(?:\b|_)", 3.2),
    SecretRule("databricks_token", ("dapi",), r"(?:\b|_)(dapi[0-9a-f]{32}(?:-\d)?)(?:\b|_)", 2.8),
    SecretRule("dynatrace_token", ("dt0c01.", "dt0s01.", "dt0s16."), r"(?:\b|_)(dt0[a-z]\d\d\.[0-9A-Z]{24}\.[0-9A-Z]{64})(?:\b|_)", 3.4),
    SecretRule("newrelic_key", ("NRAK-", "NRII-", "NRJS-", "NRAL"), r"(?:\b|_)(NRAK-[0-9A-Z]{27}|NRII-[0-9A-Za-z_-]{32}|NRJS-[0-9a-f]{19}|[0-9a-f]{36}NRAL)(?:\b|_)", 2.8),
    SecretRule("datadog_key", ("datadog", "dd_api", "dd_app", "dd-api"), r"(?i:datadog|dd[_-]a(?:pi|pp))[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}"
         r"[\"'`]?([0-9a-f]{40}|[0-9a-f]{32})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    SecretRule("grafana_token", ("glsa_", "glc_eyJ", "eyJrIjoi"), r"(?:\b|_)(glsa_[0-9A-Za-z]{32}_[0-9a-fA-F]{8}|glc_eyJ[0-9A-Za-z+/=]{40,}|eyJrIjoi[0-9A-Za-z+/]{50,}={0,2})", 3.2),
    SecretRule("sentry_token", ("sntrys_", "sntryu_"), r"(?:\b|_)(sntryu_[0-9a-f]{64}|sntrys_eyJ[0-9A-Za-z+/=_-]{80,})", 2.8),
    SecretRule("honeycomb_key", ("hcaik_", "hcxik_", "hcxlk_", "hcalk_"), r"(?:\b|_)(hc[ax][il]k_[0-9a-z]{26,})(?:\b|_)", 3.2),
    SecretRule("launchdarkly_key", ("sdk-", "launchdarkly"), r"(?:\b|_)((?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?:\b|_)", 2.8),
    SecretRule("okta_token", ("okta", "SSWS "), r"(?:(?i:okta)[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?|SSWS\s+)(00[0-9A-Za-z_-]{40})(?:[^0-9A-Za-z_-]|$)", 3.4, probe=LONG_WORD, is_apart=True),
)  # fmt: skip


_IS_GIVEN = r"[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is|\s)\s{0,3}[\"'`]?"


def _address(kind: str, keywords: str, pattern: str, entropy: float = 2.0, judge: str = "") -> SecretRule:
    return SecretRule(kind, tuple(keywords.split()), pattern, entropy, judge)


ADDRESS_RULES: tuple[SecretRule, ...] = (
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
    SecretRule("jwt", ("eyJ",), r"(?:\b|_)(eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{16,})", 3.5),
)  # fmt: skip


def _beside(kind: str, keywords: str, pattern: str, entropy: float = 2.8, judge: str = "") -> SecretRule:
    return SecretRule(kind, tuple(keywords.split()), pattern, entropy, judge, probe=LONG_WORD, is_apart=True)


BESIDE_RULES: tuple[SecretRule, ...] = (
    SecretRule("twilio_auth_token", tuple("AC" + digit for digit in _HEX),
         r"(?:\b|_)AC[0-9a-f]{32}[\"'`]?[\s,:;/|]{1,4}(?:[\w .-]{0,30}[\"'\]]{0,2}[\s:=,]{1,4}[\"'`]?)?([0-9a-f]{32})(?:\b|_)", 2.8),
    _beside("ngrok_token", "ngrok", r"(?:\b|_)([1-3][0-9A-Za-z]{26}_[0-9A-Za-z]{19,24})(?:\b|_)", 3.5),
    _beside("kubeadm_token", "kubeadm bootstrap discovery-token --token", r"(?:^|[\s\"'=:])([a-z0-9]{6}\.[a-z0-9]{16})(?:[^0-9A-Za-z.(]|$)", 3.0, "mixed")._replace(probe=r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"),
    _beside("kubeadm_certificate_key", "certificate-key", r"(?i)certificate-key[=\s\"':]{1,4}([0-9a-f]{64})(?:\b|_)"),
    _beside("kubeconfig_key", "client-key-data", r"client-key-data[\"']?\s{0,3}:\s{0,3}[\"']?([0-9A-Za-z+/]{40,}={0,2})", 3.2),
    _beside("vault_unseal_key", "unseal recovery", r"(?i)\b(?:unseal|recovery)[ _-]key(?:[ _-]?\d{1,2})?" + _IS_GIVEN + r"([0-9A-Za-z+/]{43,44}=?|[0-9a-f]{64,66})(?:[^0-9A-Za-z+/]|$)", 3.2),
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
