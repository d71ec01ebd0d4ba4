"""What a fresh machine relies on."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["run", "dev", "toolchain"])
def test_locks_pin_every_package_by_hash_and_name_no_host(name: str) -> None:
    lock = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert "://" not in lock
    assert "index-url" not in lock
    entries = re.split(r"\n(?=\S)", lock.strip())
    packages = [entry for entry in entries if not entry.lstrip().startswith("#")]
    assert packages
    for entry in packages:
        assert re.match(r"[\w.-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_development_lock_has_the_versions_of_the_other() -> None:
    pins = {
        name: dict(
            re.findall(r"^([\w.-]+)==(\S+)", (ROOT / f"requirements/{name}.txt").read_text(), re.MULTILINE)
        )
        for name in ("run", "dev")
    }
    assert pins["run"].items() <= pins["dev"].items()


def test_make_help_lists_the_targets() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    listed = re.findall(r"^  make (\w+) ", done.stdout, re.MULTILINE)
    assert {"demo", "test", "lint", "bench", "help"} <= set(listed)


def test_the_lab_is_written_where_cargo_writes_nothing() -> None:
    """Cargo keeps a folder of each profile in target/: `make site` would publish what is in it."""
    done = subprocess.run(["make", "--dry-run", "web"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    written = re.findall(r"cogtcp\.lab\.site target/(\S+)", done.stdout)
    profiles = re.findall(r"^\[profile\.(\w+)\]", (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert len(written) == 1
    assert "web" in profiles
    assert not {*written} & {*profiles, "debug"}


def test_what_is_shipped_is_optimised_at_link_time() -> None:
    """Cargo leaves link-time optimisation out of a library of two kinds, and does not say so."""
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        kinds = tomllib.loads(manifest.read_text()).get("lib", {}).get("crate-type", ["lib"])
        assert len(kinds) == 1, manifest
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", "web"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for text in (done.stdout, (ROOT / ".github/workflows/wheels.yml").read_text()):
        built = [line.split() for line in text.splitlines() if "-p cogtcp-web" in line]
        assert built
        assert all({"rustc", "--crate-type", "cdylib"} <= {*line} for line in built)


def script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def toolchain(*arguments: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run requirements/toolchain.sh as on a machine whose only Rust is in a folder."""
    search = ":".join([*([str(path)] if path else []), "/usr/bin", "/bin"])
    return subprocess.run(
        ["requirements/toolchain.sh", *map(str, arguments)],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": search},
    )


@pytest.mark.skipif(
    any(Path(folder, "cargo").exists() for folder in ("/usr/bin", "/bin")), reason="cargo cannot be hidden"
)
@pytest.mark.parametrize(
    ("rustc", "found"),
    [
        ("echo rustc 1.95.0 (59807616e 2026-04-14)", True),
        ("echo rustc 1.100.2", True),
        ("echo rustc 2.0.0", True),
        ("echo rustc 1.94.9", False),
        ("echo rustc 1.63.0", False),  # Debian 12's
        ("exit 1", False),  # rustup's shim, without a toolchain
        (None, False),
    ],
)
def test_only_a_rust_that_is_new_enough_is_taken(rustc: str | None, found: bool, tmp_path: Path) -> None:
    if rustc is not None:
        script(tmp_path / "rustc", rustc.replace("(", "'(").replace(")", ")'"))
        script(tmp_path / "cargo", "exit 0")
    done = toolchain("found", "1.95", path=tmp_path)
    assert (done.returncode == 0) is found
    assert done.stdout + done.stderr == ""


def test_a_rust_that_cannot_be_had_is_one_clear_message(tmp_path: Path) -> None:
    script(tmp_path / "python/bin/pip", "exit 0")
    script(tmp_path / "python/bin/python", "echo a long story >&2; echo no way to pypi >&2; exit 1")
    done = toolchain("get", "1.95", tmp_path)
    assert done.returncode == 1
    assert "no Rust 1.95 or newer on this machine" in done.stderr.splitlines()[0]  # said before it is done
    assert done.stderr.count("no way to pypi") == 1
    assert "https://rustup.rs" in done.stderr
    assert "a long story" not in done.stderr


