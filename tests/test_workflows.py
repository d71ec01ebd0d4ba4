"""The workflows have few rights, run pinned actions, and install what they built."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conftest import ROOT

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())
    return found


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_all_are_here() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "pages.yml", "wheels.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_few_rights_and_pinned_actions(path: Any) -> None:
    workflow = read(path.name)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        # Only what deploys the site may write, and it runs no code of a checkout.
        if "permissions" in job:
            assert (path.name, name) == ("pages.yml", "deploy")
            assert not any("checkout" in step.get("uses", "") or "run" in step for step in job["steps"])
    for line in path.read_text().splitlines():
        if "uses:" in line:
            assert re.search(r"uses: [\w.-]+/[\w.-]+@[0-9a-f]{40}  # v\d+(\.\d+)*$", line), line
    for step in steps(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        # An expression in a shell's text would run what a branch or a title says.
        assert "${{" not in step.get("run", ""), step
    assert "pull_request_target" not in path.read_text()


def test_ci_runs_what_a_change_needs() -> None:
    jobs = read("ci.yml")["jobs"]
    systems = {entry["image"] for entry in jobs["linux"]["strategy"]["matrix"]["include"]}
    assert {image.partition(":")[0] for image in systems} == {"debian", "ubuntu"}
    assert any(".ci/run" in step.get("run", "") for step in jobs["linux"]["steps"])
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    # Docs of the crates and the site are built, and a warning is an error.
    built = {step.get("run") for step in jobs["docs"]["steps"]}
    assert {"make rustdoc", "make docs"} <= built
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r'^rustdoc:.*\n\tRUSTDOCFLAGS="-D warnings" cargo doc', makefile, re.MULTILINE)
    assert re.search(r"^docs:.*\n(\t.*\n)*\t.*mkdocs build .*--strict", makefile, re.MULTILINE)
    assert any(step.get("run") == "time make demo" for step in jobs["demo"]["steps"])
    assert any(step.get("run") == "make advisories" for step in jobs["advisories"]["steps"])
    assert "cargo-deny --locked check advisories" in makefile
    others = jobs["others"]["strategy"]["matrix"]["include"]
    assert any(entry["os"].startswith("macos") for entry in others)
    assert any(entry["python"] == "3.x" for entry in others)
    assert all("timeout-minutes" in job for job in jobs.values())


def test_the_wheel_that_is_uploaded_is_the_wheel_that_was_tried() -> None:
    runs = [step["run"] for step in steps(read("wheels.yml")) if "pip install" in step.get("run", "")]
    assert len(runs) == 1
    (install,) = (line for line in runs[0].splitlines() if line.lstrip().startswith("pip install"))
    assert install.split() == ["pip", "install", "dist/*.whl"]


def test_the_container_runs_without_root() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    last = lines[max(number for number, line in enumerate(lines) if line.startswith("FROM ")) :]
    users = [line.split()[1] for line in last if line.startswith("USER ")]
    assert users
    assert users[-1] not in ("root", "0")
    assert lines.index(f"USER {users[-1]}") < next(
        n for n, line in enumerate(lines) if line.startswith("ENTRYPOINT")
    )


def test_dependabot_looks_at_what_is_pinned() -> None:
    found = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())
    assert {entry["package-ecosystem"] for entry in found["updates"]} == {"github-actions", "cargo", "docker"}


def test_the_container_is_made_from_an_image_by_its_digest() -> None:
    text = (ROOT / "Dockerfile").read_text()
    bases = re.findall(r"\bBASE=(\S+)", text)
    assert len(bases) == 2
    assert all(re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", base) for base in bases), bases
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"$BASE"}
