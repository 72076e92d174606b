"""The same on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memopt import InvalidInstance
from memopt.session.config import Config
from memopt.session.errors import InvalidEvent, InvalidOutcome, InvalidPut, InvalidState, StoreFailed
from memopt.session.events import canonical
from memopt.session.governance import GovernanceRule
from memopt.session.replay import replay
from memopt.session.session import Outcome, Session
from memopt.session.store import Store

CONFIG = Config(gain=1.5, governance=GovernanceRule(mode="govern", withhold=0.25, seed=3))
SIZES = {"raw": (60, 1.0), "summary": (24, 0.7), "keywords": (4, 0.15)}


def item(name, worth=1.0, **more):
    levels = {level: {"tokens": tokens, "utility": share * worth} for level, (tokens, share) in SIZES.items()}
    return {"id": name, "levels": levels, **more}


def step(session, number):
    """Do what comes after some events: the same for the same number, whatever happened before."""
    rng = random.Random(number)
    names = [f"m{k}" for k in rng.sample(range(12), 5)]
    kind = number % 5
    if kind == 0:
        session.put({f"m{number}": f"text {number}"}, f"put {number}")
    elif kind == 3:
        session.refresh({}, names, f"refresh {number}")
    elif kind in (1, 4):
        items = [item(name, rng.uniform(0.5, 2)) for name in names]
        session.turn([*items, item("系统", pinned=True)], rng.randint(80, 300), f"turn {number}")
    else:
        seen = sorted(session.state.context)[:3]
        session.outcome(f"outcome {number}", rng.random() < 0.5, seen)


def run(session, until):
    while session.state.number < until:
        step(session, session.state.number)


def in_memory(until):
    session = Session(CONFIG)
    run(session, until)
    return session


def same(one, other):
    first, second = one.state, other.state
    assert (first.number, first.digest) == (second.number, second.digest)
    for part in ("config", "queue", "ledger", "governor", "turn_id", "context"):
        assert getattr(first, part) == getattr(second, part), part
    assert dict(first.originals) == dict(second.originals)
    assert [report.to_dict() for report in one.worth()] == [report.to_dict() for report in other.worth()]
    assert dict(first.worth.pairs.items()) == dict(second.worth.pairs)


def test_a_stored_session_is_the_one_in_memory(database):
    with Store(database) as store:
        session = Session(CONFIG, store.session("s1"))
        run(session, 40)
        same(session, in_memory(40))
        assert [made.text for made in session.events()] == [made.text for made in in_memory(40).events()]


@pytest.mark.parametrize("stop", [1, 7, 20])
def test_a_restart_in_mid_run_changes_no_bit(stop, database):
    with Store(database) as store:
        run(Session(CONFIG, store.session("s1")), stop)
    for until in (stop + 1, 40):
        with Store(database) as store:
            session = Session(log=store.session("s1"))
            run(session, until)
    with Store(database) as store:
        same(Session(log=store.session("s1")), in_memory(40))


def test_two_sessions_in_one_database_know_nothing_of_each_other(database):
    with Store(database) as store:
        one, two = (Session(CONFIG, store.session(name)) for name in ("一", "two\x00\ud800"))
        run(one, 20)
        run(two, 10)
        assert store.sessions() == sorted(["一", "two\x00\ud800"])
        same(two, in_memory(10))
        same(one, in_memory(20))


def test_two_writers_of_one_process_see_each_other(database):
    with Store(database) as store, Store(database) as other:
        one, two = Session(CONFIG, store.session("s")), Session(CONFIG, other.session("s"))
        for number in range(1, 30):
            run((one, two)[number % 2], number)
        same(one, two)
        same(one, in_memory(29))


def test_the_same_id_twice_changes_nothing_in_either_process(database):
    with Store(database) as store, Store(database) as other:
        one, two = Session(CONFIG, store.session("s")), Session(CONFIG, other.session("s"))
        one.put({"a": "x"})
        assert one.outcome("e", True, ["a"]).new
        assert not two.outcome("e", False, ["a"]).new
        assert two.worth()[0].plus == 1
        assert one.state.number == 3


def test_an_error_stores_nothing(database):
    with Store(database) as store:
        session = Session(CONFIG, store.session("s"))
        with pytest.raises(InvalidInstance):
            session.turn([item("a"), item("a")], 10)
        assert isinstance(session.outcomes([Outcome(True, ["nobody"], "x")])[0], InvalidOutcome)
        assert Session(log=store.session("s")).state.number == 0
        assert store.sessions() == []
        run(session, 10)
        before = session.state.digest
        with pytest.raises(InvalidOutcome):
            session.outcome("x", True, ["nobody"])
        assert Session(log=store.session("s")).state.digest == before


def test_ids_of_any_text_survive(database):
    names = ["客户", "a\x00b", "e\u0301", "\u00e9", '"\\', "\U0001f600"]
    with Store(database) as store:
        session = Session(Config(), store.session("s"))
        session.turn([item(name) for name in names], 10_000, "t\x00")
        session.put({name: name for name in names})
        session.outcome("\x00", True, names)
    with Store(database) as store:
        again = Session(log=store.session("s"))
        assert sorted(again.state.ledger.held) == sorted(names)
        assert sorted(report.memory for report in again.worth()) == sorted(names)
        assert again.originals() == {name: name for name in names}
        assert not again.outcome("\x00", True, names).new


WRITER = """
import sys
from memopt.session.session import Session
from memopt.session.store import Store
database, name = sys.argv[1:]
with Store(database) as store:
    session = Session(log=store.session("s"))
    for number in range(500):
        if number % 10 == 0:
            print("ready", flush=True)
            sys.stdin.readline()
        assert session.outcome(f"{name} {number}", True, ["a", "b"]).new
