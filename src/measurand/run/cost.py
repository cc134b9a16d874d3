"""What a plan will ask and cost: the metrics' own generators, driven on a sample of the rows with stand-in replies. Nothing is sent.

Every verdict is once no and once yes; the dearer path is planned. Requests are rendered by the code that renders a run's, identical ones are shared,
questions that go together go in the same waves, reasons are asked for at the end. What the sample comes to is carried over to all rows by the characters
that they show.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from attrs import define, evolve, field, frozen

from measurand.core.cell import OK, EvaluationContext, Outcome, Program
from measurand.core.drive import stand_in
from measurand.core.errors import CellError
from measurand.core.exchange import ModelRequest
from measurand.core.instance import Instance
from measurand.core.request import Ask, Embed, Request
from measurand.core.result import passed
from measurand.judge import Exchange, Probe, Row, Ways, asked, probe, together, ways
from measurand.judge.explain import explain
from measurand.run.asking.panel import asked_of
from measurand.run.asking.waves import class_of
from measurand.run.bind import Bound, BoundModel
from measurand.run.sample import Sampled, Sizes
from measurand.runtime.tokens import estimate, estimate_request

TRIED: Final = 8
"""Rows on which it is found out which way of asking is the dearer one, while a model is not probed."""
_MOST_REQUESTS: Final = 1_000
"""A metric that asks on and on is left here."""
_VERDICTS: Final = (0.0, 1.0)


class Where(NamedTuple):
    """Who pays what."""

    metric: int
    """Its index."""
    model: str
    """Its name with its section."""
    reasons: bool = False
    """Whether it is for reasons, which stand beside the metric's own requests."""


@define
class Spent:
    """Calls, batches and tokens; parts of a call where questions share one."""

    calls: float = 0.0
    calls_min: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0

    def add(self, other: Spent, times: float = 1.0) -> None:
        """Adds `times` the other."""
        self.calls += times * other.calls
        self.calls_min += times * other.calls_min
        self.input_tokens += times * other.input_tokens
        self.output_tokens += times * other.output_tokens

    @property
    def weight(self) -> float:
        """How dear it is where no price is known: tokens received cost about four times as much as those sent."""
        return self.input_tokens + 4 * self.output_tokens


Bill: TypeAlias = dict[Where, Spent]


@frozen(eq=False)
class Expected:
    """What one metric will ask of one model, over all rows. `reasons`: for reasons, else for its score."""

    index: int
    model: BoundModel
    spent: Spent
    reasons: bool = False


@frozen(eq=False)
class Estimate:
    """What the planner found: the bills, and which kinds of requests each metric made on the sample."""

    expected: tuple[Expected, ...]
    kinds: Mapping[int, frozenset[str]]
    ways: Mapping[str, Ways]
    """Judge → how it is planned to be asked."""
    probed: Mapping[str, bool]
    """Judge → whether the record says so; absent where there is nothing to find out."""
    unasked: Mapping[int, tuple[int, str]]
    """Metric index → on how many sampled rows its request cannot be made, and why not on the first of them."""


def estimate_cost(bound: Bound, rows: Sequence[Sampled], sizes: Sequence[Sizes], column: Mapping[int, int], recorded: Mapping[str, Probe]) -> Estimate:
    """Plans the instances of `bound` that ask, over the sample.

    `column`: index of an instance → its place in `sizes` and in each row's `characters`. `recorded`: judge → what an earlier probe found.
    """
    chosen = _ways(bound, rows, recorded)
    planner = _Planner(bound, chosen)
    totals: dict[Where, _Line] = {}
    for row in rows:
        for where, spent in planner.row(row.fields).items():
            totals.setdefault(where, _Line()).see(row.characters[column[where.metric]] or 0, spent)
    for index, place in column.items():
        for row in rows:
            if row.characters[place] is not None:
                for where, line in totals.items():
                    if where.metric == index:
                        line.count(row.characters[place] or 0)
    expected = {where: line.over(sizes[column[where.metric]]) for where, line in totals.items()}
    for where, spent in _probes(bound).items():
        expected.setdefault(where, Spent()).add(spent)
    models = {_key(model): model for model in bound.models}
    found = tuple(Expected(where.metric, models[where.model], expected[where], where.reasons) for where in sorted(expected))
    probed = {name: name in recorded for name, judge in bound.judges.items() if judge.needs_probe}
    kinds = {index: frozenset(made) for index, made in planner.kinds.items()}
    return Estimate(found, kinds, chosen, probed, {index: (len(told), told[0]) for index, told in planner.unasked.items()})