def test_rust_comes_into_the_folder_that_is_named(tmp_path: Path) -> None:
    script(tmp_path / "python/bin/pip", "exit 0")
    # What puccinialin leaves.
    got = "mkdir -p {0}; for tool in cargo rustc; do printf '#!/bin/sh\necho rustc 1.99.1\n' > {0}/$tool; "
    got = got.format(tmp_path / "cargo/bin") + f"chmod +x {tmp_path}/cargo/bin/$tool; done"
    script(tmp_path / "python/bin/python", got)
    done = toolchain("get", "1.95", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Rust is there: rustc 1.99.1" in done.stderr


def test_make_builds_with_a_rust_of_its_own_where_there_is_none(tmp_path: Path) -> None:
    script(tmp_path / "cargo", "exit 1")
    where = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["make", "--dry-run", "setup", f"TOOLCHAIN={tmp_path}/own", f"VENV={tmp_path}/venv"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **where},
    )
    assert f"requirements/toolchain.sh get 1.95 {tmp_path}/own" in done.stdout
    assert not list(tmp_path.glob("own*"))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder outside the tree, with a wheel installed into the empty environment in `venv/`."""
    folder = tmp_path_factory.mktemp("elsewhere")
    # As `make wheel` does; the engine is compiled already, by `make setup`.
    build = [sys.executable, "-m", "maturin", "build", "--quiet", "--release", "--locked", "--out", folder]
    subprocess.run(build, cwd=ROOT, check=True)
    (wheel,) = folder.glob("cogtcp-*-cp311-abi3-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    # `pip install cogtcp`, from an index as registries are (PEP 503).
    index = folder / "simple" / "cogtcp"
    index.mkdir(parents=True)
    shutil.copy(wheel, index)
    (index / "index.html").write_text(f'<!doctype html><a href="{wheel.name}">{wheel.name}</a>')
    pip = [sys.executable, "-m", "pip", "--isolated", "--python", folder / "venv/bin/python"]
    options = ["--quiet", "--no-deps", "--no-cache-dir", "--index-url", (folder / "simple").as_uri()]
    subprocess.run([*pip, "install", *options, "cogtcp"], check=True)
    # What it depends on comes from here, for want of a registry. Files named *.pth there are not heeded, so
    # that this tree is not on the path.
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def installed(folder: Path, *arguments: str) -> str:
    """Run a script of the environment there, and return what it prints."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    first, *rest = arguments
    done = subprocess.run(
        [folder / "venv/bin" / first, *rest],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_installs_elsewhere(elsewhere: Path) -> None:
    where = installed(elsewhere, "python", "-c", "import cogtcp; print(cogtcp.__file__)")
    assert where.startswith(str(elsewhere))
    # The demo, its page with charts; the studies; the lab's presets and page.
    compared = installed(
        elsewhere,
        "cogtcp",
        "compare",
        "sensed-link",
        "--transport",
        "newreno,sack",
        "--seeds",
        "2",
        "--out",
        "out",
    )
    assert "sack is fastest" in compared
    assert "uPlot" in (elsewhere / "out/report.html").read_text()
    assert "chain-f7a" in installed(elsewhere, "cogtcp", "reproduce", "--list")
    installed(elsewhere, "cogtcp", "check", "train-journey")  # names a map beside it
    presets = "from cogtcp.lab.presets import presets; print(*presets(None), sep='\\n')"
    assert {"sensed-link", "chain: dumbbell"} <= {*installed(elsewhere, "python", "-c", presets).splitlines()}


def test_a_wheel_carries_every_file_of_the_package(elsewhere: Path) -> None:
    (site,) = (elsewhere / "venv").glob("lib/python*/site-packages")
    listed = subprocess.run(
        ["git", "ls-files", "python/cogtcp"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    assert not [name for name in listed if not (site / name.removeprefix("python/")).is_file()]


def test_a_wheel_carries_the_page_of_the_lab(elsewhere: Path) -> None:
    """With the engine and what comes from npm, where they were built; else the page asks `cogtcp lab`."""
    from cogtcp.lab import site

    script = "from cogtcp.lab import site; made = site.contents(wasm=site.shipped_wasm()); "
    script += "print(made['data.json'].decode()); print(*sorted(made))"
    data, names = installed(elsewhere, "python", "-c", script).splitlines()
    here = site.shipped_wasm()
    assert json.loads(data)["engine"] == ("native" if here is None else "wasm")
    assert names.split() == sorted(site.contents(wasm=here))


def test_one_version_is_named_everywhere() -> None:
    named = {
        "Cargo.toml": r'^version = "(.*)"$',
        "CITATION.cff": r"^version: (.*)$",
        "CHANGELOG.md": r"^## (\d\S*) \(",  # the newest
    }
    found = {
        file: re.search(pattern, (ROOT / file).read_text(), re.MULTILINE) for file, pattern in named.items()
    }
    versions = {file: match[1] if match else None for file, match in found.items()}
    assert len({*versions.values()}) == 1, versions