"""


def test_two_processes_of_500_outcomes_lose_none(database):
    with Store(database) as store:
        Session(CONFIG, store.session("s")).put({"a": "x", "b": "y"})
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, database, name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in ("one", "two")
        ]
        for _ in range(
            50
        ):  # they begin every ten outcomes together, so that neither is done before the other
            for writer in writers:
                assert writer.stdout.readline() == "ready\n"
            for writer in writers:
                writer.stdin.write("\n")
                writer.stdin.flush()
        for writer in writers:
            writer.communicate(timeout=300)
            assert writer.returncode == 0
        session = Session(log=store.session("s"))
        assert session.state.number == 2 + 1_000
        assert [(report.plus, report.minus, report.retrievals) for report in session.worth()] == [
            (500.0, 0.0, 1_000)
        ] * 2
        events = [made.event for made in session.events()]
        assert [event.number for event in events] == list(range(1, 1_003))
        writers_of = [event.id.split()[0] for event in events[2:]]
        assert sum(one != two for one, two in itertools.pairwise(writers_of)) >= 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_processes_that_make_the_database_together_do_not_hinder_one_another(database):
    reader, writer = os.pipe()
    children = []
    for number in range(5):
        children.append(os.fork())
        if children[-1] == 0:
            try:
                os.close(writer)
                os.read(reader, 1)  # until the parent closes its end: all begin at once
                with Store(database) as store:
                    Session(CONFIG, store.session("s")).put({f"m{number}": "x"})
                os._exit(0)
            finally:
                os._exit(1)
    os.close(reader)
    os.close(writer)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
    with Store(database) as store:
        assert sorted(Session(log=store.session("s")).originals()) == [f"m{number}" for number in range(5)]


def killed(database, steps, seconds):
    """Run a writer in a process of its own and kill it, without warning, some time after its n-th step."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Store(database) as store:
                session = Session(CONFIG, store.session("s"))
                while True:
                    step(session, session.state.number)
                    os.write(writer, b".")
        finally:
            os._exit(1)
    os.close(writer)
    for _ in range(steps):
        assert os.read(reader, 1) == b"."
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    os.close(reader)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_kill_9_at_200_moments_leaves_the_last_commit_and_the_run_goes_on(database):
    rng = random.Random(9)
    run(in_memory(0), 12)  # all is loaded before a process is timed
    moments = 200 if "://" not in database else 25
    lengths = []
    for _ in range(moments):
        killed(database, rng.randint(0, 3), rng.uniform(0.0, 0.01))
        with Store(database) as store:
            state = Session(log=store.session("s")).state
        lengths.append(state.number)
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > moments / 2  # it was killed in mid-run, again and again
    if "://" not in database:
        assert sqlite3.connect(database).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Store(database) as store:
        session = Session(CONFIG, store.session("s"))
        run(session, lengths[-1] + 10)
        same(session, in_memory(lengths[-1] + 10))
        stored = [made.text for made in session.events()]
    assert stored == [made.text for made in in_memory(lengths[-1] + 10).events()]


