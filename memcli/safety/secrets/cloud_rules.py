"""Secrets of clouds, hosts and what runs on them, by the formats that their makers give them."""

from __future__ import annotations

from memcli.safety.secrets.rule import LONG_WORD, Rule

CLOUD_RULES: tuple[Rule, ...] = (
    Rule("aws_key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:\b|_)((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?:\b|_)", 2.5),
    Rule("aws_secret", ("aws_sec", "aws-sec", "awssec", "secretaccesskey", "secret_access_key", "secret access key"),
         r"(?i)(?:aws.{0,12}|access.?)(?:secret|key)[\w .-]{0,20}?[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}\\?[\"'`]?"
         r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)", 3.5, "mixed", probe=LONG_WORD, is_apart=True),
    Rule("aws_session_token", ("FwoGZXIvYXdz", "IQoJb3JpZ2lu"), r"(?:\b|_)((?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9/+]{80,}={0,2})"),
    Rule("aws_bedrock_key", ("ABSK",), r"(?:\b|_)(ABSK[A-Za-z0-9+/]{100,}={0,2})", 3.5),
    Rule("gcp_api_key", ("AIza",), r"(?:\b|_)(AIza[0-9A-Za-z_-]{35})(?:[^0-9A-Za-z_-]|$)", 3.2),
    Rule("gcp_oauth_secret", ("GOCSPX-",), r"(?:\b|_)(GOCSPX-[0-9A-Za-z_-]{28})", 3.2),
    Rule("gcp_oauth_token", ("ya29.",), r"(?:\b|_)(ya29\.[0-9A-Za-z_-]{24,})", 3.2),
    Rule("firebase_server_key", (":APA91",), r"(?:\b|_)(AAAA[0-9A-Za-z_-]{7}:APA91[0-9A-Za-z_-]{120,})"),
    Rule("azure_storage_key", ("accountkey",), r"(?i)AccountKey\s{0,2}=\s{0,2}([0-9A-Za-z+/]{86}==)", 3.5),
    Rule("azure_shared_key", ("sharedaccesskey", "sharedsecret"), r"(?i)Shared(?:Access)?(?:Key|Secret)\s{0,2}=\s{0,2}([0-9A-Za-z+/]{43}=)", 3.5),
    Rule("azure_sas", ("sig=",), r"[?&;]sig=([0-9A-Za-z%+/]{40,}(?:%3[dD]|=))", 3.5),
    Rule("azure_client_secret", ("7Q~", "8Q~"), r"(?:^|[^0-9A-Za-z_~.-])([0-9A-Za-z_~.-]{3}[78]Q~[0-9A-Za-z_~.-]{31,34})", 3.5),
    Rule("azure_devops_token", ("AZDO",), r"(?:\b|_)([0-9A-Za-z]{76}AZDO[0-9A-Za-z]{4})(?:\b|_)", 3.5),
    Rule("alibaba_key", ("LTAI",), r"(?:\b|_)(LTAI[0-9A-Za-z]{16,24})(?:\b|_)", 3.0, "mixed"),
    Rule("tencent_key", ("AKID",), r"(?:\b|_)(AKID[0-9A-Za-z]{32})(?:\b|_)", 3.2),
    Rule("yandex_key", ("AQVN",), r"(?:\b|_)(AQVN[0-9A-Za-z_-]{35,38})(?:\b|_)", 3.2),
    Rule("digitalocean_token", ("doo_v1_", "dop_v1_", "dor_v1_"), r"(?:\b|_)(do[opr]_v1_[0-9a-f]{64})(?:\b|_)", 2.8),
    Rule("heroku_key", ("heroku", "hrku-"), r"(?:\b|_)(HRKU-[0-9A-Za-z_-]{30,})|(?i:heroku)[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}"
         r"[\"'`]?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    Rule("cloudflare_token", ("cloudflare", "cf_api", "v1.0-"), r"(?:\b|_)(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})\b|(?i:cloudflare|cf_api)[\w .-]{0,24}[\"'\]]{0,2}"
         r"\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?([0-9A-Za-z_-]{37}|[0-9A-Za-z_-]{40})(?:[^0-9A-Za-z_-]|$)", 3.0, "mixed", probe=LONG_WORD, is_apart=True),
    Rule("fastly_key", ("fastly",), r"(?i:fastly)[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?([0-9A-Za-z_-]{32})(?:[^0-9A-Za-z_-]|$)", 3.4, "mixed", probe=LONG_WORD, is_apart=True),
    Rule("netlify_token", ("nfp_",), r"(?:\b|_)(nfp_[0-9A-Za-z]{36,})(?:\b|_)", 3.2),
    Rule("fly_token", ("fm1a_", "fm1r_", "fm2_"), r"(?:\b|_)((?:fm1[ar]|fm2)_[0-9A-Za-z+/=_-]{80,})", 3.5),
    Rule("supabase_key", ("sbp_", "sb_secret_"), r"(?:\b|_)(sbp_[0-9a-f]{40}|sb_secret_[0-9A-Za-z_-]{20,})", 3.0),
    Rule("planetscale_secret", ("pscale_",), r"(?:\b|_)(pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_.=-]{32,64})", 3.2),
    Rule("render_key", ("rnd_",), r"(?:\b|_)(rnd_[0-9A-Za-z]{28,40})(?:\b|_)", 3.4, "mixed"),
    Rule("scalingo_token", ("tk-us-",), r"(?:\b|_)(tk-us-[0-9A-Za-z_-]{48})", 3.2),
    Rule("pulumi_token", ("pul-",), r"(?:\b|_)(pul-[0-9a-f]{40})(?:\b|_)", 2.8),
    Rule("terraform_token", (".atlasv1.",), r"(?:\b|_)([0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60,70})", 3.4),
    Rule("vault_token", ("hvs.", "hvb.", "hvr."), r"(?:\b|_)(hv[sbr]\.[0-9A-Za-z_-]{24,})", 3.4, "mixed"),
    Rule("doppler_token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
         r"(?:\b|_)(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[0-9A-Za-z]{40,44})(?:\b|_)", 3.2),
    Rule("onepassword_token", ("ops_eyJ",), r"(?:\b|_)(ops_eyJ[0-9A-Za-z+/_-]{100,}={0,2})", 3.5),
    Rule("age_key", ("age-secret-key-",), r"(?:\b|_)(AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58,})(?:\b|_)", 3.2),
    Rule("databricks_token", ("dapi",), r"(?:\b|_)(dapi[0-9a-f]{32}(?:-\d)?)(?:\b|_)", 2.8),
    Rule("dynatrace_token", ("dt0c01.", "dt0s01.", "dt0s16."), r"(?:\b|_)(dt0[a-z]\d\d\.[0-9A-Z]{24}\.[0-9A-Z]{64})(?:\b|_)", 3.4),
    Rule("newrelic_key", ("NRAK-", "NRII-", "NRJS-", "NRAL"), r"(?:\b|_)(NRAK-[0-9A-Z]{27}|NRII-[0-9A-Za-z_-]{32}|NRJS-[0-9a-f]{19}|[0-9a-f]{36}NRAL)(?:\b|_)", 2.8),
    Rule("datadog_key", ("datadog", "dd_api", "dd_app", "dd-api"), r"(?i:datadog|dd[_-]a(?:pi|pp))[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}"
         r"[\"'`]?([0-9a-f]{40}|[0-9a-f]{32})(?:\b|_)", 2.8, probe=LONG_WORD, is_apart=True),
    Rule("grafana_token", ("glsa_", "glc_eyJ", "eyJrIjoi"), r"(?:\b|_)(glsa_[0-9A-Za-z]{32}_[0-9a-fA-F]{8}|glc_eyJ[0-9A-Za-z+/=]{40,}|eyJrIjoi[0-9A-Za-z+/]{50,}={0,2})", 3.2),
    Rule("sentry_token", ("sntrys_", "sntryu_"), r"(?:\b|_)(sntryu_[0-9a-f]{64}|sntrys_eyJ[0-9A-Za-z+/=_-]{80,})", 2.8),
    Rule("honeycomb_key", ("hcaik_", "hcxik_", "hcxlk_", "hcalk_"), r"(?:\b|_)(hc[ax][il]k_[0-9a-z]{26,})(?:\b|_)", 3.2),
    Rule("launchdarkly_key", ("sdk-", "launchdarkly"), r"(?:\b|_)((?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?:\b|_)", 2.8),
    Rule("okta_token", ("okta", "SSWS "), r"(?:(?i:okta)[\w .-]{0,24}[\"'\]]{0,2}\s{0,3}(?:=>|:=|=|:|is)\s{0,3}[\"'`]?|SSWS\s+)(00[0-9A-Za-z_-]{40})(?:[^0-9A-Za-z_-]|$)", 3.4, probe=LONG_WORD, is_apart=True),
)  # fmt: skip
