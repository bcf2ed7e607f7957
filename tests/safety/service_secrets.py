"""One shape of a token for each kind that goes by a prefix or an address: `<x:40>` stands for 40 characters of an alphabet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

_ALPHABETS: Mapping[str, str] = {
    "x": "0123456789abcdef", "d": "123456789", "l": "0123456789abcdefghijklmnopqrstuvwxyz", "c": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "b": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "k": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "t": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "n": "023456789acdefghjklmnpqrstuvwxyz",
}  # fmt: skip
_PART = re.compile(r"<(\w):(\d+)>")


class Dice(Protocol):
    """Where characters come from."""

    def __call__(self, alphabet: str, size: int) -> str: ...


def filled(shape: str, d: Dice) -> str:
    """`shape` with characters for each of its parts; `{uuid}` is one, too."""
    shape = shape.replace("{uuid}", "<x:8>-<x:4>-<x:4>-<x:4>-<x:12>")
    return _PART.sub(lambda part: d(_ALPHABETS[part[1]], int(part[2])), shape)


SHAPES: Mapping[str, str] = {
    "aws_appsync_key": "da2-<l:26>", "amazon_mws_token": "amzn.mws.{uuid}", "amazon_client_secret": "amzn1.oa2-cs.v1.<x:64>", "amazon_oauth_token": "Atza|<b:80>",
    "google_refresh_token": "1//0<b:60>", "google_auth_key": "AQ.Ab<b:48>", "cloudflare_key": "cfut_<b:48>", "cloudflare_tunnel_token": "eyJhIjoi<b:120>",
    "tailscale_key": "tskey-auth-<b:12>-<b:32>", "netbird_token": "nbp_<b:36>", "defined_key": "dnkey-<b:26>-<b:52>", "vercel_token": "vcp_<b:56>",
    "netlify_oauth_token": "nfo_<b:40>", "deno_token": "ddp_<b:36>", "valtown_token": "vtwn_<b:27>", "fly_org_token": "fo1_<b:43>", "upcloud_token": "ucat_<c:26>",
    "porkbun_key": "sk1_<x:64>", "dnsimple_token": "dnsimple_u_<b:32>", "openshift_token": "sha256~<b:43>", "rancher_token": "token-<l:5>:<l:54>",
    "portainer_token": "ptr_<b:43>=", "proxmox_token": "PVEAPIToken=root@pam!ci={uuid}", "yandex_oauth_token": "y0_<b:55>", "yandex_iam_token": "t1.<b:40>.<b:86>",
    "yandex_secret": "yandex |YCM<b:37>", "vk_token": "vk1.a.<b:80>", "baidu_key": "bce-v3/ALTAK-<b:21>/<x:40>", "vault_service_token": "vault |s.<b:24>",
    "terraform_agent_token": "tfe-<b:48>", "infracost_key": "ico-<b:32>", "infisical_token": "infisical |st.{uuid}.<x:32>.<x:32>", "spacelift_key": "spacelift |sl_<x:64>",
    "aiven_secret": "AVNS_<b:19>", "neon_password": "npg_<b:16>", "mongodb_secret": "mdb_sa_sk_<b:40>", "xata_key": "xau_<b:32>", "fauna_secret": "fnA<b:37>",
    "cockroach_key": "CCDB1_<b:22>_<b:40>", "astra_token": "AstraCS:<b:24>:<x:64>", "materialize_password": "mzp_<x:64>", "elastic_key": "essu_<b:60>",
    "tinybird_token": "p.eyJ<b:60>.<b:43>", "couchbase_key": "cbc-pat-<b:48>", "cerebras_key": "csk-<l:48>", "langfuse_key": "sk-lf-{uuid}", "langchain_key": "ls__<x:32>",
    "together_key": "tgp_v1_<b:43>", "fireworks_key": "fw_<b:24>", "voyage_key": "voyage |pa-<b:43>", "jina_key": "jina_<b:60>", "anyscale_key": "esecret_<l:26>",
    "modal_token": "modal |ak-<b:22>", "runpod_key": "rpa_<c:40><l:6>", "firecrawl_key": "firecrawl |fc-<x:32>", "e2b_key": "e2b_<x:40>", "browserbase_key": "bb_live_<b:27>",
    "llamaindex_key": "llx-<b:48>", "kaggle_token": "KGAT_<x:32>", "wandb_token": "wandb_v1_<b:60>", "cursor_key": "crsr_<x:64>", "friendli_token": "flp_<b:40>",
    "openai_session": "sess-<b:40>", "upstage_key": "upstage |up_<b:29>", "dify_key": "dify.ai |app-<b:24>", "secret_key": "sk_<b:40>", "gitlab_workspace_token": "glwt-<b:24>",
    "bitbucket_server_token": "BBDC-<b:44>", "trello_token": "ATTA<b:72>", "jetbrains_token": "perm:<b:8>.<b:8>.<b:30>", "teamcity_token": "eyJ0eXAiOiAiVENWMiJ9.<b:30>.<b:40>",
    "phabricator_token": "phabricator |api-<l:28>", "octopus_key": "API-<c:30>", "prefect_key": "pnu_<l:36>", "snyk_token": "snyk_uat.<x:8>.<b:60>",
    "harness_token": "pat.<b:22>.<x:24>.<b:20>", "stackhawk_key": "hawk.<b:20>.<b:20>", "chromatic_token": "chpt_<l:15>", "gitpod_token": "gitpod_pat_<b:40>",
    "jsr_token": "jsrp_<b:44>", "buildkite_agent_token": "bkct_<b:60>", "depot_token": "depot_org_<x:64>", "readme_key": "rdme_<l:70>", "settlemint_token": "sm_pat_<b:16>",
    "dbt_token": "dbtc_<b:48>", "databricks_secret": "dose<x:32>", "docker_swarm_token": "SWMTKN-1-<l:50>-<l:25>", "docker_swarm_unlock_key": "SWMKEY-1-<b:43>",
    "sidekiq_license": "|contribsys.com=<x:8>:<x:8>", "onepassword_secret_key": "A3-<c:6>-<c:6>-<c:5>-<c:5>-<c:5>-<c:5>", "sourcegraph_license": "slk_<x:64>",
    "typeform_token": "tfp_<b:44>_<b:14>", "slack_workflow_token": "xwfp-<d:12>-<d:12>-<b:24>", "dingtalk_secret": "SEC<x:64>", "matrix_token": "syt_<b:8>_<b:20>_<b:6>",
    "asana_token": "1/1<d:15>:<x:32>", "intercom_token": "dG9rO<b:56>=", "retool_token": "retool_<l:32>", "frameio_token": "fio-u-<b:64>", "figma_oauth_token": "figo_<b:40>",
    "mailersend_token": "mlsn.<x:64>", "mandrill_key": "mandrill |md-<b:22>", "onesignal_key": "os_v2_app_<l:103>", "pubnub_key": "sec-c-<b:48>", "ntfy_token": "ntfy |tk_<l:29>",
    "pushbullet_token": "pushbullet |o.<b:32>", "klaviyo_key": "klaviyo |pk_<x:34>", "courier_key": "pk_prod_<c:28>", "authress_key": "authress |sc_<l:12>.<l:5>.acc_<l:16>.<b:60>",
    "ory_token": "ory_pat_<b:32>", "stytch_secret": "secret-live-<b:36>=", "salesforce_refresh_token": "5Aep861<b:80>", "microsoft_refresh_token": "M.C507_BAY.<b:100>",
    "zapier_secret": "zapier |zpk_<b:40>", "monday_secret": "mndy_<b:36>", "adobe_secret": "adobe |p8e-<b:32>", "lob_key": "live_<x:35>", "gocardless_token": "gocardless |sandbox_<b:40>",
    "duffel_token": "duffel_live_<b:43>", "paddle_key": "pdl_live_apikey_<b:50>", "mercadopago_token": "APP_USR-<d:16>-<d:6>-<x:32>-<d:9>", "xendit_key": "xnd_production_<b:48>",
    "midtrans_key": "Mid-server-<b:24>", "woocommerce_secret": "woocommerce |cs_<x:40>", "shopify_access_token": "shptka_<x:32>", "paypal_token": "A21AA<b:92>",
    "adyen_key": "adyen |AQE<b:100>", "square_application_secret": "sq0csb-<b:43>", "stripe_organization_key": "sk_org_live_<b:40>", "alchemy_token": "alcht_<b:30>",
    "nostr_secret": "nsec1<n:58>", "extended_private_key": "xprv<k:107>", "tezos_secret": "edsk<k:50>", "newrelic_license": "eu01xx<x:30>NRAL", "axiom_token": "xaat-{uuid}",
    "checkly_key": "checkly |cu_<x:32>", "uptimerobot_key": "uptimerobot |u<d:7>-<x:24>", "statsig_secret": "secret-<b:43>", "devcycle_key": "dvc_server_<x:40>",
    "posthog_secret": "phs_<b:43>", "adafruit_key": "aio_<b:28>", "ubidots_token": "BBFF-<b:32>", "riot_key": "RGAPI-{uuid}", "esri_key": "AAPK<b:64>", "instagram_token": "IGQV<b:120>",
    "linkedin_secret": "WPL_AP1.<b:16>.<b:8>", "pinterest_token": "pina_<c:80>", "twitter_bearer": "AAAAAAAAAAAAAAAAAAAAA<b:90>", "twitch_token": "oauth:<l:30>",
    "intra42_secret": "s-s4t2ud-<x:64>",
    "lark_webhook": "https://open.feishu.cn/open-apis/bot/v2/hook/|{uuid}", "wecom_webhook": "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=|{uuid}",
    "dingtalk_webhook": "https://oapi.dingtalk.com/robot/send?access_token=|<x:64>", "telegram_url_token": "https://api.telegram.org/bot|<d:10>:<b:35>|/getMe",
    "zapier_webhook": "https://hooks.zapier.com/hooks/catch/|<d:7>/<l:7>", "make_webhook": "https://hook.eu1.make.com/|<l:32>", "ifttt_key": "https://maker.ifttt.com/trigger/x/with/key/|<b:22>",
    "google_chat_webhook": "https://chat.googleapis.com/v1/spaces/A/messages?token=|<b:43>", "healthchecks_url": "https://hc-ping.com/|{uuid}",
    "mattermost_webhook": "https://chat.corp.net/hooks/|<l:26>", "sumologic_webhook": "https://collection.us2.sumologic.com/receiver/v1/http/|<b:88>==",
    "pagerduty_url": "https://events.pagerduty.com/integration/|<x:32>|/enqueue", "opsgenie_url": "https://api.opsgenie.com/v1/json/x?apiKey=|{uuid}",
    "workflow_sas": "https://x.logic.azure.com/a?sv=1.0&sig=|<b:43>", "aws_signature": "https://b.s3.amazonaws.com/k?X-Amz-Signature=|<x:64>",
    "aws_url_token": "https://b.s3.amazonaws.com/k?X-Amz-Security-Token=|<b:120>", "cloudfront_signature": "https://d1.cloudfront.net/k?Signature=|<b:200>|&Key-Pair-Id=K1",
    "otpauth_secret": "otpauth://totp/Corp:ann?secret=|<t:32>|&issuer=Corp", "oracle_password": "jdbc:oracle:thin:scott/|<b:14>|@//ora:1521/X",
    "rapidapi_key": "<x:10>msh<x:15>p1<x:6>jsn<x:12>", "salesforce_session": "00D<b:15>!<b:96>",
    "roblox_cookie": "_|WARNING:-DO-NOT-SHARE-THIS.--Sharing-this-lets-someone-log-in.|_/<x:300>", "deepl_key": "{uuid}:fx", "maxmind_key": "<b:6>_<b:29>_mmk",
    "azure_resource_key": "<b:52>JQQJ99<b:26>", "bitwarden_token": "0.{uuid}.<b:30>:<b:22>==", "unleash_token": "default:production.<x:56>", "ghost_admin_key": "ghost |<x:24>:<x:64>",
    "zhipu_key": "zhipu |<x:32>.<b:16>", "deploy_hook": "https://api.netlify.com/build_hooks/|<x:24>", "ngrok_token": "ngrok |2<b:26>_<b:21>", "kubeadm_token": "kubeadm join --token |<l:6>.<l:16>",
    "kubeadm_certificate_key": "--certificate-key |<x:64>", "kubeconfig_key": "client-key-data: |<b:200>==", "vault_unseal_key": "Unseal Key 1: |<b:43>=",
    "bitcoin_key": "wif |5<k:50>", "stellar_secret": "stellar |S<t:55>", "ably_key": "ably: |<b:6>.<b:6>:<b:43>", "gitlab_session": "Cookie: _gitlab_session=|<x:32>",
    "facebook_app_token": "facebook |<d:15>|<b:27>", "recovery_code": "recovery codes: |<l:5>-<x:4>1",
}  # fmt: skip
"""A shape alone; or what stands before it, the shape, and what stands after it, with `|` between."""


def parts(kind: str) -> tuple[str, str, str]:
    """What stands before the secret of a kind, its shape, and what stands after."""
    before, bar, rest = SHAPES[kind].partition("|")
    if not bar or kind in ("amazon_oauth_token",):
        return "", SHAPES[kind], ""
    if kind == "roblox_cookie":
        before, _, rest = SHAPES[kind].rpartition("/")
        return before, rest, ""
    value, _, after = (rest, "", "") if kind == "facebook_app_token" else rest.partition("|")
    return before, value, after
