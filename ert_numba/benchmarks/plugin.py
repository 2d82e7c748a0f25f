"""The pytest plugin: options, the fixture ``roofline_benchmark``, and the suite's hooks into pytest-benchmark.

pytest imports this module at every start wherever the package is installed, so everything heavy is imported where it is
used. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ert_numba.benchmarks.measuring import Listener
    from ert_numba.benchmarks.suite import Suite
    from ert_numba.benchmarks.user_kernel import Places, RooflineBenchmark  # noqa: F401 - Places: a stash key's type
    from ert_numba.records import DeviceInfo

PACKAGE = "ert_numba.benchmarks"
BACKENDS = ("auto", "cuda", "cpu")
DEFAULT_STORAGE = "file://./.benchmarks"  # pytest-benchmark's own
_SUITE = pytest.StashKey["Suite"]()
_PLACES = pytest.StashKey["Places"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("roofline", "rooflines (ert_numba)")
    group.addoption("--roofline-backend", choices=BACKENDS, default="auto", help="what to measure; auto takes a GPU")
    group.addoption("--roofline-device", type=int, default=0, metavar="N", help="which GPU, as CUDA counts them")
    group.addoption("--roofline-threads", type=int, metavar="N", help="workers on the CPU; one a physical core")
    group.addoption("--roofline-machine", metavar="PATH", help="a sweep's folder: the roofs of roofline_benchmark")
    group.addoption("--roofline-start", type=int, default=1, metavar="N", help="which of repeated starts this one is")
    group.addoption("--roofline-progress", type=int, metavar="FD", help="file descriptor to tell the progress to")
    group.addoption(
        "--roofline-provenance", choices=("minimal", "full"), default="minimal",
        help="full adds host name, user and command line to the file",
    )  # fmt: skip
    parser.addini("roofline_machine", "a sweep's folder: the roofs of roofline_benchmark", default="")


def suite_of(config: pytest.Config) -> Suite:
    """The session's suite, made at the first call. Raises ErtError."""
    if _SUITE not in config.stash:
        from ert_numba.benchmarks.suite import Suite

        options = config.option
        suite = Suite(options.roofline_backend, options.roofline_device, options.roofline_threads)
        config.stash[_SUITE] = suite
    return config.stash[_SUITE]


def listener_of(config: pytest.Config) -> Listener:
    """Whoever wants to be told how the measuring goes on: ``bench`` passes a pipe."""
    descriptor = config.option.roofline_progress
    if descriptor is None:
        return lambda key, done, of: None
    from ert_numba.benchmarks.progress import Measuring, tell

    return lambda key, done, of: tell(descriptor, Measuring(key, done, of))


class Reporter:
    """Tells ``bench`` of benchmarks that brought no figure."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "passed":
            return
        from ert_numba.benchmarks.progress import Left, tell

        # Of a skip (file, line, reason); of a failure its last line, which says what was wrong.
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = str(crash.message if crash else text).removeprefix("Skipped: ").splitlines()[0]
        key = report.nodeid.partition("[")[2].removesuffix("]") or report.nodeid
        tell(self.descriptor, Left(key, reason, report.outcome == "failed"))


@pytest.hookimpl(tryfirst=True)  # pytest-benchmark opens its storage in a hook of the same name
def pytest_configure(config: pytest.Config) -> None:
    if not _asked_for(config):
        return
    if not hasattr(config.option, "benchmark_storage"):
        raise pytest.UsageError("the suite needs pytest-benchmark: install it, and leave -p no:benchmark away")
    from ert_numba.errors import ErtError

    try:
        suite = suite_of(config)
        if config.option.benchmark_storage == DEFAULT_STORAGE:
            config.option.benchmark_storage = f"file://{storage_of(suite.device)}"
        _check_storage(config)
    except ErtError as error:
        raise pytest.UsageError(str(error)) from None
    if config.option.roofline_progress is not None:
        config.pluginmanager.register(Reporter(config.option.roofline_progress))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Which device the suite measures, and why not a better one."""
    if _SUITE not in config.stash:
        return []
    suite = config.stash[_SUITE]
    refused = [f"roofline: {row.backend} is not measured, {row.reason}" for row in suite.refusals]
    return [f"roofline: {suite.device.name}", *refused]


