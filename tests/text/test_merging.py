"""Long pieces are merged exactly as the plain loop merges them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memopt.text import merging


def plainly(piece: bytes, ranks: dict[bytes, int]) -> int:
    parts = [piece[at : at + 1] for at in range(len(piece))]
    while True:
        pairs = [(ranks[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not pairs or piece in ranks:
            return 1 if piece in ranks else len(parts)
        at = min(pairs)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


VOCABULARIES = st.lists(
    st.binary(min_size=2, max_size=5).map(lambda raw: bytes(b"abc"[byte % 3] for byte in raw)), unique=True
).map(lambda tokens: {token: rank for rank, token in enumerate([b"a", b"b", b"c", *tokens])})


@given(VOCABULARIES, st.text(alphabet="abc", min_size=1, max_size=40))
def test_pieces_fall_into_the_same_number_of_parts(ranks: dict[bytes, int], piece: str) -> None:
    assert merging.parts(piece.encode(), ranks) == plainly(piece.encode(), ranks)


def test_a_pair_that_waits_while_its_part_grows_to_the_end_is_passed_over() -> None:
    ranks = {token: rank for rank, token in enumerate([b"a", b"b", b"c", b"bc", b"abc", b"ab"])}
    assert merging.parts(b"cabc", ranks) == plainly(b"cabc", ranks) == 2
