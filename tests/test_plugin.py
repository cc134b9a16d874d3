"""The plugin under examples/plugin, really installed: found without configuration, imported only when it is asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import measurand

ROOT: Final = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin installed in it, and with a second one that cannot be imported."""
    folder = tmp_path_factory.mktemp("site")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile", "--target", str(folder)]
    subprocess.run([*install, str(ROOT / "examples" / "plugin")], check=True, capture_output=True)
    broken = folder / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text("[measurand.metrics]\nbroken = broken_metrics\n")
    (folder / "broken_metrics.py").write_text("raise OSError('the licence server is away')\n")
    return folder


def run(site: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    package = Path(measurand.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), str(site)]), **variables}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, cwd=site, timeout=60)


def test_a_plugin_is_not_imported_unless_asked_for(site: Path) -> None:
    done = run(site, "-c", "import sys; from measurand import registry; print(len(registry) > 0, 'acme_metrics' in sys.modules)")
    assert done.stdout == "True False\n"


def test_naming_a_metric_of_it_loads_it(site: Path) -> None:
    done = run(site, "-c", "from measurand import registry; one = registry['acme.polite']; print(one.plugin, one.type, one.requires)")
    assert done.stdout == "acme binary ('output',)\n"


def test_the_function_scores(site: Path) -> None:
    code = "from measurand import score; print(score('acme.polite', output='Please wait').score, score('acme.polite', output='Wait').score)"
    assert run(site, "-c", code).stdout == "1.0 0.0\n"


def test_the_object_scores_and_keeps_its_details(site: Path) -> None:
    code = "from measurand import score; r = score('acme.answered_shortly', output='word ' * 120); print(r.score, dict(r.details), r.status)"
    assert run(site, "-c", code).stdout == "0.5 {'words': 120} ok\n"


def test_a_plugin_that_cannot_be_imported_disturbs_nothing(site: Path) -> None:
    code = "from measurand import registry\nprint(registry.get('acme.polite').name)\ntry:\n    registry['broken.metric']\nexcept KeyError as error:\n    print(error)"
    done = run(site, "-c", code)
    assert done.stdout.splitlines()[0] == "acme.polite"
    assert "OSError: the licence server is away" in done.stdout


def test_the_operator_can_switch_plugins_off(site: Path) -> None:
    assert run(site, "-c", "from measurand import registry; print(registry.get('acme.polite'))", METRICS_NO_PLUGINS="1").stdout == "None\n"


def test_list_shows_its_metrics(site: Path) -> None:
    done = run(site, "-m", "measurand", "list", "--plugins", "--json")
    listed = {one["name"]: one["plugin"] for one in json.loads(done.stdout)}
    assert listed["acme.polite"] == listed["acme.answered_shortly"] == "acme"
    assert listed["code_exact_match"] is None


def test_list_names_the_broken_one_with_its_reason(site: Path) -> None:
    done = run(site, "-m", "measurand", "list", "--plugins")
    assert "broken" in done.stdout + done.stderr
    assert "the licence server is away" in done.stdout + done.stderr


def test_a_file_of_metrics_is_loaded_by_name(site: Path) -> None:
    done = run(site, "-m", "measurand", "list", "--load", str(ROOT / "examples" / "my_metrics.py"), "--search", "my.", "--format", "names")
    assert done.stdout.split() == ["my.handed_over", "my.longest_silence"]