def test_many_outcomes_in_one_transaction(database):
    with Store(database) as store:
        session = Session(Config(), store.session("s"))
        session.put({f"m{k}": "x" for k in range(50)})
        rng = random.Random(4)
        told = [
            Outcome(rng.random() < 0.5, [f"m{k}" for k in rng.sample(range(50), 3)], f"e{n}")
            for n in range(2_000)
        ]
        assert all(answer.new for answer in session.outcomes(told))
        assert not any(answer.new for answer in session.outcomes(told[:700]))
        assert sum(report.retrievals for report in session.worth()) == 6_000
        other = Session()
        other.put({f"m{k}": "x" for k in range(50)})
        other.outcomes(told)
        assert other.state.digest == session.state.digest


def test_a_file_that_is_no_database_is_a_sentence(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("this is no database, " * 100)
    with pytest.raises(StoreFailed, match="the database failed: "):
        Store(str(path))
    with pytest.raises(StoreFailed):
        Store(str(tmp_path / "nowhere" / "memory.db"))


def test_a_server_that_is_not_there_is_a_sentence():
    pytest.importorskip("psycopg")
    with pytest.raises(StoreFailed):
        Store("postgresql://memopt@127.0.0.1:1/none?connect_timeout=2")


def test_a_broken_state_is_named(tmp_path):
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        run(Session(CONFIG, store.session("s")), 10)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE memopt_state SET value = '[1]' WHERE part = 'held'")
    with Store(path) as store, pytest.raises(InvalidState):
        _ = Session(log=store.session("s")).state


def test_sqlite_writes_ahead(tmp_path):
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        Session(CONFIG, store.session("s")).put({"a": "x"})
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    ("missing", "where", "said"),
    [("sqlalchemy", "x.db", "sqlalchemy>=2"), ("psycopg", "postgresql://127.0.0.1/x", "memopt[postgres]")],
)
def test_what_is_not_installed_is_named(missing, where, said, tmp_path):
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import memopt.session.session\n"
        "from memopt.session.store import Store, StoreMissing\n"
        f"try: Store({where!r})\n"
        "except StoreMissing as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert said in done.stdout, done.stderr


def test_sessions_in_memory_load_no_database():
    code = (
        "import sys, json; from memopt.session.session import Session; from memopt.session import store\n"
        "Session().put({'a': 'x'})\n"
        "print(json.dumps([name for name in ('sqlalchemy', 'psycopg') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_opening_to_read_changes_no_file(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE places (name)")
    before = path.read_bytes()
    with pytest.raises(StoreFailed, match="no sessions"):
        Store(str(path), create=False)
    assert path.read_bytes() == before


def test_reading_waits_for_no_writer(tmp_path):
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        session = Session(CONFIG, store.session("s"))
        session.put({"a": "x"})
        with sqlite3.connect(path, isolation_level=None) as connection:
            connection.execute("BEGIN IMMEDIATE")
            with Store(path, create=False) as other:
                assert other.sessions() == ["s"]
                assert Session(log=other.session("s")).state.digest == session.state.digest


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://me:secret@127.0.0.1:port/x",
        "postgres://me:secret@[::1/x",
        "mysql://me:secret@127.0.0.1/x",
        "postgresql+asyncpg://me:secret@127.0.0.1/x",
    ],
)
def test_a_wrong_url_is_a_sentence_without_its_password(where):
    pytest.importorskip("psycopg")
    with pytest.raises(StoreFailed) as caught:
        Store(where)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        "memopt_sessions SET config = '{'",
        'memopt_sessions SET config = \'{"gain": "x"}\'',
        "memopt_sessions SET events = 'many'",
        "memopt_state SET value = '['",
        "memopt_state SET part = 'none' WHERE part = 'queue'",
        "memopt_state SET whose = '{' WHERE part = 'queue'",
        "memopt_state SET value = '[3,1,1,1,1]' WHERE part = 'worth'",
        "memopt_state SET value = '[\"t1\",[\"a\"]]' WHERE part = 'context'",
        "memopt_state SET value = '[\"banned\",null]' WHERE part = 'governed'",
        "memopt_pairs SET other = other + 1000",
        "memopt_pairs SET times = 'often'",
    ],
)
def test_what_others_wrote_into_the_tables_is_named(change, tmp_path):
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        run(Session(CONFIG, store.session("s")), 20)
    with sqlite3.connect(path) as connection:
        assert connection.execute(f"UPDATE {change}").rowcount > 0
    with Store(path) as store, pytest.raises(InvalidState):
        _ = Session(log=store.session("s")).state