def storage_of(device: DeviceInfo, results: Path = Path("results")) -> Path:
    """One folder a device, so that two never mix: pytest-benchmark's own machine id knows no GPU."""
    return results / device.slug / "benchmarks"


def _check_storage(config: pytest.Config) -> None:
    """Before measuring: results that cannot be saved are found out now."""
    options = config.option
    where = str(options.benchmark_storage)
    if (options.benchmark_save or options.benchmark_autosave) and where.startswith("file://"):
        from ert_numba.files import check_writable

        check_writable(Path(where.removeprefix("file://")))


def _asked_for(config: pytest.Config) -> bool:
    here = Path(__file__).parent
    names = [argument.split("::")[0] for argument in config.args]
    return any(name.startswith(PACKAGE) or here in (path := Path(name).absolute(), *path.parents) for name in names)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_benchmark_generate_machine_info(config: pytest.Config) -> dict[str, Any] | None:
    """Of the suite's files: no host name, and no CPU's description that takes a second to gather; ours lies beside."""
    if _SUITE not in config.stash:
        return None
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "release": platform.release(),
        "python_implementation": platform.python_implementation(),
        "python_version": platform.python_version(),
    }


def _device_of(config: pytest.Config) -> DeviceInfo | None:
    """What the session has measured; None where no benchmark is ours."""
    if _SUITE in config.stash:
        return config.stash[_SUITE].device
    return config.stash[_PLACES].main if _PLACES in config.stash else None


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    device = _device_of(config)
    if device is None:
        return
    from ert_numba.benchmarks.measuring import as_json
    from ert_numba.benchmarks.suite import suite_info
    from ert_numba.starts import KEY

    full = config.option.roofline_provenance == "full"
    machine_info[KEY] = as_json(suite_info(device, config.option.roofline_start, full))
    if not full:
        machine_info.pop("node", None)  # results are made to be shared


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_benchmark_generate_commit_info(config: pytest.Config) -> dict[str, Any] | None:
    """The suite is the installed package's: whatever repository the user stands in says nothing of it."""
    if _SUITE not in config.stash:
        return None
    from ert_numba.store.provenance import collect

    tool = collect().tool
    return {"id": tool, "time": None, "author_time": None, "dirty": False, "project": "ert_numba", "branch": ""}


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_json(benchmarks: list[Any], output_json: dict[str, Any]) -> None:
    """The raw times of our benchmarks, which plain --benchmark-save drops and every interval needs."""
    times = {row.fullname: row.stats.data for row in benchmarks}
    for row in output_json["benchmarks"]:
        if "ert_numba" in row["extra_info"]:
            row["stats"].setdefault("data", times[row["fullname"]])


@pytest.fixture
def roofline_clock(request: pytest.FixtureRequest) -> None:
    """Before ``benchmark`` is made: the timer that it will read, beside what the test's own mark asks."""
    from ert_numba.benchmarks.device_clock import DEVICE_CLOCK

    mark = request.node.get_closest_marker("benchmark")
    wanted = dict(mark.kwargs if mark else {}, timer=DEVICE_CLOCK)
    request.node.add_marker(pytest.mark.benchmark(**wanted), append=False)


@pytest.fixture
def roofline_benchmark(request: pytest.FixtureRequest, roofline_clock: None, benchmark: Any) -> RooflineBenchmark:
    """``roofline_benchmark(callable, flop=..., bytes=..., precision=..., level=...)``: a kernel's share of its roof.

    See ``ert_numba.benchmarks.user_kernel.RooflineBenchmark``.
    """
    from ert_numba.benchmarks.user_kernel import Places, RooflineBenchmark

    config = request.config
    places = config.stash.setdefault(_PLACES, Places(config))
    return RooflineBenchmark(benchmark, request.node.nodeid, config.option.roofline_backend, places)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if _PLACES in config.stash and config.stash[_PLACES].lines:
        terminalreporter.section("rooflines")
        for line in config.stash[_PLACES].summary():
            terminalreporter.line(line)
