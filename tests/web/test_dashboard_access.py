"""Who comes in to the dashboard, and what a browser may do with its pages."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from real_pages import served

from everyclaim.store.store import Store
from everyclaim.web.app import Access, create_app
from everyclaim.web.settings import AccessTokens, add_token, new_token
from scored_runs import keep_run, some_answers

HTML = {"accept": "text/html"}


@pytest.fixture
def filled(place):
    with Store.open(place) as store:
        keep_run(store, some_answers(4, 1), name="towns")
    return place


@pytest.fixture
def tokens(tmp_path: Path):
    path = tmp_path / "tokens"
    shown = {}
    for name, scopes in {"ada": ["ui"], "robot": ["score"], "root": ["admin"]}.items():
        shown[name], kept = new_token(name, scopes)
        add_token(path, kept)
    return AccessTokens(path), shown, path


@pytest.fixture
def guarded(filled, tokens):
    with served(create_app(filled, access=Access(tokens[0]))) as address, httpx.Client(base_url=address) as client:
        yield client


def csrf_of(answer: httpx.Response) -> str:
    return re.search(r'x-csrf-token": "([0-9a-f]{64})"', answer.text)[1]


def log_in(client: httpx.Client, token: str, **more: str) -> httpx.Response:
    csrf = csrf_of(client.get("/login"))
    return client.post("/login", data={"csrf": csrf, "token": token, **more})


def test_a_page_elsewhere_that_points_its_name_here_reads_nothing(filled):
    """A request by a name that is not the server's own is refused; addresses, localhost and names given are served."""
    with served(create_app(filled, access=Access(names=("evals.example",)))) as address:
        port = address.rpartition(":")[2]
        for host in ("127.0.0.1", f"127.0.0.1:{port}", "localhost:1", "[::1]:9", "EVALS.example", "192.168.1.7"):
            assert httpx.get(address, headers={"host": host}).status_code == 200
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1", "localhost:x"):
            assert httpx.get(address, headers={"host": host}).status_code == 421