def test_a_name_that_nobody_can_read_is_told(tmp_path):
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        run(Session(CONFIG, store.session("s")), 5)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE memopt_sessions SET name = 's'")
    with Store(path) as store, pytest.raises(InvalidState):
        store.sessions()


class Interrupting:
    """Keeps a session, and is interrupted once while its events are read."""

    def __init__(self, log, after):
        self.log, self.after = log, after

    @contextmanager
    def reading(self):
        with self.log.reading() as transaction:
            yield InterruptedOnce(transaction, self)

    def writing(self):
        return self.log.writing()


class InterruptedOnce:
    def __init__(self, transaction, whole):
        self.transaction, self.whole = transaction, whole

    def __getattr__(self, name):
        return getattr(self.transaction, name)

    def since(self, number):
        for count, made in enumerate(self.transaction.since(number), 1):
            yield made
            if count == self.whole.after:
                self.whole.after = None
                raise KeyboardInterrupt


def test_an_interrupt_while_others_events_are_read_counts_none_twice(tmp_path):
    with Store(str(tmp_path / "memory.db")) as store:
        other = Session(CONFIG, store.session("s"))
        other.put({"a": "x", "b": "y"})
        session = Session(log=Interrupting(store.session("s"), 8))
        assert session.state.number == 2
        for number in range(10):
            other.outcome(f"e{number}", True, ["a", "b"])
        with pytest.raises(KeyboardInterrupt):
            _ = session.state
        session.outcome("last", True, ["a", "b"])
        for counted in (session, other, Session(log=store.session("s"))):
            assert [report.retrievals for report in counted.worth()] == [11, 11]
            assert counted.state.worth.pairs == {(1, 2): 11}


@pytest.mark.parametrize("more", [0, 1, 3])
def test_a_file_that_was_put_back_to_another_history_is_read_anew(more, tmp_path):
    path, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    with Store(str(copy)) as store:
        other = Session(CONFIG, store.session("s"))
        other.put({"a": "x"})
        for number in range(3 + more):
            other.outcome(f"other {number}", False, ["a"])
    with Store(str(path)) as store:
        session = Session(CONFIG, store.session("s"))
        session.put({"a": "x"})
        for number in range(4):
            session.outcome(f"e{number}", True, ["a"])
        with sqlite3.connect(copy) as source, sqlite3.connect(path) as target:
            source.backup(target)
        session.outcome("last", True, ["a"])
        (report,) = session.worth()
        assert (report.plus, report.minus) == (1.0, 3.0 + more)
        assert replay([canonical(made.line()) for made in session.events()]).identical


def test_tables_of_another_version_are_told_and_left_alone(tmp_path):
    path = tmp_path / "memory.db"
    with Store(str(path)) as store:
        Session(CONFIG, store.session("s")).put({"a": "x"})
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE memopt_pairs")
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(StoreFailed, match=r"made by another version of memopt .*memory.db"):
            Store(str(path), create)
    assert path.read_bytes() == before


def test_a_file_put_back_from_a_backup_writes_ahead_again(tmp_path):
    path, backup = str(tmp_path / "memory.db"), str(tmp_path / "backup.db")
    with Store(path) as store:
        Session(CONFIG, store.session("s")).put({"a": "x"})
    with sqlite3.connect(path) as connection:
        connection.execute(f"VACUUM INTO '{backup}'")
    assert sqlite3.connect(backup).execute("PRAGMA journal_mode").fetchone() == ("delete",)
    with Store(backup, create=False) as store:
        Session(log=store.session("s")).outcome("e", True, ["a"])
    assert sqlite3.connect(backup).execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("name", ["\ud83d\ude00", "\ud800", ""])