def cost_of_row(bound: Bound, fields: Mapping[str, Any]) -> float:
    """USD of one row when nothing is recorded, each judge asked in the way that costs more, its probe left out. Every price is to be known."""
    planner = _Planner(bound, _ways(bound, [Sampled(fields, ())], {}))
    models = {_key(model): model for model in bound.models}
    usd = 0.0
    for where, spent in planner.row(fields).items():
        price = models[where.model].price
        assert price is not None
        usd += (spent.input_tokens * price.input + spent.output_tokens * price.output) / 1e6
    return usd


def _key(model: BoundModel) -> str:
    return ".".join(model.key)


# ---------------------------------------------------------------- which way


def _ways(bound: Bound, rows: Sequence[Sampled], recorded: Mapping[str, Probe]) -> dict[str, Ways]:
    """How each judge is asked: as its probe found, else the dearer way."""
    chosen = {name: next(iter(_possible(judge, recorded.get(name)))) for name, judge in bound.judges.items()}
    for name, judge in bound.judges.items():
        possible = _possible(judge, recorded.get(name))
        if len(possible) > 1:
            chosen[name] = max(possible, key=lambda way: _weight(bound, {**chosen, name: way}, rows))
    return chosen


def _possible(judge: BoundModel, found: Probe | None) -> list[Ways]:
    settings: Any = judge.settings
    if settings.provider == "systemone":
        return [ways("typed", None)]
    if found is not None or settings.p == "sampled":
        return [ways(settings.p, found)]
    if settings.p == "logprobs":
        return [Ways("logprobs", "sampled"), Ways("logprobs", "logprobs")]
    return [Ways("sampled", "sampled"), Ways("logprobs", "logprobs")]


