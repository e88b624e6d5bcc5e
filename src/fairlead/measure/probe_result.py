# SPDX-License-Identifier: Apache-2.0
"""Reads and checks the measuring program's output and makes a network from it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.errors import ProbeError
from fairlead.files.naming import first_problem
from fairlead.measure.host_row import HostRow, UnknownHost, problems_of, read_host_row
from fairlead.measure.one_machine import group_by_machine
from fairlead.model.host_rates import RATES, HostRates
from fairlead.model.network import Network

PAIRS_FORMAT = "fairlead-probe"
"""Format of the document of all pairs."""

Rank = Annotated[int, pydantic.Field(ge=0)]
Count = Annotated[int, pydantic.Field(ge=0)]
Seconds = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]


class Pair(NamedTuple):
    """What one meeting of two ranks found, `low < high`; None where nothing was measured."""

    low: Rank
    high: Rank
    latency_s: Seconds | None
    latency_low_s: Seconds | None
    latency_high_s: Seconds | None
    num_latencies: Count
    there_Bps: Rate | None
    there_low_Bps: Rate | None
    there_high_Bps: Rate | None
    num_there: Count
    back_Bps: Rate | None
    back_low_Bps: Rate | None
    back_high_Bps: Rate | None
    num_back: Count


Host = Annotated[HostRow | UnknownHost, pydantic.PlainValidator(read_host_row)]


class ProbeResult(pydantic.BaseModel, extra="forbid"):
    """The document that rank 0 prints; both partners of a pair report it, so it may come twice."""

    format: Literal["fairlead-probe"]
    version: Literal[1]
    mode: Literal["quick", "long-trains", "full"]
    round_trip_bytes: int = pydantic.Field(gt=0)
    message_bytes: int = pydantic.Field(gt=0)
    concurrency: int = pydantic.Field(ge=1)
    num_rounds: int = pydantic.Field(ge=0)
    probing_s: Seconds
    mpi_bytes: Count = 0
    tcp_bytes: Count = 0
    node_names: list[str]
    host_identities: list[Count] = []
    """Equal for ranks on one host, whatever its names; 0, or none at all, where it is unknown."""
    hosts: list[Host] = []
    """Each rank's host; none at all where it was not asked for."""
    pairs: list[Pair]

    def join_results(self, later: ProbeResult) -> ProbeResult:
        """Both results, of the same ranks, as one, with the lost ranks of the later one."""
        names = zip(self.node_names, later.node_names, strict=True)
        return self.model_copy(
            update={
                "node_names": [first and second for first, second in names],
                "pairs": [*self.pairs, *later.pairs],
                "hosts": self.hosts or later.hosts,
                "probing_s": self.probing_s + later.probing_s,
            }
        )

    def completed_pairs(self) -> npt.NDArray[np.bool_]:
        """Pairs of ranks whose meeting was completed, shape (ranks, ranks), symmetric.

        Both partners of such a meeting report it. If time was short, it may have no values.
        """
        num_ranks = len(self.node_names)
        reports = np.zeros((num_ranks, num_ranks), dtype=np.int64)
        for pair in self.pairs:
            reports[pair.low, pair.high] += 1
        return np.asarray((reports + reports.T) > 1)

    @property
    def lost_ranks(self) -> list[int]:
        """Ranks that did not report."""
        return [rank for rank, name in enumerate(self.node_names) if not name]

    def to_network(
        self, hosts: Sequence[str], measured_hosts: Sequence[str], origin: dict[str, Any]
    ) -> Network:
        """The network of all `hosts`, with `nan` where nothing was measured.

        Args:
            hosts: Hosts of the network, length H.
            measured_hosts: Host of each rank that measured.
            origin: Origin of the network. Where rates of hosts are unknown, the network's has
                `unknown_host_rates`, too: the reason of each. Where hosts are one machine, it has
                `one_machine`.
        """
        position = {host: index for index, host in enumerate(hosts)}
        index = [position[host] for host in measured_hosts]
        shape = (len(hosts), len(hosts))
        latencies: dict[str, Any] = {
            name: np.full(shape, np.nan)
            for name in ("latency_s", "latency_low_s", "latency_high_s")
        }
        rates: dict[str, Any] = {
            name: np.full(shape, np.nan)
            for name in ("bandwidth_Bps", "bandwidth_low_Bps", "bandwidth_high_Bps")
        }
        samples = np.zeros(shape, dtype=np.int64)
        # The more complete one of two reports of a meeting is written last.
        for pair in sorted(self.pairs, key=_num_samples):
            low, high = index[pair.low], index[pair.high]
            for there, rate in (((low, high), pair[6:9]), ((high, low), pair[10:13])):
                _store(latencies, there, pair[2:5])
                _store(rates, there, rate)
            samples[low, high] = pair.num_latencies + pair.num_there
            samples[high, low] = pair.num_latencies + pair.num_back
        for matrix in latencies.values():
            np.fill_diagonal(matrix, 0.0)
        for matrix in rates.values():
            np.fill_diagonal(matrix, np.inf)
        return Network(
            hosts=tuple(hosts),
            **latencies,
            **rates,
            samples=samples,
            host_rates=self._host_rates(index, len(hosts)),
            origin={
                **origin,
                **self._unknown_rates(measured_hosts),
                **group_by_machine(measured_hosts, self.host_identities),
            },
        )

    def _unknown_rates(self, measured_hosts: Sequence[str]) -> dict[str, Any]:
        problems = problems_of(self.hosts, measured_hosts) if self.hosts else {}
        return {"unknown_host_rates": problems} if problems else {}

    def _host_rates(self, index: Sequence[int], num_hosts: int) -> HostRates | None:
        if not any(isinstance(row, HostRow) for row in self.hosts):
            return None
        values = np.full((num_hosts, len(RATES), 3), np.nan)
        num_cores = np.zeros(num_hosts, dtype=np.int64)
        for position, row in zip(index, self.hosts, strict=True):
            if isinstance(row, HostRow):
                num_cores[position] = row.num_cores
                values[position] = row.intervals
        return HostRates(values, num_cores)


