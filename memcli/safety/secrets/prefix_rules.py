"""Secrets of the many services whose tokens begin with a prefix of their own, one a line: kind, prefixes, what follows."""

from __future__ import annotations

import re

from memcli.safety.secrets.rule import LONG_WORD, SecretRule

_B = "[0-9A-Za-z]"
_U = "[0-9A-Za-z_-]"
_X = "[0-9a-f]"
_L = "[0-9a-z]"
_C = "[0-9A-Z]"
_S = "[0-9A-Za-z+/]"
_DISTINCT = 5
"""Characters from which on a prefix is seldom part of another word."""
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _fixed(kind: str, prefixes: str, body: str, entropy: float = 2.8, judge: str = "") -> SecretRule:
    """The rule for words that begin with one of some prefixes, which stand as they are written, blanks between them."""
    words = prefixes.split()
    start = "|".join(map(re.escape, words))
    probe = rf"(?:{start.lower()})\S{{16}}" if min(map(len, words)) < _DISTINCT else ""
    return SecretRule(
        kind, tuple(words), rf"(?:^|[^0-9A-Za-z-])((?:{start}){body})(?:[^0-9A-Za-z]|$)", entropy, judge, probe
    )


def _beside(kind: str, names: str, prefixes: str, body: str, entropy: float = 2.8, judge: str = "") -> SecretRule:
    """The rule for words whose prefix is too common to go by, in a text that has one of some names too."""
    rule = _fixed(kind, prefixes, body, entropy, judge)
    return rule._replace(keywords=tuple(names.split()), probe=LONG_WORD, is_apart=True)


