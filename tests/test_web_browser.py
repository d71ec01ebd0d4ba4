"""The lab as static files in a real browser: bytes of native, every control, hostile links, dead workers."""

import base64
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cogtcp import Scenario
from cogtcp.lab import offline, site
from conftest import PATIENCE, ROOT
from web import drawn, native, of_presets, shortened

CHROMIUM = os.environ.get("COGTCP_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("needs Chromium: apt-get install chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: make setup")

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
OFF = "radio.0.sensing.off"
# A busy machine: what matters is that it comes, and what it is.
PATIENCE_MS = 1000 * PATIENCE


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def folder(wasm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page as it is without npm: with a plain text field."""
    made = tmp_path_factory.mktemp("site") / "any" / "sub-path"
    made.mkdir(parents=True)
    for name, text in site.contents(wasm=wasm.read_bytes(), bundles={}).items():
        (made / name).write_bytes(text)
    return made


@pytest.fixture(scope="module")
def whole(folder: Path, wasm: Path, bundles: dict[str, bytes], address: str) -> str:
    """Return the address of the page as `make web` makes it, with the editor."""
    (folder / "whole").mkdir()
    for name, text in site.contents(wasm=wasm.read_bytes(), bundles=bundles).items():
        (folder / "whole" / name).write_bytes(text)
    return f"{address}whole/"


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    handler = partial(Quiet, directory=str(folder.parents[1]))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/any/sub-path/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


class Lab:
    """A page of the lab, with what went wrong in it."""

    def __init__(self, browser: Any, address: str, width: int = 1280) -> None:
        self.faults: list[str] = []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, accept_downloads=True)
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        self.page.goto(address)
        self.settled()

    def settled(self) -> str:
        self.page.wait_for_function(
            "() => document.body.dataset.answered && !document.body.classList.contains('busy')"
        )
        text: str = self.page.locator("#bars").inner_text()
        return text

    def after(self, act: Any) -> str:
        """Do something, and return the bars once it has been answered."""
        before = self.page.evaluate("() => document.body.dataset.answered")
        act()
        self.page.wait_for_function("(n) => document.body.dataset.answered !== n", arg=before)
        return self.settled()

    def slide(self, path: str, place: int) -> None:
        self.page.locator(f"input[data-path='{path}']").evaluate(
            f"e => {{ e.value = {place}; e.dispatchEvent(new Event('input')); }}"
        )

    def write(self, text: str) -> None:
        self.page.evaluate("() => { document.querySelector('#editor').open = true; }")
        self.page.locator("#text").fill(text)

    def state(self) -> Any:
        return json.loads(self.page.evaluate("() => JSON.stringify(window.cogtcpLab.state)"))

    def close(self) -> None:
        assert self.faults == []
        self.page.close()


@pytest.fixture(scope="module")
def lab(browser: Any, address: str) -> Iterator[Lab]:
    found = Lab(browser, f"{address}#sensed-link")
    yield found
    found.close()


def packed(state: Any) -> str:
    """Write a fragment as the page does."""
    text = state if isinstance(state, bytes) else json.dumps(state).encode()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.urlsafe_b64encode(deflate.compress(text) + deflate.flush()).decode().rstrip("=")


def test_the_browser_gives_the_bytes_of_native(lab: Lab, lab_data: dict[str, Any], tmp_path: Path) -> None:
    for number, preset in enumerate(of_presets(lab_data)):
        given = shortened(preset)
        request = {"ask": "run", "scenario": given, "seed": 5, "trace": "full", "tables": []}
        found = lab.page.evaluate(
            "(request) => window.cogtcpLab.pool.ask(request).then((run) => run.digest)", request
        )
        folder = tmp_path / str(number)
        folder.mkdir()
        assert found == native(given, folder, 5).digest, preset["name"]


def test_the_browser_gives_the_bytes_of_native_for_200_scenarios_at_random(lab: Lab, tmp_path: Path) -> None:
    cases = drawn(700)
    requests = [
        {"ask": "run", "scenario": given, "seed": 1, "trace": "full", "tables": []} for given in cases
    ]
    found = lab.page.evaluate(
        """(requests) => Promise.all(requests.map((request) => window.cogtcpLab.pool.ask(request).then(
          (run) => run.digest, (error) => (error.kind ? null : error.message))))""",
        requests,
    )
    runs = 0
    for number, (given, digest) in enumerate(zip(cases, found, strict=True)):
        folder = tmp_path / str(number)
        folder.mkdir()
        expected = native(given, folder, 1)
        assert digest == getattr(expected, "digest", None), (given["set"], given["transport"])
        runs += digest is not None
    assert runs >= 200


def test_every_control_moves_its_figure(lab: Lab) -> None:
    for path, place in (
        ("topology.single_hop.link.rate", 300),
        ("topology.single_hop.link.delay", 300),
        ("topology.single_hop.link.queue", 200),
        ("topology.single_hop.link.loss", 800),
        (OFF, 850),
        ("radio.0.sensing.on", 300),
    ):
        before = lab.settled()
        assert lab.after(partial(lab.slide, path, place)) != before, path
        assert lab.page.locator("#changed").inner_text(), path
    before = lab.settled()
    assert lab.after(lambda: lab.page.locator("#sensing").uncheck()) != before
    lab.after(lambda: lab.page.locator("#sensing").check())
    assert lab.settled() == before
    lab.page.locator("#seed").fill("77")
    assert lab.after(lambda: lab.page.locator("#seed").dispatch_event("change")) != before
    assert "tahoe" in lab.after(lambda: lab.page.locator("#transports input[value=tahoe]").check())
    lab.page.locator("#reset").click()
    lab.page.wait_for_function("() => !document.querySelector('#bars').innerText.includes('tahoe')")
    lab.settled()


def test_the_text_and_the_sliders_change_each_other(lab: Lab) -> None:
    lab.after(partial(lab.slide, OFF, 700))
    text = lab.page.locator("#text").input_value()
    assert text.startswith("# One link that senses")  # the author's comments stay
    changed = Scenario.from_toml(text).to_dict()["radio"][0]["sensing"]["off"]
    assert changed == "387 ms" or changed == "388 ms"
    lab.after(lambda: lab.write(text.replace(f'"{0.388:g} s"', '"2 s"')))
    value = lab.page.locator(f"input[data-path='{OFF}']").evaluate(
        "e => e.getAttribute('data-path') && e.parentElement.querySelector('output').textContent"
    )
    assert value == "2 s"
    lab.after(lambda: lab.write(text.replace("linux-cubic", "linux-cubik").replace('rate = "', 'rat = "')))
    assert "^" in lab.page.locator("#wrong").inner_text()
    assert lab.page.locator("#trouble").inner_text()
    # What would be right stands where it is seen with the editor closed.
    lab.after(lambda: lab.write(re.sub(r'(?m)^transport = ".*"', 'transport = "quic"', text)))
    assert "no QUIC" in lab.page.locator("#trouble").inner_text()
    assert lab.page.locator("#trouble").inner_text().count("cogtcp lab FILE --native") == 1
    lab.after(lambda: lab.write(text))
    assert lab.page.locator("#wrong").inner_text() == ""


def test_a_link_restores_the_state(lab: Lab, browser: Any) -> None:
    lab.after(partial(lab.slide, OFF, 640))
    lab.page.wait_for_function("() => location.hash.length > 100")
    time.sleep(0.3)
    other = Lab(browser, lab.page.url)
    assert other.settled() == lab.settled()
    assert other.state() == lab.state()
    assert other.page.url == lab.page.url
    other.close()


@pytest.mark.parametrize(
    "fragment",
    [
        "<script>alert(1)</script>",
        "%E0%A4%A",
        packed(b"[" * 100_000),
        packed(b"\0" * 50_000_000),
        packed({"text": ["<b>"], "files": {"__proto__": "x"}}),
        packed({"text": 7}),
        packed({"__proto__": {"text": "x"}}),
    ],
    ids=["script", "no text", "nested", "bomb", "types", "number", "prototype"],
)
def test_a_hostile_link_does_no_harm(browser: Any, address: str, fragment: str) -> None:
    found = Lab(browser, f"{address}#{fragment}")
    assert (
        "fastest" in found.page.locator("#answer").inner_text()
        or "delivers" in found.page.locator("#answer").inner_text()
    )
    found.close()


def test_a_link_of_10_mb_does_no_harm(browser: Any, address: str) -> None:
    """The browser itself takes 2 MB; the page keeps to what it has, or starts over."""
    found = Lab(browser, f"{address}#sensed-link")
    found.page.evaluate("() => { location.hash = 'A'.repeat(10_000_000); }")
    found.page.evaluate("() => { location.hash = 'A'.repeat(1_900_000); }")
    found.settled()
    assert (
        "delivers" in found.page.locator("#answer").inner_text()
        or "fastest" in found.page.locator("#answer").inner_text()
    )
    found.close()


def test_a_hostile_scenario_is_shown_as_text(browser: Any, address: str) -> None:
    text = 'name = "<img src=x onerror=alert(1)>"\ndescription = "<script>alert(1)</script>"\n'
    found = Lab(
        browser, f"{address}#{packed({'text': text, 'name': '<b>', 'transports': ['<i>', 'os:system']})}"
    )
    assert "missing" in found.page.locator("#trouble").inner_text()
    assert found.page.locator("main img").count() == 0
    # Whatever found its way into the page: the policy runs no script that is not one of its files.
    found.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.head.append(script);
        }"""
    )
    time.sleep(0.2)
    assert found.page.evaluate("() => window.ran === undefined")
    assert any("Content Security Policy" in fault for fault in found.faults)
    found.faults.clear()
    found.close()


def test_a_link_of_the_documentation_opens_a_preset_with_its_transports(browser: Any, address: str) -> None:
    found = Lab(browser, f"{address}#start=see+chain-f7a+happen&transports=cubic%2Csack%2Cnone-such")
    state = found.state()
    assert (state["name"], state["transports"]) == ("see chain-f7a happen", ["cubic", "sack"])
    assert "cubic" in found.settled()
    found.close()


def test_a_trace_reaches_the_page_byte_by_byte(
    browser: Any, address: str, folder: Path, lab_data: dict[str, Any]
) -> None:
    """It is sent as steps from number to number."""
    (preset,) = [preset for preset in lab_data["presets"] if preset["name"] == "lte-trace"]
    (sent,) = [
        p for p in json.loads((folder / "data.json").read_text())["presets"] if p["name"] == "lte-trace"
    ]
    assert all("steps" in file for file in sent["files"].values())
    found = Lab(browser, f"{address}#start=lte-trace")
    assert found.state()["files"] == preset["files"] != {}
    found.close()


def test_fifty_changes_a_second_end_at_the_last(lab: Lab) -> None:
    lab.page.evaluate(
        """async (path) => {
          const input = document.querySelector(`input[data-path='${path}']`);
          for (let place = 400; place < 500; place++) {
            input.value = place;
            input.dispatchEvent(new Event("input"));
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }""",
        OFF,
    )
    bars = lab.settled()
    lab.after(partial(lab.slide, OFF, 600))
    assert lab.after(partial(lab.slide, OFF, 499)) == bars


def test_a_run_without_end_is_cancelled_at_once(lab: Lab) -> None:
    text = lab.state()["text"]
    # Far from its end when it is stopped, also on a busy machine.
    long = text.replace('duration = "60 s"', 'duration = "500000 s"')
    assert long != text
    lab.write(long)
    lab.page.wait_for_function("() => document.querySelector('#progress').value > 0")
    lab.after(lambda: lab.page.locator("#stop").click())
    assert "Stopped" in lab.page.locator("#trouble").inner_text()
    lab.after(lambda: lab.write(text))
    assert lab.page.locator("#trouble").inner_text() == ""


def test_a_worker_that_is_killed_is_replaced(lab: Lab) -> None:
    text = lab.state()["text"]
    lab.write(text.replace('duration = "60 s"', 'duration = "20000 s"'))
    lab.page.wait_for_function("() => document.querySelector('#progress').value > 0")
    lab.page.evaluate(
        "() => window.cogtcpLab.pool.running.forEach((job) => job.worker.onerror({ message: 'killed' }))"
    )
    lab.page.wait_for_function("() => document.querySelector('#trouble').textContent.includes('killed')")
    lab.after(lambda: lab.write(text))
    assert lab.page.locator("#trouble").inner_text() == ""


def test_a_tab_may_be_closed_in_a_run(browser: Any, address: str) -> None:
    found = Lab(browser, f"{address}#sensed-link")
    text = found.state()["text"].replace('duration = "60 s"', 'duration = "20000 s"')
    found.write(text)
    found.page.wait_for_function("() => document.querySelector('#progress').value > 0")
    found.close()
    Lab(browser, f"{address}#sensed-link").close()


def test_seeds_and_sweeps(lab: Lab) -> None:
    lab.page.locator("#seeds").fill("3")
    lab.page.locator("#seeds").dispatch_event("change")
    lab.page.locator("#compare").click()
    lab.page.wait_for_function("() => document.body.dataset.compared")
    said = lab.page.locator("#answer").inner_text()
    assert "95 %" in said
    assert "3 seeds" in said
    assert lab.page.locator("#bars .whisker").count() >= 2
    lab.page.locator("#axis").select_option(OFF)
    lab.page.locator("#sweep").click()
    lab.page.wait_for_function("() => document.body.dataset.swept")
    assert "3 seeds at 9 values" in lab.page.locator("#swept").inner_text()
    assert lab.page.locator("#sweepchart canvas").count() == 1


def test_what_is_saved_is_what_is_shown(lab: Lab, tmp_path: Path) -> None:
    lab.after(partial(lab.slide, OFF, 800))
    for button, check in (
        ("#save", lambda text: Scenario.from_toml(text).check()),
        ("#csv", lambda text: text.startswith("transport,seed,goodput_bps") and text.count("\n") == 4),
        ("#csvtable", lambda text: text.startswith("run,") and "cwnd_segments" in text.split("\n")[0]),
    ):
        with lab.page.expect_download() as download:
            lab.page.locator(button).click()
        download.value.save_as(tmp_path / "saved")
        assert check((tmp_path / "saved").read_text()) is not False, button


def test_a_capture_is_saved_for_wireshark(lab: Lab, tmp_path: Path) -> None:
    points = lab.page.locator("#point option").all_inner_texts()
    assert points == ["link@sender", "link@receiver"]
    with lab.page.expect_download() as download:
        lab.page.locator("#pcap").click()
    download.value.save_as(tmp_path / "saved.pcapng")
    saved = (tmp_path / "saved.pcapng").read_bytes()
    assert saved[:4] == b"\n\r\r\n"
    assert f"seed {lab.state()['seed']}".encode() in saved[:300]
    assert len(saved) > 100_000


def test_the_command_does_the_same(browser: Any, address: str, tmp_path: Path) -> None:
    def said_by(command: str) -> str:
        _, *words = shlex.split(command)
        done = subprocess.run(
            [sys.executable, "-m", "cogtcp", *words, "--out", tmp_path / "out", "--force"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    found = Lab(browser, f"{address}#sensed-link")
    found.page.locator("#seeds").fill("3")
    found.page.locator("#seeds").dispatch_event("change")
    found.page.locator("#seed").fill("5")
    found.after(lambda: found.page.locator("#seed").dispatch_event("change"))
    for change in (None, partial(found.slide, OFF, 650)):
        if change is not None:
            found.after(change)
            with found.page.expect_download() as download:
                found.page.locator("#save").click()
            download.value.save_as(tmp_path / download.value.suggested_filename)
        before = found.page.evaluate("() => document.body.dataset.compared ?? 0")
        found.page.locator("#compare").click()
        found.page.wait_for_function("(n) => (document.body.dataset.compared ?? 0) !== n", arg=before)
        command = found.page.locator("#command").inner_text()
        assert ("sensed-link.toml" in command) is (change is not None)
        answer = found.page.locator("#answer").inner_text()
        goodput = re.search(r"fastest: ([\d.]+) Mbit/s \(95 %: ([\d.]+) to ([\d.]+)\)", answer)
        assert goodput is not None, answer
        mean, low, high = map(re.escape, goodput.groups())
        printed = " ".join(said_by(command).split())
        assert re.search(rf"{mean} Mbit/s \(95 %\D* {low} to {high}\)", printed), (answer, printed)
    # Each flow with the transport of the scenario: one run.
    found.after(lambda: found.page.locator("#preset").select_option("see c2-t1 happen"))
    assert found.page.locator("#command").inner_text().startswith("cogtcp run see-c2-t1-happen.toml --seed ")
    found.close()


def test_traces_and_maps_may_be_dropped_onto_the_page(browser: Any, address: str) -> None:
    """Files that a scenario names are looked for by name, whatever folder the scenario names them in."""
    found = Lab(browser, f"{address}#lte-trace")
    state = found.state()
    (name,) = state["files"]
    assert "/" in name
    bars = found.settled()
    other = {**state, "files": {}, "name": "mine"}
    found.page.goto("about:blank")
    found.page.goto(f"{address}#{packed(other)}")
    found.settled()
    assert name in found.page.locator("#trouble").inner_text()
    drop = """([name, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], name));
      const drop = { dataTransfer: transfer, bubbles: true, cancelable: true };
      document.dispatchEvent(new DragEvent("drop", drop));
    }"""
    content = state["files"][name]
    found.after(lambda: found.page.evaluate(drop, [name.rpartition("/")[2], content]))
    assert found.settled() == bars
    assert found.state()["files"] == state["files"]
    # A scenario that is dropped takes the place of the text.
    text = next(p for p in site.data()["presets"] if p["name"] == "pu-arrivals")["text"]
    found.after(lambda: found.page.evaluate(drop, ["dropped.toml", text]))
    assert (found.state()["name"], found.state()["text"]) == ("dropped", text)
    found.close()


def test_the_page_opens_from_a_disk(
    browser: Any, folder: Path, wasm: Path, bundles: dict[str, bytes]
) -> None:
    made = site.contents(wasm=wasm.read_bytes(), bundles=bundles)
    (folder / "offline.html").write_bytes(offline.page(made))
    found = Lab(browser, f"{(folder / 'offline.html').as_uri()}#sensed-link")
    before = found.settled()
    assert found.after(partial(found.slide, OFF, 700)) != before
    found.page.wait_for_function("() => location.hash.length > 100")
    found.page.locator("#editor summary").click()
    found.page.locator(".cm-content").wait_for()
    found.close()
    # The page of a server says from a disk what to open.
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    assert "offline.html" in page.locator("#answer").inner_text()
    page.close()


def test_live_figures_of_the_documentation_move(
    browser: Any, folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence under a slider's new value is the one that Python writes of it."""
    monkeypatch.syspath_prepend(ROOT / "docs/site")
    import site_live

    lab = folder / "docs" / "lab"
    lab.mkdir(parents=True)
    for file in folder.glob("*.*"):
        (lab / file.name).write_bytes(file.read_bytes())
    for name, live in site_live.FIGURES.items():
        path = folder / "docs" / name.replace(".md", ".html")
        path.parent.mkdir(exist_ok=True)
        made = site_live.fill('<h2 id="parameters">Parameters</h2>', name, is_live=True)
        path.write_text(f'<!doctype html><meta charset="utf-8"><body>{made}</body>')
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(f"{address}docs/{name.replace('.md', '.html')}")
        slider = page.locator("figure input")
        slider.wait_for()
        assert not [url for url in asked if url.endswith(".wasm")]  # loaded when the slider is touched
        line = page.locator("figure svg svg path").first
        before = line.get_attribute("d")
        slider.evaluate("e => { e.value = 70; e.dispatchEvent(new Event('input')); }")
        page.wait_for_function("() => document.querySelector('figure').dataset.drawn")
        assert line.get_attribute("d") != before
        value = float(page.locator("figure").get_attribute("data-drawn"))
        moved = dataclasses.replace(live, slider=dataclasses.replace(live.slider, value=value))
        assert page.locator("figcaption").inner_text() == site_live.sentence(
            moved, site_live.computed(moved)[1]
        )
        page.close()


def test_the_editor_is_loaded_when_it_is_opened(browser: Any, whole: str) -> None:
    found = Lab(browser, f"{whole}#sensed-link")
    asked: list[str] = []
    found.page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    found.after(partial(found.slide, OFF, 700))
    assert not [name for name in asked if "bundle" in name]
    found.page.locator("#editor summary").click()
    text = found.page.locator(".cm-content")
    text.wait_for()
    assert "editor.bundle.js" in asked
    assert not found.page.locator("#text").is_visible()
    # The slider changes the text, the text the slider.
    found.after(partial(found.slide, OFF, 600))
    shown = found.page.evaluate("() => window.cogtcpLab.editor.text")
    assert shown == found.state()["text"]
    other = re.sub(r'off = "[^"]*"', 'off = "2 s"', shown)
    assert other != shown
    found.after(lambda: text.fill(other))
    assert Scenario.from_toml(found.state()["text"]).to_dict()["radio"][0]["sensing"]["off"] == "2 s"
    assert found.page.locator(f"label:has(input[data-path='{OFF}']) output").inner_text() == "2 s"
    # An error is underlined where it is, and completion knows the keys.
    found.after(lambda: text.fill(shown.replace('rate = "', 'rat = "')))
    marked = found.page.locator(".cm-lintRange-error")
    assert marked.first.inner_text() == "rat"
    found.after(lambda: text.fill(f"{shown}\n"))
    assert marked.count() == 0
    text.press("Control+End")
    found.page.keyboard.type("tcp = { timesta")
    found.page.locator(".cm-tooltip-autocomplete li").filter(has_text="timestamps").click()
    found.page.keyboard.type("true")
    found.page.wait_for_function("() => window.cogtcpLab.state.text.includes('timestamps = true')")
    found.page.wait_for_function("() => !document.querySelector('#trouble').textContent")
    found.settled()
    assert Scenario.from_toml(found.state()["text"]).to_dict()["flow"][0]["tcp"]["timestamps"] is True
    assert found.page.locator("#trouble").inner_text() == ""
    # Chromium gives what replaces coloured text its colour as a style of its own, which the policy refuses.
    found.faults = [fault for fault in found.faults if "Applying inline style" not in fault]
    found.close()


def test_parquet_holds_the_table(browser: Any, address: str, tmp_path: Path) -> None:
    """Also of the page without npm: the engine writes the file."""
    import pyarrow.parquet

    from cogtcp import run
    from cogtcp.model.of_tcp import columns_of_tcp

    found = Lab(browser, f"{address}#sensed-link")
    state = found.state()
    for name in ("flow_series", "flows", "tcp_flows", "events"):
        found.page.locator("#table").select_option(name)
        with found.page.expect_download() as download:
            found.page.locator("#parquet").click()
        download.value.save_as(tmp_path / name)
        saved = pyarrow.parquet.read_table(tmp_path / name)
        for transport in state["transports"]:
            expected = run(Scenario.from_toml(state["text"]).with_transport(transport), state["seed"]).table(
                name
            )
            # Python has TCP's columns beside those of all transports, the page in a table of their own.
            expected = expected.drop_columns([column[0] for column in columns_of_tcp(name)])
            rows = saved.filter(pyarrow.compute.field("run") == transport).drop_columns("run")
            assert rows.column_names == expected.column_names
            for column in rows.column_names:
                kind = expected[column].type
                kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
                pair = rows[column].cast(kind).to_pylist(), expected[column].cast(kind).to_pylist()
                assert all(a == b or (a != a and b != b) for a, b in zip(*pair, strict=True)), (name, column)
    found.close()


def test_numbers_have_what_tcp_alone_has(browser: Any, whole: str) -> None:
    from cogtcp.model.metrics import BY_NAME

    found = Lab(browser, f"{whole}#sensed-link")
    heads = found.page.locator("#numbers thead").inner_text()
    assert BY_NAME["rtos"].title in heads
    assert BY_NAME["fast_retransmits"].title in heads
    found.close()


def test_without_npm_there_is_a_text_field(lab: Lab) -> None:
    lab.page.evaluate("() => { document.querySelector('#editor').open = true; }")
    assert lab.page.locator("#text").is_visible()


def test_the_map_of_an_ad_hoc_network_plays(browser: Any, address: str) -> None:
    found = Lab(browser, f"{address}#adhoc-mobile")
    assert found.page.locator("#map circle").count() >= 25
    places = (
        "() => [...document.querySelectorAll('#map circle')].map((node) => node.getAttribute('cx')).join()"
    )
    before, began = (
        found.page.evaluate(places),
        float(found.page.evaluate("() => document.querySelector('#map').dataset.time")),
    )
    found.page.locator("#map button").click()
    found.page.wait_for_function(
        "(began) => Number(document.querySelector('#map').dataset.time) > began + 2", arg=began
    )
    assert found.page.evaluate(places) != before
    found.page.locator("#map button").click()
    # Another transport took other routes at some time; the map says whose run it shows.
    found.page.locator("#mapof").select_option(index=1)
    assert found.page.locator("#map svg path").count() > 0
    found.after(lambda: found.page.locator("#preset").select_option("sensed-link"))
    assert not found.page.locator("#map").is_visible()
    found.close()


def test_it_works_without_a_network_by_keyboard_and_on_a_phone(browser: Any, address: str) -> None:
    found = Lab(browser, f"{address}#sensed-link", width=390)
    found.page.context.set_offline(True)
    before = found.settled()
    found.page.locator(f"input[data-path='{OFF}']").focus()

    def press() -> None:
        for _ in range(5):
            found.page.keyboard.press("PageUp")

    assert found.after(press) != before
    assert found.page.evaluate("() => document.scrollingElement.scrollWidth") <= 390
    found.close()


def test_on_a_phone_the_answer_stays_above_the_sliders(browser: Any, address: str) -> None:
    found = Lab(browser, f"{address}#sensed-link", width=390)
    tops = """() => ['#answer', '#sliders', '#bars'].map(
      (name) => document.querySelector(name).getBoundingClientRect().top)"""
    answer, sliders, bars = found.page.evaluate(tops)
    assert answer < sliders < bars
    # It stays in view where the page scrolls.
    found.page.evaluate("() => window.scrollTo(0, 500)")
    found.page.wait_for_function("() => window.scrollY > 400")
    assert -1 <= found.page.evaluate(tops)[0] < 20
    assert found.page.evaluate("() => document.scrollingElement.scrollWidth") <= 390
    found.close()


def test_code_behind_a_comment_stays() -> None:
    text = b"/* a */ code();\n  // b\n/** c\n * d */\nmore(); // e\n"
    assert site._COMMENTS.sub(b"", text) == b"/* a */ code();\nmore(); // e\n"


def test_it_is_small(wasm: Path, bundles: dict[str, bytes]) -> None:
    if "web" not in wasm.parts:
        pytest.skip("the size is that of `make web`")
    assert site.size_gzipped(site.contents(wasm=wasm.read_bytes(), bundles=bundles)) <= site.MOST_GZIPPED