def test_every_answer_is_closed(filled):
    """No answer lets a browser run inline scripts, load from elsewhere, be framed or guess its type."""
    inline = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:")
    with served(create_app(filled)) as address:
        for path in ("/", "/login", "/static/x/site.css", "/no-such-page", "/fragments/runs"):
            answer = httpx.get(address + path)
            found = answer.headers
            assert not inline.search(answer.text) or ".css" in path
            policy = found["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert (found["x-content-type-options"], found["x-frame-options"]) == ("nosniff", "DENY")


def test_without_a_token_nothing_is_shown(guarded):
    """Whoever has not logged in gets the form or a refusal, and no word of what is in the store."""
    for path in ("/", "/fragments/runs", "/trend", "/runs/abc", "/no-such-page"):
        answer = guarded.get(path)
        assert answer.status_code == 401
        assert "towns" not in answer.text
        page = guarded.get(path, headers=HTML)
        assert (page.status_code, page.headers["location"][:12]) == (303, "/login?next=")
    assert guarded.get("/", headers={"hx-request": "true"}).headers["hx-redirect"] == "/login"
    assert guarded.get("/login").status_code == 200
    assert guarded.get("/static/x/theme.css").status_code == 200


def test_logging_in_with_a_token_and_out(guarded, tokens):
    """A token with the right scope opens the pages under a new cookie that scripts cannot read; logging out ends it."""
    _, shown, _ = tokens
    before = log_in(guarded, "ecl_wrong").status_code
    first = dict(guarded.cookies)
    answer = log_in(guarded, f" {shown['ada']} ", next="/runs/x?y=1")
    assert (before, answer.status_code, answer.headers["location"]) == (403, 303, "/runs/x?y=1")
    assert "HttpOnly; SameSite=Lax" in answer.headers["set-cookie"]
    assert dict(guarded.cookies) != first
    page = guarded.get("/")
    assert "towns" in page.text
    assert shown["ada"] not in page.text
    cookies = dict(guarded.cookies)
    assert guarded.post("/logout", data={"csrf": csrf_of(page)}).status_code == 303
    guarded.cookies.update(cookies)  # somebody kept a copy
    assert guarded.get("/").status_code == 401


def test_a_token_taken_out_of_the_file_ends_its_log_ins(guarded, tokens):
    """Whoever is logged in with a token that is no longer good has to log in again."""
    _, shown, path = tokens
    log_in(guarded, shown["ada"])
    assert guarded.get("/").status_code == 200
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("ada ")))
    assert guarded.get("/").status_code == 401
    path.write_text("", "utf-8")  # a file without tokens lets nobody in, not everybody
    for headers in ({}, {"authorization": f"Bearer {shown['ada']}"}):
        assert guarded.get("/runs", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
def test_a_form_of_another_page_changes_nothing(guarded, tokens, headers):
    """A cross-site form is refused even where it knew what our forms bring along."""
    log_in(guarded, tokens[1]["ada"])
    csrf = csrf_of(guarded.get("/"))
    assert guarded.post("/logout", data={"csrf": csrf}, headers=headers).status_code == 403
    assert guarded.get("/").status_code == 200


def test_a_form_without_its_token_changes_nothing(guarded, tokens):
    """A form of ours brings along what only our page knew; that of another visitor is of no use."""
    log_in(guarded, tokens[1]["ada"])
    with httpx.Client(base_url=guarded.base_url) as other:
        foreign = csrf_of(other.get("/login"))
    for data in ({}, {"csrf": ""}, {"csrf": foreign}, {"csrf": "ü"}):
        assert guarded.post("/logout", data=data).status_code == 403
    assert guarded.get("/").status_code == 200


def test_a_run_is_renamed_and_deleted_by_whoever_may(guarded, tokens, filled):
    """Both take a token with the scope admin and a form of the page; a deletion takes the id of the run, too."""

    def runs():
        with Store.open_to_read(filled) as store:
            return [(run.id, run.name) for run in store.runs()]

    ((run, _),) = runs()
    for person, allowed in (("ada", False), ("root", True)):
        log_in(guarded, tokens[1][person])
        page = guarded.get(f"/runs/{run}")
        assert ("Delete the run" in page.text) is allowed
        form = {"csrf": csrf_of(page), "to": "Towns <b>of</b> May"}
        assert guarded.post(f"/runs/{run}/rename", data={"to": "x"}).status_code == 403
        assert guarded.post(f"/runs/{run}/rename", data=form).status_code == (303 if allowed else 403)
        assert runs() == [(run, form["to"] if allowed else "towns")]
        sure = form | {"confirmed": run}
        assert guarded.post(f"/runs/{run}/delete", data=form).status_code == (400 if allowed else 403)
        assert guarded.post(f"/runs/{run}/delete", data={"confirmed": run}).status_code == 403
        assert runs()
        assert "&lt;b&gt;" in guarded.get("/").text or not allowed
        assert guarded.post(f"/runs/{run}/rename", data=form | {"to": "a\nb"}).status_code == (400 if allowed else 403)
        assert guarded.post(f"/runs/{run}/delete", data=sure).status_code == (303 if allowed else 403)
    assert not runs()
    assert guarded.get(f"/runs/{run}").status_code == 404


def test_a_proxy_says_who_comes(filled):
    """With a proxy's header whoever it names is let in by that name, and nobody without one."""
    with served(create_app(filled, access=Access(proxy_header="X-Forwarded-User"))) as address:
        named = httpx.get(address, headers={"x-forwarded-user": "<b>ada</b>"})
        assert httpx.get(address, headers=HTML).status_code == 401
    assert named.status_code == 200
    assert "&lt;b&gt;ada" in named.text


def test_no_path_leads_to_the_file_system(filled):
    """Files are handed out by their names on a list, and by nothing else."""
    with served(create_app(filled)) as address:
        for path in (
            "/static/x/../site.py",
            "/static/x/..%2f..%2fsite.py",
            "/static/x/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
            "/static/..%2f..%2fsite.py/site.css%00",
            "/static//etc/passwd",
            "/runs/..%2f..%2fetc%2fpasswd",
            "/static/x/site.py",
        ):
            answer = httpx.get(httpx.URL(address, raw_path=path.encode()))
            assert answer.status_code == 404, path
            assert "import" not in answer.text
            assert "root:" not in answer.text
