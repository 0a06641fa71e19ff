"""Quick mode against a server that records what comes: placeholders, lists of URLs, forms."""
import email
import email.policy
import re
import uuid

import pytest

from recorder import hello, recorder  # noqa: F401


def all_of(server):
    return [request for connection in server.take() for request in connection]


def ok(done):
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("options", [["-n", "60", "-c", "6", "-t", "2"], ["-n", "60", "-R", "2000", "-t", "2", "--lenient"]])
def test_seq_counts_requests_over_threads_and_users(luabench, recorder, options):
    server = recorder()
    ok(luabench.run(server.url + "/items/{seq}?again={seq}", *options))
    paths = sorted((request.path for request in all_of(server)), key=len)
    assert sorted(paths) == sorted(f"/items/{n}?again={n}" for n in range(1, 61))


def test_one_value_in_a_request(luabench, recorder):
    server = recorder()
    ok(luabench.run(server.url + "/{uuid}", "-n", "20", "-c", "4", "-H", "Key: {uuid}", "-b", '{"key":"{uuid}","n":{rand:3-5}}'))
    requests = all_of(server)
    keys = {request.path[1:] for request in requests}
    assert len(keys) == len(requests) == 20
    for request in requests:
        key = request.path[1:]
        assert uuid.UUID(key).version == 4
        assert dict(request.headers)["Key"] == key
        assert re.fullmatch(r'\{"key":"%s","n":[345]\}' % key, request.body.decode())


def test_seed_repeats(luabench, recorder):
    server = recorder()
    seen = []
    for seed in ("1", "1", "2"):
        ok(luabench.run(server.url + "/{rand:1-1000000}", "-n", "10", "-c", "1", "--seed", seed))
        seen.append([request.path for request in all_of(server)])
    assert seen[0] == seen[1] != seen[2]


def test_lines_of_a_file(luabench, recorder):
    server = recorder()
    (luabench.folder / "names.txt").write_text("Ann\nBob & Co\nÇelik\n")
    ok(luabench.run(server.url + "/{line:names.txt}", "-b", "{line:names.txt}", "-n", "6", "-c", "1"))
    assert [(request.path, request.body.decode()) for request in all_of(server)] == [("/Ann", "Ann"), ("/Bob%20&%20Co", "Bob & Co"), ("/%C3%87elik", "Çelik")] * 2


def test_urls_in_order_and_at_random(luabench, recorder):
    server = recorder()
    (luabench.folder / "urls.txt").write_text("".join(f"{server.url}/{n}\n" for n in range(10)))
    ok(luabench.run("--urls", "urls.txt", "-n", "30", "-c", "1"))
    assert [request.path for request in all_of(server)] == [f"/{n}" for n in range(10)] * 3
    ok(luabench.run("--urls", "urls.txt", "-n", "200", "-c", "3", "-t", "2"))
    assert sorted(request.path for request in all_of(server)) == sorted([f"/{n}" for n in range(10)] * 20)
    ok(luabench.run("--urls", "urls.txt", "--order", "random", "-n", "200", "-c", "1", "--seed", "4"))
    paths = [request.path for request in all_of(server)]
    assert set(paths) == {f"/{n}" for n in range(10)}
    assert paths != [f"/{n}" for n in range(10)] * 20


def test_a_list_from_standard_input_goes_to_several_servers(luabench, recorder):
    first, second = recorder(), recorder()
    text = f"GET {first.url}/a\nX-A: {{seq}}\n\nPUT http://u:p@127.0.0.1:{second.port}/b\n@body\n"
    (luabench.folder / "body").write_text("n={seq}")
    ok(luabench.run("--urls", "-", "-n", "4", "-c", "1", input=text))
    assert [(request.method, dict(request.headers)["X-A"], "Authorization" in dict(request.headers)) for request in all_of(first)] == [("GET", "1", False), ("GET", "3", False)]
    assert [(request.method, request.body, dict(request.headers)["Authorization"]) for request in all_of(second)] == [
        ("PUT", b"n=2", "Basic dTpw"), ("PUT", b"n=4", "Basic dTpw")]


def test_a_list_names_files_below_the_folder_alone(luabench, recorder, tmp_path_factory):
    server = recorder()
    other = tmp_path_factory.mktemp("other")
    (other / "secret").write_text("secret")
    (luabench.folder / "list").write_text(f"{server.url}/\n@{other}/secret\n")
    done = luabench.run("--urls", "list", "-n", "1")
    assert (done.returncode, f"--allow-read={other} gives leave" in done.stderr) == (2, True), done.stderr
    ok(luabench.run("--urls", "list", "-n", "1", f"--allow-read={other}"))
    assert [request.body for request in all_of(server)] == [b"secret"]
    ok(luabench.run(server.url + "/{line:" + str(other) + "/secret}", "-n", "1"))  # the person's own word
    assert [request.path for request in all_of(server)] == ["/secret"]


def test_a_form_is_read_back(luabench, recorder):
    server = recorder()
    binary = bytes(range(256)) * 3
    (luabench.folder / "data.bin").write_bytes(binary)
    ok(luabench.run(server.url + "/", "-n", "2", "-c", "1", "-F", "n={seq}", "-F", "text=a=b", "-F", "file=@data.bin;type=image/png;filename=x.png"))
    for number, request in enumerate(all_of(server), 1):
        head = f"Content-Type: {dict(request.headers)['Content-Type']}\r\n\r\n".encode()
        parts = list(email.message_from_bytes(head + request.body, policy=email.policy.HTTP).iter_parts())
        assert [part.get_param("name", header="Content-Disposition") for part in parts] == ["n", "text", "file"]
        assert [part.get_payload(decode=True).removesuffix(b"\r\n") for part in parts[:2]] == [str(number).encode(), b"a=b"]
        assert (parts[2].get_filename(), parts[2].get_content_type()) == ("x.png", "image/png")
        assert b"\r\n\r\n" + binary + b"\r\n--" in request.body


def test_over_http2(luabench, target):
    done = ok(luabench.run(target.url + "/echo?n={seq}", "-b", "{uuid}", "-H", "X-A: {rand:1-9}", "--http", "2", "-m", "4", "-c", "8", "-n", "40"))
    assert "HTTP/2" in done.stdout
    assert "succeeded 40" in done.stdout
    assert target.requests() == 40
