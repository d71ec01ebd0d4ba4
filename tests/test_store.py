"""A sweep's data set in a second place: a folder, and a real S3 server (moto's)."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp import OutputError, Scenario, UsageError
from cogtcp.model.results_schema import RESULTS_SCHEMA
from conftest import PATIENCE, SMALL, files

if TYPE_CHECKING:
    from collections.abc import Iterator

ON = "radio.0.sensing.on"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Return the address of a bucket on a server of this test's."""
    interpreter = Path(sys.prefix) / "s3" / "bin" / "python"
    if not interpreter.exists():
        pytest.skip("moto's S3 server is not installed (make .venv/.s3)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ):
        monkeypatch.setenv(name, value)
    program = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    server = subprocess.Popen(
        [interpreter, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(10 * PATIENCE):
            try:
                request = urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT")
                urllib.request.urlopen(request, timeout=5).close()  # noqa: S310
                break
            except OSError:
                time.sleep(0.1)
        yield f"s3://bucket/sweeps/one?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
    finally:
        server.terminate()
        server.wait()


def sweep(out: Path, store: str, seeds: int) -> Any:
    scenario = Scenario.from_toml(SMALL).set("run.duration", "5 s")
    return cogtcp.sweep(
        scenario, {ON: ["1 s", "2 s"]}, transports=["newreno", "sack"], seeds=seeds, out=out, store=store
    )


def data(folder: Path) -> dict[str, bytes]:
    return {
        name: (folder / "data" / name).read_bytes() for name in files(folder / "data") if name.endswith("t")
    }


def there_and_back(tmp_path: Path, store: str) -> None:
    sweep(tmp_path / "a", store, 2)
    # On another machine, with nothing but the address.
    more = sweep(tmp_path / "b", store, 3)
    assert (more.progress.known, more.progress.made) == (8, 4)
    sweep(tmp_path / "c", store, 3)
    assert data(tmp_path / "b") == data(tmp_path / "c")


def test_a_store_says_its_version(tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep(tmp_path / "a", str(store), 1)
    marker = store / "cogtcp.json"
    said = json.loads(marker.read_text())
    assert said["schema"] == RESULTS_SCHEMA
    # Stores from before that said nothing: they are gone on with.
    del said["schema"]
    marker.write_text(json.dumps(said))
    more = sweep(tmp_path / "b", str(store), 2)
    assert (more.progress.known, more.progress.made) == (4, 4)
    # One of a later cogtcp is neither read nor written over.
    newer = json.dumps({**said, "schema": RESULTS_SCHEMA + 1, "version": "9.0"})
    marker.write_text(newer)
    with pytest.raises(UsageError, match=r"store: was made by a newer cogtcp \(9\.0\).*update cogtcp"):
        sweep(tmp_path / "c", str(store), 2)
    assert marker.read_text() == newer


def test_a_folder_as_a_store(tmp_path: Path) -> None:
    there_and_back(tmp_path, str(tmp_path / "shared" / "disk"))
    assert data(tmp_path / "shared" / "disk") == data(tmp_path / "b")


def test_an_s3_server_as_a_store(s3: str, tmp_path: Path) -> None:
    import pyarrow.dataset as ds
    from pyarrow import fs

    there_and_back(tmp_path, s3)
    system, root = fs.FileSystem.from_uri(s3)
    rows = ds.dataset(f"{root}/data/runs", filesystem=system, partitioning="hive").to_table()
    assert rows.num_rows == 12
    assert set(rows["transport"].to_pylist()) == {"newreno", "sack"}


def test_a_store_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--store nosuch://x"):
        sweep(tmp_path / "a", "nosuch://x", 1)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="they are in"):
        sweep(tmp_path / "a", str(tmp_path / "file" / "x"), 1)
