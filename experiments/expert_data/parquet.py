"""Expert data as Parquet files, and their metadata in the Croissant format (JSON-LD)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from four_seasons_env.experiments.expert_data import PARQUET
from four_seasons_env.experiments.expert_data.columns import COLUMNS, Column

_CROISSANT = "http://mlcommons.org/croissant/"
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileObject "
    "fileProperty fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path "
    "recordSet references regex repeated replace samplingRate separator source subField transform"
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": _CROISSANT,
    "dct": "http://purl.org/dc/terms/",
    "rai": f"{_CROISSANT}RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_STREAMS = ("observation.list.element.list.element", "value.list.element")
_TYPES = {"bool": "sc:Boolean", "string": "sc:Text", "float32": "cr:Float32"}
_TYPES |= {"float64": "cr:Float64", "int8": "cr:Int8", "int16": "cr:Int16", "int64": "cr:Int64"}
_CARDS = {
    "rai:dataCollection": "Played by a program; no data of people.",
    "rai:dataLimitations": "The agent's choices are strong, not optimal. Observations hold public "
    "information only; the column verdict does not.",
    "rai:dataUseCases": "Imitation learning, offline reinforcement learning, and tests of both.",
}


def to_parquet(rows: Sequence[dict[str, Any]], sizes: dict[str, int]) -> bytes:
    """A Parquet file of decisions; the same rows give the same bytes.

    Args:
        rows: see `four_seasons_env.experiments.expert_data.games.play_game`.
        sizes: of the named dimensions of `Column.shape`, except m.
    """
    arrays = [_array(each, [row[each.name] for row in rows], sizes) for each in COLUMNS]
    table = pa.table(arrays, names=[each.name for each in COLUMNS])
    file = io.BytesIO()
    pq.write_table(
        table,
        file,
        compression="zstd",
        compression_level=9,
        # Large pages and streams of bytes compress better: candidates differ in few slots.
        data_page_size=2**24,
        use_dictionary=[each.name for each in COLUMNS if not each.shape],
        column_encoding=dict.fromkeys(_STREAMS, "BYTE_STREAM_SPLIT"),
    )
    return file.getvalue()


def _array(column: Column, values: list[Any], sizes: dict[str, int]) -> pa.Array:
    """The values of a column; arrays become nested lists, whose length is fixed unless it is m."""
    kind = pa.type_for_alias(column.dtype)
    if not column.shape:
        return pa.array(values, kind)
    for name in reversed(column.shape):
        kind = pa.list_(kind, sizes.get(name, -1))
    if values[0] is None:
        return pa.nulls(len(values), kind)
    array = pa.array(np.concatenate([each.ravel() for each in values]))
    for name in reversed(column.shape):
        if name in sizes:
            array = pa.FixedSizeListArray.from_arrays(array, sizes[name])
        else:
            ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
            array = pa.ListArray.from_arrays(ends, array)
    return array.cast(kind)


def croissant(about: dict[str, Any], name: str, sizes: dict[str, int]) -> dict[str, Any]:
    """The metadata of a folder of such files, as JSON-LD.

    Args:
        about: how the data were made.
        name: of the dataset.
        sizes: see `to_parquet`.
    """
    made = ", ".join(f"{key} {value}" for key, value in about.items())
    files = {
        "@type": "cr:FileSet",
        "@id": "files",
        "description": "A file for each hundred deals.",
        "encodingFormat": "application/x-parquet",
        "includes": f"{PARQUET}/*.parquet",
    }
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": f"{_CROISSANT}1.1",
        "name": name,
        "description": "Decisions of an agent in FourSeasonsNextDeal-v0, where an action chooses a "
        f"position of a patience game. Made by four-seasons-env: {made}.",
        "license": "https://spdx.org/licenses/MIT",
        "creator": {"@type": "sc:Organization", "name": "the four-seasons-env developers"},
        "version": str(about["version"]),
        "citeAs": f"The four-seasons-env developers: four-seasons-env {about['version']}.",
        **_CARDS,
        "distribution": [files],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "decisions",
                "description": "A record for each decision, in the order of deals and steps.",
                "field": [_field(each, sizes) for each in COLUMNS],
            }
        ],
    }


def _field(column: Column, sizes: dict[str, int]) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"decisions/{column.name}",
        "description": column.about,
        "dataType": _TYPES[column.dtype],
        "source": {"fileSet": {"@id": "files"}, "extract": {"column": column.name}},
    }
    if column.shape:
        shape = ",".join(str(sizes.get(name, -1)) for name in column.shape)
        field |= {"isArray": True, "arrayShape": shape}
    return field