def _num_samples(pair: Pair) -> int:
    return pair.num_latencies + pair.num_there + pair.num_back


def _store(matrices: dict[str, Any], place: tuple[int, int], values: Sequence[Any]) -> None:
    for matrix, value in zip(matrices.values(), values, strict=True):
        matrix[place] = or_nan(value)


def or_nan(value: float | None) -> float:
    """The value, or `nan` where nothing was measured."""
    return float("nan") if value is None else value


Document = TypeVar("Document", bound=pydantic.BaseModel)


_SENT = re.compile(r'"mpi_bytes": ?(\d+), ?"tcp_bytes": ?(\d+)')

LEAST_SENT_BYTES = 1 << 16
"""Less, as of round trips alone, says nothing: launchers' own connections carry some."""

LEAST_TCP_SHARE = 0.5
"""What TCP carries is acknowledged a little later; another network leaves TCP almost nothing."""


def sends_by_tcp(printed: str) -> bool | None:
    """Whether the MPI sends by TCP, by what sockets of rank 0 have carried meanwhile.

    Args:
        printed: Standard output of the measuring program, with its documents.

    Returns:
        None where rank 0 has sent too little to know.
    """
    found = [(int(by_mpi), int(by_tcp)) for by_mpi, by_tcp in _SENT.findall(printed)]
    by_mpi, by_tcp = max(found, default=(0, 0))
    return by_tcp >= LEAST_TCP_SHARE * by_mpi if by_mpi >= LEAST_SENT_BYTES else None


def read_document(printed: str, form: str, kind: type[Document], name: str) -> Document | None:
    """The JSON document of this format; None if it is missing or incomplete.

    Args:
        printed: Standard output of the launcher, which may have lines of its own in it.
        form: Its field `format`, which is the first.
        kind: What it must be.
        name: Whose result it is, for the message.

    Raises:
        ProbeError: The document is complete, but not of this kind.
    """
    document = _whole_document(printed, form)
    if document is None:
        return None
    try:
        return kind.model_validate(document)
    except pydantic.ValidationError as error:
        raise ProbeError(f"result of the {name}: {first_problem(error)}") from error


def _whole_document(printed: str, form: str) -> Any:
    place = re.search(rf'\{{"format": ?"{re.escape(form)}"', printed)
    if place is None:
        return None
    try:
        return json.JSONDecoder().raw_decode(printed, place.start())[0]
    except json.JSONDecodeError:
        return None


class Documents:
    """Reads the launcher's output and detects when all documents have arrived."""

    def __init__(self, formats: Sequence[str]):
        self._formats = formats
        self._printed: list[str] = []

    def is_last(self, line: str) -> bool:
        """Whether this line of the output ends the last of the documents."""
        self._printed.append(line)
        if not line.rstrip().endswith("}"):
            return False
        printed = "".join(self._printed)
        return all(_whole_document(printed, form) is not None for form in self._formats)


def read_result(printed: str, num_ranks: int) -> ProbeResult | None:
    """Find and check the document in what the launcher printed.

    Args:
        printed: Standard output of the launcher, which may have lines of its own in it.
        num_ranks: Number of ranks that were started.

    Returns:
        The result, or None when there is no document or only the beginning of one.

    Raises:
        ProbeError: The document is complete, but not in the program's form.
    """
    result = read_document(printed, PAIRS_FORMAT, ProbeResult, "probe")
    if result is None:
        return None
    if len(result.node_names) == 1 < num_ranks:
        raise ProbeError(
            "each process of the probe is alone: the launcher starts them without a PMI that their "
            "MPI takes (srun: --mpi)"
        )
    if len(result.node_names) != num_ranks:
        raise ProbeError(
            f"result of the probe: node_names: expected {num_ranks}, got {len(result.node_names)}"
        )
    if len(result.hosts) not in (0, num_ranks):
        raise ProbeError(
            f"result of the probe: hosts: expected {num_ranks}, got {len(result.hosts)}"
        )
    for pair in result.pairs:
        if not pair.low < pair.high < num_ranks:
            raise ProbeError(
                f"result of the probe: pairs: {pair.low} and {pair.high} are no pair of "
                f"{num_ranks} ranks"
            )
    return result