def _weight(bound: Bound, chosen: Mapping[str, Ways], rows: Sequence[Sampled]) -> float:
    planner = _Planner(bound, chosen)
    step = max(1, len(rows) // TRIED)
    return sum(spent.weight for row in rows[::step][:TRIED] for spent in planner.row(row.fields).values())


def _probes(bound: Bound) -> Bill:
    """One call for each judge that has to be probed, charged to the first metric that asks it."""
    bill: Bill = {}
    for name, judge in bound.judges.items():
        first = next((index for index, one in enumerate(bound.instances) if name in one.judge), None)
        if judge.needs_probe and first is not None:
            exchange = probe()
            bill[Where(first, _key(judge))] = Spent(1, 1, estimate_request(exchange.request), exchange.output_tokens)
    return bill


# ---------------------------------------------------------------- one row


class Reads:
    """A metric on one row, as a coroutine that stands still at each of its requests."""

    def __init__(self, index: int, cell: Coroutine[Any, Any, Any]) -> None:
        self.index = index
        self._cell = cell
        self._left = _MOST_REQUESTS
        self.request: Request[Any] | None = None
        self.last: tuple[Ask, Any] | None = None
        """The last closed question and its answer."""
        self.outcome: Outcome | None = None
        """How it ended; None while it has not, and where it was left."""
        self.send(None)

    def send(self, reply: Any) -> None:
        """Goes on to the next request; `request` is None at the end."""
        if isinstance(self.request, Ask) and reply:
            self.last = self.request, reply
        self._go(lambda: self._cell.send(reply))

    def fail(self, error: CellError) -> None:
        """Goes on with the request refused."""
        self._go(lambda: self._cell.throw(error))

    def _go(self, step: Callable[[], Any]) -> None:
        self._left -= 1
        try:
            self.request = step()
        except StopIteration as end:
            self.request, self.outcome = None, end.value
        else:
            if not self._left or not isinstance(self.request, Request):
                self._cell.close()
                self.request = None

    def reason(self, one: Instance, row: Row) -> Exchange | None:
        """The request for a reason that may follow, now that it has ended; None where a run asks for none, whatever the verdicts are."""
        if one.explain == "off" or self.last is None or self.outcome is None or self.outcome[0] != OK:
            return None
        if one.explain == "failed" and passed(self.outcome[1], one.threshold, one.metric.direction) is None:
            return None
        try:
            return explain(*self.last, row)
        except CellError:
            return None


@types.coroutine
def _asks(request: Request[Any]) -> Generator[Request[Any], Any, Any]:
    reply = yield request
    return reply


async def _answer(request: Request[Any]) -> Any:
    return await _asks(request)


_Rendered: TypeAlias = "list[tuple[int, float, float]]"
"""(what is the same in two equal requests, tokens sent, tokens received) for each request that is sent."""


class Cells:
    """Every instance of a plan that can be driven, on any row."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._driven = [index for index, one in enumerate(bound.instances) if _is_driven(one, bound)]
        self._program = Program([bound.instances[index] for index in self._driven])

    def of(self, fields: Mapping[str, Any]) -> list[Reads]:
        """The instances on one row, each at its first request, in their order."""
        values = self._program.read(fields)
        context = EvaluationContext(fields, answer=_answer)
        return [Reads(self._driven[place], self._program.ask(place, values, context)) for place in self._program.asking]

    def instance(self, index: int) -> Instance:
        """The instance at `index`."""
        return self._bound.instances[index]

    def judge(self, name: str) -> BoundModel:
        """A judge."""
        return self._bound.judges[name]

    def embedding(self, name: str) -> BoundModel:
        """An embedding model."""
        return self._bound.embeddings[name]


class _Planner:
    """Goes over one row after the other, and says what each adds to the bills."""

    def __init__(self, bound: Bound, chosen: Mapping[str, Ways]) -> None:
        self.cells = Cells(bound)
        self.ways = chosen
        self._known: set[int] = set()
        self.kinds: dict[int, set[str]] = {}
        self.unasked: dict[int, list[str]] = {}

    def row(self, fields: Mapping[str, Any]) -> Bill:
        """What the row adds: for each metric the dearer of the two paths, with the fewest calls of both."""
        paths = _Row(self, Row(fields))
        bills = [paths.bill(p, self.cells.of(fields)) for p in _VERDICTS]
        self._known |= paths.asked
        for index, told in paths.unasked.items():
            self.unasked.setdefault(index, []).append(told)
        found: Bill = {}
        for where in dict.fromkeys(where for bill in bills for where in bill):
            both = [bill.get(where, Spent()) for bill in bills]
            dearer = max(both, key=lambda one: (one.calls, one.weight))
            found[where] = evolve(dearer, calls_min=min(one.calls_min for one in both))
        return found

    def is_known(self, key: int) -> bool:
        """Whether an earlier row has asked the same."""
        return key in self._known


def _is_driven(one: Instance, bound: Bound) -> bool:
    """Whether the planner can drive it: a generator whose instruments are bound. What a class-based metric asks is not known before it runs."""
    judged = not one.metric.judge or (bool(one.judge) and all(name in bound.judges for name in one.judge))
    embeds = not one.metric.embedder or one.embedding in bound.embeddings
    return one.metric.steps and one.metric.opaque is None and judged and embeds


@define(eq=False)
class _Row:
    """The two paths over one row. A request that both take is rendered and counted once."""

    planner: _Planner
    row: Row
    asked: set[int] = field(factory=set)
    """Every request of the row, on either path."""
    unasked: dict[int, str] = field(factory=dict)
    """Metrics with a request that cannot be made, and why."""
    _rendered: dict[Any, _Rendered | CellError] = field(factory=dict)
    _path: set[int] = field(factory=set)
    _bill: Bill = field(factory=dict)

    def bill(self, p: float, cells: Sequence[Reads]) -> Bill:
        """What every metric adds when each verdict is `p`."""
        self._path, self._bill = set(), {}
        reply = stand_in(p)
        together_ones = [cell for cell in cells if self.planner.cells.instance(cell.index).ask == "together"]
        for cell in cells:
            if cell not in together_ones:
                while cell.request is not None:
                    self._go_on(cell, cell.request, reply, self._separately)
        self._waves(together_ones, reply)
        for cell in cells:
            self._reason(cell)
        self.asked |= self._path
        return self._bill

    def _go_on(self, cell: Reads, request: Request[Any], reply: Callable[[Request[Any]], Any], charge: Callable[[int, Request[Any]], None]) -> None:
        self.planner.kinds.setdefault(cell.index, set()).add(type(request).__name__)
        try:
            if isinstance(request, Embed):
                self._embedded(cell.index, request)
            else:
                charge(cell.index, request)
            answer = reply(request)
        except CellError as error:
            self.unasked.setdefault(cell.index, error.message)
            cell.fail(error)
        else:
            cell.send(answer)

    # ------------------------------------------------------------ separately

    def _separately(self, index: int, request: Request[Any]) -> None:
        one = self.planner.cells.instance(index)
        for name in asked_of(one, request):
            judge, way = self.planner.cells.judge(name), self.planner.ways[name]
            for key, sent, received in self._parts(name, way, request, one.draws):
                if self._is_new(key):
                    self._charge(index, judge, Spent(1, 1, sent, received))

    def _parts(self, judge: str, way: Ways, request: Request[Any], draws: int) -> _Rendered:
        known = (judge, draws, _same(request))
        found = self._rendered.get(known)
        if found is None:
            try:
                found = [self._counted(judge, part) for part in self._exchanges(judge, way, request, draws)]
            except CellError as error:
                found = error
            self._rendered[known] = found
        if isinstance(found, CellError):
            raise found
        return found

    def _exchanges(self, judge: str, way: Ways, request: Request[Any], draws: int) -> tuple[Exchange, ...]:
        most = self.planner.cells.judge(judge).settings.max_input_tokens
        return asked(request, self.row, way, draws=draws, max_input_tokens=most, count=estimate).parts

    def _counted(self, judge: str, part: Exchange) -> tuple[int, float, float]:
        return _fingerprint(judge, part.request), estimate_request(part.request), part.output_tokens

    def _is_new(self, key: int) -> bool:
        """Whether nobody has asked this before: on this path, or on a row before this one."""
        if key in self._path or self.planner.is_known(key):
            self._path.add(key)
            return False
        self._path.add(key)
        return True

    def _charge(self, index: int, model: BoundModel, spent: Spent, *, reasons: bool = False) -> None:
        self._bill.setdefault(Where(index, _key(model), reasons), Spent()).add(spent)

    def _reason(self, cell: Reads) -> None:
        """One request more, to the first judge; where only failures are explained, every row may fail, and none."""
        one = self.planner.cells.instance(cell.index)
        exchange = cell.reason(one, self.row)
        if exchange is not None:
            key, sent, received = self._counted(one.judge[0], exchange)
            if self._is_new(key):
                self._charge(cell.index, self.planner.cells.judge(one.judge[0]), Spent(1, float(one.explain == "all"), sent, received), reasons=True)

    def _embedded(self, index: int, request: Embed) -> None:
        """Texts that were not embedded before, at best in full batches, at worst in one of their own."""
        model = self.planner.cells.embedding(self.planner.cells.instance(index).embedding or "")
        new = [text for text in dict.fromkeys(request.texts) if self._is_new(hash((_key(model), text)))]
        if new:
            self._charge(index, model, Spent(1, len(new) / _batch_size(model), sum(map(estimate, new)), 0))

    # ------------------------------------------------------------ together

    def _waves(self, cells: Sequence[Reads], reply: Callable[[Request[Any]], Any]) -> None:
        """Every metric goes to its next request; then all pending ones of a judge and a class of visibility go as one."""
        for _ in range(_MOST_REQUESTS):
            for cell in cells:
                while isinstance(cell.request, Embed):
                    self._go_on(cell, cell.request, reply, self._separately)
            pending = [(cell, cell.request) for cell in cells if cell.request is not None]
            if not pending:
                return
            self._wave([(cell.index, request) for cell, request in pending])
            for cell, request in pending:
                self._go_on(cell, request, reply, lambda index, request: None)

    def _wave(self, pending: Sequence[tuple[int, Request[Any]]]) -> None:
        groups: dict[tuple[str, str, int], dict[Any, tuple[int, Request[Any]]]] = {}
        for index, request in pending:
            one = self.planner.cells.instance(index)
            for name in asked_of(one, request):
                for draw in range(one.draws if isinstance(request, Ask) else 1):
                    groups.setdefault((name, class_of(one), draw), {}).setdefault(_same(request), (index, request))
        for (name, kind, draw), questions in groups.items():
            judge = self.planner.cells.judge(name)
            fresh = [one for same, one in questions.items() if self._is_new(hash((name, kind, draw, same, self.row.delimiter)))]
            if fresh:
                self._charge_shares(judge, [index for index, _ in fresh], self._one_request([request for _, request in fresh], draw))

    def _one_request(self, requests: Sequence[Request[Any]], draw: int) -> tuple[float, float]:
        try:
            exchange = together(requests, self.row, draw=draw)
        except CellError:
            return 0.0, 0.0
        return estimate_request(exchange.request), exchange.output_tokens

    def _charge_shares(self, judge: BoundModel, indexes: Sequence[int], tokens: tuple[float, float]) -> None:
        """One call, charged to the first metric; its tokens to all alike, as a run does it."""
        sent, received = tokens
        for place, index in enumerate(indexes):
            first = float(place == 0)
            self._charge(index, judge, Spent(first, first, sent / len(indexes), received / len(indexes)))


def _same(request: Request[Any]) -> Any:
    """What two equal requests have in common."""
    try:
        hash(request)
    except TypeError:  # a choice, whose options are a mapping
        return repr(request)
    return request


def _batch_size(model: BoundModel) -> int:
    if model.settings.provider == "local":
        from measurand.runtime.local import BATCH as LOCAL

        return LOCAL
    from measurand.runtime.embedding_http import BATCH

    return BATCH


def _fingerprint(judge: str, request: ModelRequest) -> int:
    return hash((judge, request.messages, request.logprobs, request.max_tokens, request.draw, repr(request.schema), repr(request.typed)))


# ---------------------------------------------------------------- from the sample to all rows


@define(eq=False)
class _Line:
    """A straight line through (characters, what they cost) of the sampled rows: what the sample comes to, carried over to all rows."""

    rows: int = 0
    characters: float = 0.0
    squares: float = 0.0
    total: Spent = field(factory=Spent)
    products: Spent = field(factory=Spent)

    def see(self, size: int, spent: Spent) -> None:
        """What one row costs."""
        self.total.add(spent)
        self.products.add(spent, size)

    def count(self, size: int) -> None:
        """One more sampled row that the metric takes, whatever it costs."""
        self.rows += 1
        self.characters += size
        self.squares += size * size

    def over(self, every: Sizes) -> Spent:
        """The same over all rows: the sample's mean, corrected by how much longer or shorter the rows are on average."""
        if not self.rows or every.rows == self.rows:
            return self.total
        mean = self.characters / self.rows
        spread = self.squares - self.rows * mean * mean
        slope = Spent()
        if spread > 1e-9:
            slope.add(self.products, 1 / spread)
            slope.add(self.total, -mean / spread)
        longer = every.characters / max(1, every.rows) - mean
        found = Spent()
        found.add(self.total, every.rows / self.rows)
        found.add(slope, every.rows * longer)
        return Spent(max(0.0, found.calls), max(0.0, found.calls_min), max(0.0, found.input_tokens), max(0.0, found.output_tokens))
