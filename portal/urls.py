from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.urls import path
from django.views.i18n import set_language

from accounts.saml import views as saml
from accounts.scim.views import scim
from portal import signin
from portal.views.cluster import cluster_page
from portal.views.eviction import eviction_page
from portal.views.evictions import all_evictions, all_evictions_csv, team_evictions, team_evictions_csv, team_lost
from portal.views.gallery import gallery
from portal.views.home import home
from portal.views.identity import identity
from portal.views.identity_provider import identity_connect, identity_provider, identity_switch_off
from portal.views.identity_scim import identity_scim, identity_scim_end
from portal.views.identity_trial import identity_switch_on, identity_trial, identity_try
from portal.views.inbox import inbox, inbox_read, notice_acknowledge
from portal.views.lending import lending
from portal.views.me import me
from portal.views.my_channels import channel_remove, my_channels
from portal.views.my_notices import my_notices
from portal.views.my_tokens import my_tokens, token_end
from portal.views.node import node_page
from portal.views.overview import overview
from portal.views.search import search_page
from portal.views.team import team_page
from portal.views.terminal import team_kubeconfig, team_terminal
from portal.views.undelivered import message_again, undelivered
from portal.views.unseen_evictions import all_unseen_evictions, team_unseen_evictions
from portal.views.usage import team_usage, team_usage_csv
from portal.views.victims import borrowers, victims
from portal.views.workload import workload_page
from portal.views.workload_live import workload_events, workload_manifest, workload_pods
from portal.views.workloads import all_workloads, all_workloads_csv, team_workloads, team_workloads_csv

handler500 = "portal.views.errors.server_error"

# /healthz, /readyz and /metrics are answered before any of these: portal/views/operations.py
urlpatterns = [
    path("", home, name="home"),
    path("sign-in/", signin.sign_in, name="sign-in"),
    path("sign-in/break-glass/", signin.break_glass, name="break-glass"),
    path("sign-out/", signin.sign_out, name="sign-out"),
    path("saml/<slug:slug>/login/", saml.saml_login, name="saml-login"),
    path("saml/<slug:slug>/acs/", saml.saml_acs, name="saml-acs"),
    path("saml/<slug:slug>/finish/", saml.saml_finish, name="saml-finish"),
    path("saml/<slug:slug>/logout/", saml.saml_logout, name="saml-logout"),
    path("saml/<slug:slug>/metadata/", saml.saml_metadata, name="saml-metadata"),
    path("scim/v2/", scim, name="scim-root"),
    path("scim/v2/<path:path>", scim, name="scim"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("teams/<slug:slug>/", team_page, name="team"),
    path("teams/<slug:slug>/usage/", team_usage, name="team-usage"),
    path("teams/<slug:slug>/usage.csv", team_usage_csv, name="team-usage-csv"),
    path("teams/<slug:slug>/workloads/", team_workloads, name="team-workloads"),
    path("teams/<slug:slug>/workloads.csv", team_workloads_csv, name="team-workloads-csv"),
    path("search/", search_page, name="search"),
    path("teams/<slug:slug>/evictions/", team_evictions, name="team-evictions"),
    path("teams/<slug:slug>/evictions/unseen/", team_unseen_evictions, name="team-unseen-evictions"),
    path("teams/<slug:slug>/evictions.csv", team_evictions_csv, name="team-evictions-csv"),
    path("teams/<slug:slug>/terminal/", team_terminal, name="team-terminal"),
    path("teams/<slug:slug>/kubeconfig/<slug:cluster>/", team_kubeconfig, name="team-kubeconfig"),
    path("teams/<slug:slug>/lost/", team_lost, name="team-lost"),
    path("gallery/", gallery, name="gallery"),
    path("inbox/", inbox, name="inbox"),
    path("inbox/read/", inbox_read, name="inbox-read"),
    path("inbox/<uuid:notice>/acknowledge/", notice_acknowledge, name="notice-acknowledge"),
    path("me/", me, name="me"),
    path("me/notices/", my_notices, name="my-notices"),
    path("me/channels/", my_channels, name="my-channels"),
    path("me/channels/<int:channel>/remove/", channel_remove, name="channel-remove"),
    path("me/tokens/", my_tokens, name="my-tokens"),
    path("me/tokens/<int:token>/end/", token_end, name="token-end"),
    path("platform/", overview, name="overview"),
    path("platform/workloads/", all_workloads, name="all-workloads"),
    path("platform/workloads.csv", all_workloads_csv, name="all-workloads-csv"),
    path("platform/evictions/", all_evictions, name="all-evictions"),
    path("platform/evictions.csv", all_evictions_csv, name="all-evictions-csv"),
    path("platform/evictions/unseen/", all_unseen_evictions, name="all-unseen-evictions"),
    path("platform/evictions/again/", victims, name="victims"),
    path("platform/evictions/borrowers/", borrowers, name="borrowers"),
    path("platform/lending/", lending, name="lending"),
    path("platform/identity/", identity, name="identity"),
    path("platform/identity/connect/", identity_connect, name="identity-connect"),
    path("platform/identity/providers/<slug:slug>/", identity_provider, name="identity-provider"),
    path("platform/identity/providers/<slug:slug>/scim/", identity_scim, name="identity-scim"),
    path(
        "platform/identity/providers/<slug:slug>/scim/<int:credential>/end/",
        identity_scim_end,
        name="identity-scim-end",
    ),
    path("platform/identity/providers/<slug:slug>/off/", identity_switch_off, name="identity-switch-off"),
    path("platform/identity/providers/<slug:slug>/try/", identity_try, name="identity-try"),
    path("platform/identity/trials/<uuid:trial>/", identity_trial, name="identity-trial"),
    path("platform/identity/trials/<uuid:trial>/on/", identity_switch_on, name="identity-switch-on"),
    path("platform/undelivered/", undelivered, name="undelivered"),
    path("platform/undelivered/<uuid:message>/again/", message_again, name="message-again"),
    path("platform/clusters/<slug:slug>/", cluster_page, name="cluster"),
    path("clusters/<slug:cluster>/nodes/<str:name>/", node_page, name="node"),
    path("clusters/<slug:cluster>/workloads/<str:uid>/", workload_page, name="workload"),
    path("clusters/<slug:cluster>/workloads/<str:uid>/evictions/<int:key>/", eviction_page, name="eviction"),
    path("clusters/<slug:cluster>/workloads/<str:uid>/pods/", workload_pods, name="workload-pods"),
    path("clusters/<slug:cluster>/workloads/<str:uid>/events/", workload_events, name="workload-events"),
    path("clusters/<slug:cluster>/workloads/<str:uid>/manifest/", workload_manifest, name="workload-manifest"),
]
if settings.DEMO:
    urlpatterns.append(path("sign-in/as/", signin.sign_in_as, name="sign-in-as"))
