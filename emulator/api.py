"""The HTTP side: every request is authenticated, judged, and handed to the module that answers it."""

from typing import Any, Final

import orjson
from aiohttp import web

from emulator import writing
from emulator.access import Access, check_path, check_target
from emulator.cluster import Cluster
from emulator.controls import PREFIX, Controls
from emulator.discovery import VISIBILITY, VISIBILITY_VERSIONS, discovered
from emulator.errors import ApiError, NoSuchPath, bad_request, method_not_allowed
from emulator.listing import Lister, read_query
from emulator.paths import Target, target_of, verb_of
from emulator.resources import DEPRECATED, Catalogue, Resource
from emulator.reviews import PATH as REVIEWS
from emulator.reviews import reviewed
from emulator.showing import shown_as
from emulator.visibility import pending_workloads
from emulator.watching import Watcher, read_watch_query
from emulator.writing import read_object

_LARGEST_BODY: Final = 3 * 2**20
_HEALTH: Final = ("/healthz", "/livez", "/readyz")
_DEPRECATION: Final = '299 - "This version is deprecated. Use v1beta2 instead."'


class Api:
    """One emulated cluster behind one aiohttp application."""

    def __init__(self, cluster: Cluster, access: Access, catalogue: Catalogue) -> None:
        self._cluster, self._access, self._catalogue = cluster, access, catalogue
        self._store = cluster.store
        self._watcher = Watcher(cluster.store)
        self._controls = Controls(cluster)
        self._lister = Lister(cluster.store)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=_LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.on_shutdown.append(self._close)
        return app

    async def _close(self, _: web.Application) -> None:
        self._watcher.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._judged(request)
        except ApiError as error:
            headers = {"Retry-After": "1"} if error.code == 504 else None
            return _json(error.status(), status=error.code, headers=headers)
        except NoSuchPath:
            return web.Response(status=404, text="404 page not found\n")

    async def _judged(self, request: web.Request) -> web.StreamResponse:
        user = self._access.user(request.headers)
        if request.path == REVIEWS and request.method == "POST" and user.is_known:
            return _json(reviewed(user, read_object(await request.read(), "SelfSubjectAccessReview")), status=201)
        target = target_of(request.path)
        if target is None:
            check_path(user, request.method, request.path)
            return await self._beside_the_api(request)
        verb = verb_of(request.method, target, request.query)
        check_target(user, verb, target)
        if target.group == VISIBILITY:
            return self._pending(request, target)
        resource = self._resource(target, verb)
        headers = {"Warning": _DEPRECATION} if resource.version == DEPRECATED else None
        if verb == "watch":
            return await self._watch(request, resource, target)
        answer, status = await self._on_target(request, verb, resource, target)
        return _json(answer, status=status, headers=headers)

    def _resource(self, target: Target, verb: str) -> Resource:
        resource = self._catalogue.find(target.group, target.version, target.plural)
        if resource is None or target.subresource not in ("", "status"):
            raise NoSuchPath
        needs_namespace = resource.namespaced and (target.name or verb == "create")
        if bool(target.namespace) != resource.namespaced and (target.namespace or needs_namespace):
            raise NoSuchPath
        if target.subresource and not resource.has_status:
            raise NoSuchPath
        if verb not in resource.verbs or (verb == "create" and target.name):
            raise method_not_allowed()
        if verb in ("update", "patch") and not target.name:
            raise bad_request("name must be provided")
        return resource

    async def _on_target(
        self, request: web.Request, verb: str, resource: Resource, target: Target
    ) -> tuple[dict[str, Any], int]:
        accept = request.headers.get("Accept", "")
        shown = shown_as(resource, accept)
        store = self._store
        if verb == "list":
            query = read_query(request.query, store)
            return self._lister.page(resource, target, query, accept), 200
        if verb == "get":
            return shown(writing.current(store, resource, target)), 200
        body = await request.read()
        now = self._cluster.clock.now()
        if verb == "create":
            return shown(writing.create(store, resource, target, body, now)), 201
        if verb == "update":
            return shown(writing.replace(store, resource, target, body)), 200
        if verb == "patch":
            return shown(writing.patch(store, resource, target, body, request.content_type)), 200
        return writing.delete(store, resource, target), 200

    async def _watch(self, request: web.Request, resource: Resource, target: Target) -> web.StreamResponse:
        query = read_watch_query(request.query)
        lines = self._watcher.lines(resource, target, query, request.headers.get("Accept", ""))
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Cache-Control": "no-cache"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        try:
            async for line in lines:
                await response.write(line)
            await response.write_eof()
        except ConnectionResetError:
            pass  # the client left
        finally:
            await lines.aclose()
        return response

    def _pending(self, request: web.Request, target: Target) -> web.Response:
        if target.version not in VISIBILITY_VERSIONS or target.subresource != "pendingworkloads":
            raise NoSuchPath
        if request.method != "GET":
            raise method_not_allowed()
        return _json(pending_workloads(self._store, self._cluster.records, target, request.query))

    async def _beside_the_api(self, request: web.Request) -> web.Response:
        if request.path in _HEALTH:
            return web.Response(text="ok")
        if request.path.startswith(PREFIX):
            return _json(self._controls.answer(request.method, request.path, await request.read()))
        found = discovered(self._catalogue, request.path)
        if found is None:
            raise NoSuchPath
        if request.method != "GET":
            raise method_not_allowed()
        return _json(found)


def _json(answer: dict[str, Any], *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=orjson.dumps(answer), status=status, headers=headers, content_type="application/json", charset=None
    )