def test_an_id_that_utf_8_cannot_hold_is_refused(name):
    session = Session()
    with pytest.raises(InvalidPut, match="readable"):
        session.put({name: "x"})
    with pytest.raises(InvalidEvent, match="readable"):
        session.put({"a": "x"}, name)
    with pytest.raises(InvalidEvent, match="readable"):
        session.outcome(name, True, [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    path = tmp_path / "memory.db"
    with Store(str(path)) as store:
        Session(CONFIG, store.session("s")).put({"a": "x"})
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreFailed, match="must be writable, even to read"), Store(str(path)) as store:
            Session(log=store.session("s")).outcome("e", True, ["a"])
    finally:
        tmp_path.chmod(0o700)


def test_what_governance_decided_outlives_the_process(database):
    rule = GovernanceRule(mode="govern", show=0.0, withhold=0.0)
    with Store(database) as store:
        session = Session(Config(governance=rule), store.session("s"))
        session.turn([item("bad"), item("good")], 200, "t1")
        told = [Outcome(good, ["good" if good else "bad"]) for good in (True, False) * 30]
        session.outcomes(told)
        assert session.turn([item("bad"), item("good")], 200).event.transitions
    with Store(database) as store:
        assert Session(log=store.session("s")).state.governor.states == {"bad": "suppressed"}


def test_a_writer_waits_longer_than_sqlite_does_at_a_time(tmp_path):
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        session = Session(CONFIG, store.session("s"))
        session.put({"a": "text"})
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        done = threading.Timer(0.8, other.rollback)
        done.start()
        try:
            assert session.outcome("e", True, ["a"]).new
        finally:
            done.join()
            other.close()


def test_a_reader_has_one_view_whatever_others_write_meanwhile(database):
    with Store(database) as store, Store(database) as other:
        writer = Session(CONFIG, other.session("s"))
        writer.put({"a": "text"})
        with store.session("s").reading() as transaction:
            assert transaction.length() == 2
            writer.put({"b": "text"})
            assert len(list(transaction.since(0))) == 2


def test_threads_share_a_store_in_memory():
    with Store(":memory:") as store:
        sessions = [Session(CONFIG, store.session(name)) for name in ("one", "two")]

        def work(thread):
            for number in range(5):
                sessions[thread % 2].turn([item("a"), item("b")], 500, f"turn {thread} {number}")

        with ThreadPoolExecutor(4) as threads:
            for done in [threads.submit(work, thread) for thread in range(4)]:
                done.result()
        assert [session.state.number for session in sessions] == [1 + 2 * 5] * 2


def test_a_missing_event_is_no_bare_error(tmp_path):
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        session, other = (Session(CONFIG, store.session("s")) for _ in range(2))
        session.put({"a": "x"})
        other.put({"b": "y"})
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM memopt_events WHERE number = 2")
        assert session.state.number == 3
        assert sorted(session.state.originals) == ["a", "b"]


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
def test_a_database_that_goes_away_while_it_is_open_loses_nothing_in_silence(
    how: str, tmp_path: Path
) -> None:
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    with Store(other) as store:
        Session(log=store.session("s1")).turn([], 7, "another")
    with Store(path) as store:
        session = Session(log=store.session("s1"))
        session.turn([], 9, "t1")
        if how == "moved":
            path.rename(tmp_path / "elsewhere.db")
        elif how == "removed":
            path.unlink()
        else:
            other.replace(path)
        with pytest.raises(StoreFailed, match="moved, removed or replaced while it was open"):
            session.turn([], 9, "t2")


@pytest.mark.parametrize("name", [3, None, b"s"])
def test_the_name_of_a_session_is_a_text(name: Any, tmp_path: Path) -> None:
    with Store(tmp_path / "m.db") as store:
        with pytest.raises(StoreFailed, match="name of a session is a text"):
            store.session(name)
        assert store.sessions() == []