PREFIX_RULES: tuple[SecretRule, ...] = (
    # Clouds, hosts and networks
    _fixed("aws_appsync_key", "da2-", _L + "{26}", 3.0, "mixed"),
    _fixed("amazon_mws_token", "amzn.mws.", UUID),
    _fixed("amazon_client_secret", "amzn1.oa2-cs.v1.", _X + "{64}"),
    _fixed("amazon_oauth_token", "Atza| Atzr|", "[0-9A-Za-z_/+=-]{60,}", 3.5),
    _fixed("google_refresh_token", "1//0", _U + "{40,}", 3.5),
    _fixed("google_auth_key", "AQ.Ab", _U + "{40,}", 3.5),
    _fixed("cloudflare_key", "cfut_ cfat_ cfk_", _B + "{40,}"),
    _fixed("cloudflare_tunnel_token", "eyJhIjoi", "[0-9A-Za-z+/_-]{80,}={0,2}", 3.5),
    _fixed("tailscale_key", "tskey-", "(?:[a-z]{2,10}-)?[0-9A-Za-z]{8,}-[0-9A-Za-z]{12,}", 3.0),
    _fixed("netbird_token", "nbp_", _B + "{36}", 3.0),
    _fixed("defined_key", "dnkey-", "[0-9A-Za-z=_-]{26}-[0-9A-Za-z=_-]{52}", 3.2),
    _fixed("vercel_token", "vcp_ vci_ vca_ vcr_ vck_", _B + "{24,}", 3.2, "mixed"),
    _fixed("netlify_oauth_token", "nfo_ nfu_ nfc_ nfb_", _B + "{36,}", 3.2),
    _fixed("deno_token", "ddp_ ddo_ ddw_", _B + "{36}", 3.0),
    _fixed("valtown_token", "vtwn_", _B + "{24,}", 3.0),
    _fixed("fly_org_token", "fo1_", _U + "{43}", 3.2),
    _fixed("upcloud_token", "ucat_", _C + "{26}", 3.0),
    _fixed("porkbun_key", "sk1_ pk1_", _X + "{64}"),
    _fixed("dnsimple_token", "dnsimple_a_ dnsimple_u_", "[0-9A-Za-z_]{28,}", 3.0),
    _fixed("openshift_token", "sha256~", _U + "{43}", 3.2),
    _fixed("rancher_token", "token- kubeconfig-u- kubeconfig-user-", "[a-z0-9.]{5,12}:[a-z0-9]{54}", 3.2),
    _fixed("portainer_token", "ptr_", "[0-9A-Za-z+/]{43}=", 3.2),
    _fixed("proxmox_token", "PVEAPIToken=", r"[\w.@-]{3,40}![\w.-]{1,40}=" + UUID),
    _fixed("yandex_oauth_token", "y0_ y1_ y2_ y3_", _U + "{50,}", 3.5),
    _fixed("yandex_iam_token", "t1.", r"[0-9A-Za-z_-]{20,}={0,2}\.[0-9A-Za-z_-]{86}={0,2}", 3.5),
    _beside("yandex_secret", "yandex yc_ cloud.ya", "YCM YCN YCO YCP", _U + "{37}", 3.5, "mixed"),
    _fixed("vk_token", "vk1.a.", _U + "{60,}", 3.5),
    _fixed("baidu_key", "bce-v3/ALTAK-", "[0-9A-Za-z]{18,24}/[0-9a-f]{40}"),
    _beside("vault_service_token", "vault", "s.", "[0-9A-Za-z]{24}", 3.5, "mixed"),
    _fixed("terraform_agent_token", "tfe-", _B + "{40,}", 3.2, "mixed"),
    _fixed("infracost_key", "ico-", _B + "{32}", 3.2),
    _beside("infisical_token", "infisical", "st.", UUID + r"\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    _beside("spacelift_key", "spacelift", "sl_", "[0-9a-f]{64}"),
    _fixed("aiven_secret", "AVNS_ aivenv1-", "[0-9A-Za-z_+/-]{18,}={0,2}", 3.0, "mixed"),
    # Databases
    _fixed("neon_password", "npg_", _B + "{12,}", 2.8, "mixed"),
    _fixed("mongodb_secret", "mdb_sa_sk_", "[0-9A-Za-z_-]{40,}", 3.2),
    _fixed("xata_key", "xau_", _B + "{28,}", 3.2),
    _fixed("fauna_secret", "fnA", "[0-9A-Za-z_-]{37}", 3.5, "mixed"),
    _fixed("cockroach_key", "CCDB1_", "[0-9A-Za-z]{22}_[0-9A-Za-z]{40}", 3.2),
    _fixed("astra_token", "AstraCS:", "[0-9A-Za-z]{20,30}:[0-9a-f]{64}"),
    _fixed("materialize_password", "mzp_", _X + "{64}"),
    _fixed("elastic_key", "essu_", "[0-9A-Za-z_+/=-]{40,}", 3.2),
    _fixed("tinybird_token", "p.eyJ", r"[0-9A-Za-z_-]{40,}\.[0-9A-Za-z_-]{40,}", 3.5),
    _fixed("couchbase_key", "cbc-pat-", _U + "{40,}", 3.2),
    # Models and what serves them
    _fixed("cerebras_key", "csk-", _L + "{40,}", 3.2),
    _fixed("langfuse_key", "sk-lf-", UUID),
    _fixed("langchain_key", "ls__", _B + "{32,}"),
    _fixed("together_key", "tgp_v1_", _U + "{40,}", 3.2),
    _fixed("fireworks_key", "fw_", _B + "{22,40}", 3.2, "mixed"),
    _beside("voyage_key", "voyage", "pa- al-", "[0-9A-Za-z_-]{40,50}", 3.8, "mixed"),
    _fixed("jina_key", "jina_", "[0-9A-Za-z_-]{40,}", 3.5, "mixed"),
    _fixed("anyscale_key", "esecret_", "[0-9A-Za-z]{26,}", 3.0),
    _beside("modal_token", "modal", "ak- as-", "[0-9A-Za-z]{22}", 3.4, "mixed"),
    _fixed("runpod_key", "rpa_", "[0-9A-Z]{36,}[0-9a-z]{0,10}", 3.0),
    _beside("firecrawl_key", "firecrawl", "fc-", _X + "{32}"),
    _fixed("e2b_key", "e2b_", _X + "{40}"),
    _fixed("browserbase_key", "bb_live_ bb_test_", _U + "{24,}", 3.0, "mixed"),
    _fixed("llamaindex_key", "llx-", _B + "{40,}", 3.2),
    _fixed("kaggle_token", "KGAT_", _X + "{32}"),
    _fixed("wandb_token", "wandb_v1_", "[0-9A-Za-z_]{40,}", 3.2),
    _fixed("cursor_key", "crsr_", "[0-9a-f]{64}"),
    _fixed("friendli_token", "flp_", _B + "{24,}", 3.2),
    _fixed("openai_session", "sess-", _B + "{40}", 3.5),
    _beside("upstage_key", "upstage", "up_", _B + "{29}", 3.4, "mixed"),
    _beside("dify_key", "dify_api dify.ai dify_key", "app- dataset-", "[0-9A-Za-z]{24}", 3.6, "mixed"),
    # Code, packages, builds
    _fixed("gitlab_workspace_token", "glwt-", _U + "{20,}", 3.2),
    _fixed("bitbucket_server_token", "BBDC-", "[0-9A-Za-z+/@_-]{40,50}", 3.2),
    _fixed("trello_token", "ATTA", "[0-9A-Za-z]{60,}", 3.2),
    _fixed("jetbrains_token", "perm: perm-", r"[0-9A-Za-z+/=]{4,40}\.[0-9A-Za-z+/=]{2,40}\.[0-9A-Za-z+/=]{24,}", 3.2),
    _fixed("teamcity_token", "eyJ0eXAiOiAiVENWMiJ9.", r"[0-9A-Za-z_-]{20,}\.[0-9A-Za-z_-]{20,}", 3.2),
    _beside("phabricator_token", "phabricator conduit phab", "cli- api-", "[0-9a-z]{28}", 3.2),
    _fixed("octopus_key", "API-", "[0-9A-Z]{25,32}", 3.2, "mixed"),
    _fixed("prefect_key", "pnu_ pnb_", _B + "{36}", 3.0),
    _fixed("snyk_token", "snyk_uat. snyk_sat.", r"[0-9a-f]{8}\.[0-9A-Za-z_.-]{40,}", 3.2),
    _fixed("harness_token", "pat. sat.", r"[0-9A-Za-z_-]{22}\.[0-9a-f]{24}\.[0-9A-Za-z]{20}", 3.2),
    _fixed("stackhawk_key", "hawk.", r"[0-9A-Za-z_-]{20}\.[0-9A-Za-z_-]{20}", 3.2),
    _fixed("chromatic_token", "chpt_", _L + "{12,}", 2.8, "mixed"),
    _fixed("gitpod_token", "gitpod_pat_", "[0-9A-Za-z._-]{30,}", 3.2),
    _fixed("jsr_token", "jsrp_ jsrd_", _B + "{40,}", 3.2),
    _fixed("buildkite_agent_token", "bkct_ bkaj_ bkar_", "[0-9A-Za-z_.-]{30,}", 3.2),
    _fixed("depot_token", "depot_org_ depot_project_", _X + "{64}"),
    _fixed("readme_key", "rdme_", _L + "{70}", 3.2),
    _fixed("settlemint_token", "sm_aat_ sm_pat_ sm_sat_", _B + "{16}", 3.0),
    _fixed("dbt_token", "dbtc_ dbtu_", "[0-9A-Za-z_-]{40,}", 3.2),
    _fixed("databricks_secret", "dose dkea", _X + "{32}"),
    _fixed("docker_swarm_token", "SWMTKN-1-", "[0-9a-z]{50}-[0-9a-z]{25}", 3.2),
    _fixed("docker_swarm_unlock_key", "SWMKEY-1-", "[0-9A-Za-z+/]{43}", 3.2),
    _fixed("sidekiq_license", "contribsys.com= CONTRIBSYS__COM=", "[0-9a-f]{8}:[0-9a-f]{8}", 2.0),
    _fixed("onepassword_secret_key", "A3-", "[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}", 3.0, "mixed"),
    _fixed("sourcegraph_license", "slk_ sgd_", _X + "{64}"),
    # Offices, messengers, mail
    _fixed("typeform_token", "tfp_", "[0-9A-Za-z_.=-]{40,}", 3.2),
    _fixed("slack_workflow_token", "xwfp-", "[0-9A-Za-z-]{20,}", 3.0, "mixed"),
    _fixed("dingtalk_secret", "SEC", _X + "{64}"),
    _fixed("matrix_token", "syt_ mct_", r"[0-9A-Za-z]{4,}_[0-9A-Za-z]{16,}_[0-9A-Za-z]{6}", 3.2),
    _fixed("asana_token", "0/1 1/1 2/1", "[0-9]{14,16}(?:/[0-9]{15,17})?:[0-9a-f]{32}"),
    _fixed("intercom_token", "dG9rO", "[0-9A-Za-z+/_-]{52,}={0,2}", 3.2),
    _fixed("retool_token", "retool_", _L + "{26,}", 3.2, "mixed"),
    _fixed("frameio_token", "fio-u-", _U + "{64}", 3.2),
    _fixed("figma_oauth_token", "figo_ figu_ figor_ figoh_", _U + "{38,}", 3.2),
    _fixed("mailersend_token", "mlsn.", _X + "{64}"),
    _beside("mandrill_key", "mandrill mailchimp", "md-", "[0-9A-Za-z_-]{22}", 3.4, "mixed"),
    _fixed("onesignal_key", "os_v2_app_ os_v2_org_", _L + "{60,}", 3.2),
    _fixed("pubnub_key", "sec-c-", "[0-9A-Za-z+/=-]{36,}"),
    _beside("ntfy_token", "ntfy", "tk_", _L + "{29}", 3.2, "mixed"),
    _beside("pushbullet_token", "pushbullet", "o.", "[0-9A-Za-z]{32}", 3.8, "mixed"),
    _beside("klaviyo_key", "klaviyo", "pk_", _X + "{34}"),
    _fixed("courier_key", "pk_prod_ pk_test_", "[0-9A-Z]{28}", 3.2),
    _beside("authress_key", "authress .acc_ .acc-", "sc_ ext_ scauth_ authress_", r"[0-9a-z]{5,30}\.[0-9a-z]{4,6}\.acc[_-][0-9a-z-]{10,32}\.[0-9A-Za-z+/_=-]{30,120}", 3.2),
    _fixed("ory_token", "ory_pat_ ory_st_ ory_at_ ory_rt_ ory_ac_ ory_wak_", "[0-9A-Za-z_.-]{28,}", 3.2, "mixed"),
    _fixed("stytch_secret", "secret-live- secret-test-", "[0-9A-Za-z_-]{30,}={0,2}", 3.2),
    _fixed("salesforce_refresh_token", "5Aep861", r"[0-9A-Za-z._]{60,}", 3.5),
    _fixed("microsoft_refresh_token", "M.C5 M.R3", r"[0-9]{1,3}_[A-Z0-9]{2,4}\.[0-9A-Za-z!*$._-]{60,}", 3.5),
    _beside("zapier_secret", "zapier", "zpk_ zapier_", "[0-9A-Za-z]{32,}", 3.4, "mixed"),
    _fixed("monday_secret", "mndy_", _B + "{30,}", 3.2),
    _beside("adobe_secret", "adobe", "p8e- p8-", "[0-9A-Za-z_-]{32}", 3.4, "mixed"),
    # Payments, shops, coins
    _fixed("lob_key", "live_", "[0-9a-f]{35}"),
    _beside("gocardless_token", "gocardless mollie", "live_ sandbox_ test_", "[0-9A-Za-z_-]{30,64}", 3.6, "mixed"),
    _fixed("duffel_token", "duffel_test_ duffel_live_", "[0-9A-Za-z_=-]{43}", 3.2),
    _fixed("paddle_key", "pdl_live_apikey_ pdl_sdbx_apikey_", "[0-9A-Za-z_]{40,}", 3.2),
    _fixed("mercadopago_token", "APP_USR- TEST-", "[0-9]{10,18}-[0-9]{4,8}-[0-9a-f]{32}(?:-[0-9]{5,12})?"),
    _fixed("xendit_key", "xnd_production_ xnd_development_", "[0-9A-Za-z]{30,}", 3.2),
    _fixed("midtrans_key", "Mid-server-", _U + "{20,}", 3.2),
    _beside("woocommerce_secret", "woocommerce wc_ consumer_", "cs_ ck_", _X + "{40}"),
    _fixed("shopify_access_token", "shptka_ shpua_ shpit_", "[0-9a-fA-F]{32}"),
    _fixed("paypal_token", "A21AA", "[0-9A-Za-z_-]{60,}", 3.5),
    _beside("adyen_key", "adyen", "AQE", r"[0-9A-Za-z*#+/=.<>^&()\[\]{}-]{80,}", 3.8, "mixed"),
    _fixed("square_application_secret", "sandbox-sq0csb- sq0csb-", _U + "{40,}", 3.2),
    _fixed("stripe_organization_key", "sk_org_live_ sk_org_test_ rk_org_", _B + "{16,}", 3.0, "mixed"),
    _fixed("alchemy_token", "alcht_ alcha_", _B + "{28,}", 3.0),
    _fixed("nostr_secret", "nsec1", "[02-9ac-hj-np-z]{58}", 3.2),
    _fixed("extended_private_key", "xprv yprv zprv tprv uprv vprv", _BASE58 + "{100,112}", 3.5),
    _fixed("tezos_secret", "edsk edesk spsk p2sk", _BASE58 + "{50,96}", 3.5),
    # Watching, analytics, flags, things
    _fixed("newrelic_license", "eu01xx", "[0-9a-fA-F]{30}NRAL", 2.0),
    _fixed("axiom_token", "xaat- xapt-", UUID),
    _beside("checkly_key", "checkly", "cu_", _X + "{32}"),
    _beside("uptimerobot_key", "uptimerobot", "u1 u2 u3 u4 u5 u6 u7 u8 u9", "[0-9]{3,8}-[0-9a-f]{24,32}"),
    _fixed("statsig_secret", "secret- console-", "[0-9A-Za-z]{40,}", 3.5, "mixed"),
    _fixed("devcycle_key", "dvc_server_ dvc_mobile_", "[0-9a-f_-]{36,}"),
    _fixed("posthog_secret", "phs_ pha_ phr_", _B + "{40,}", 3.4),
    _fixed("adafruit_key", "aio_", "[0-9A-Za-z]{28}", 3.2, "mixed"),
    _fixed("ubidots_token", "BBFF- BBUS-", "[0-9A-Za-z]{30,}", 3.2),
    _fixed("riot_key", "RGAPI-", UUID),
    _fixed("esri_key", "AAPK", "[0-9A-Za-z_-]{50,}", 3.8, "mixed"),
    _fixed("instagram_token", "IGQV IGAA THAA", "[0-9A-Za-z_-]{80,}", 3.5),
    _fixed("linkedin_secret", "WPL_AP1.", r"[0-9A-Za-z]{12,}\.[0-9A-Za-z+/=]{6,}", 2.8),
    _fixed("pinterest_token", "pina_", "[0-9A-Z]{60,}", 3.2),
    _fixed("twitter_bearer", "AAAAAAAAAAAAAAAAAAAAA", "[0-9A-Za-z%]{60,}", 3.2),
    _fixed("twitch_token", "oauth:", "[0-9a-z]{30}", 3.2, "mixed"),
    _fixed("intra42_secret", "s-s4t2ud- s-s4t2af-", _X + "{64}"),
    # Whatever else calls itself one
    _fixed("secret_key", "sk_ sk-", r"(?:[a-z0-9]{1,12}[_-]){0,3}[0-9A-Za-z]{24,}(?:[_-][0-9A-Za-z_-]*)?", 3.3, "mixed"),
)  # fmt: skip
