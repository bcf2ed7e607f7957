"""Converts the cosines of any model to the scale of MiniLM, to which all floors and thresholds were fitted.

Models spread their cosines differently: with some, unrelated sentences reach 0.7. So the same questions and passages are
embedded once with each model, and quantiles of its cosines are mapped to those of MiniLM: of unrelated pairs the median and
the 99th percentile, of related ones the lower quartile and the median. Between these the scale is linear. It is monotonic, and
so does not change a ranking by meaning alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from memcli.index.vectors import cosines_of
from memcli.ports import Embedder

PAIRS: tuple[tuple[str, str], ...] = (
    ("How long do access tokens stay valid?", "Access tokens expire fifteen minutes after they were issued."),
    ("Which database do we use for orders?", "Orders are stored in PostgreSQL, because reports need joins."),
    ("Why was the upload rewritten?", "The old upload kept whole files in memory and failed for large videos."),
    ("who reviews changes to billing", "Two members of the payments team approve every change to invoices."),
    ("When does the nightly backup run?", "A copy of all data is made at two in the morning."),
    ("what to do if the build fails", "If compilation breaks, clear the cache and run the pipeline again."),
    ("How are passwords hashed?", "Credentials are stored as Argon2 digests with a salt for each account."),
    ("What is the limit for requests?", "A client may send one hundred calls a minute before it is throttled."),
    ("where do logs go", "Messages of the servers are written to standard output and kept for thirty days."),
    ("How do we name branches?", "A branch begins with the number of its ticket, then a short title."),
    ("Which fonts does the website use?", "Headlines are set in a serif typeface and body text in a sans."),
    ("Why does the map load slowly?", "Tiles are fetched one after the other, which delays the first view of the map."),
    ("How do I start the tests?", "Run the whole suite with a single command from the root of the repository."),
    ("what languages does the app support", "The interface is translated into German, French and Japanese."),
    ("How is the cache invalidated?", "Entries are dropped as soon as the record behind them is written."),
    (
        "What happens when a payment is declined?",
        "A refused card is tried again the next day, then the customer gets a mail.",
    ),
    (
        "Who wrote the novel about the whale?",
        "Moby-Dick, the story of a captain who hunts a whale, is by Herman Melville.",
    ),
    ("What do bees make honey from?", "Honey begins as nectar that bees gather from flowers."),
    ("how tall is the highest mountain", "Mount Everest rises 8,849 metres above the sea."),
    ("What should I eat before running?", "A banana or some toast an hour before a run gives enough energy."),
    ("When was the bridge opened?", "Traffic crossed the new bridge for the first time in May 1937."),
    ("Where did Anna go on holiday?", "Anna spent two weeks of summer hiking in Norway."),
    ("How do you keep bread fresh?", "A loaf stays soft for longer in a linen bag than in the fridge."),
    ("why is the sky blue", "Air scatters short waves of sunlight more than long ones, so the sky looks blue."),
    ("Which instrument does Tom play?", "Tom has taken cello lessons since he was six."),
    ("What is the rent of the flat?", "The landlord asks 900 euros a month for the apartment, heating included."),
    ("how to remove a wine stain", "Salt and cold water take red wine out of a tablecloth."),
    ("How often should plants be watered?", "Most house plants need water once a week, cacti once a month."),
    ("Who won the match on Sunday?", "The visitors beat the home team by three goals to one last Sunday."),
    ("What medicine helps against a headache?", "Aspirin or ibuprofen usually relieves a light headache."),
    ("When does the train to Vienna leave?", "Trains for Vienna depart every two hours from platform seven."),
    ("Did Maria like the film?", "Maria found the movie too long, but she loved the music."),
)
"""Questions, each with the passage that answers it; no other passage does."""

MINILM = (0.0298, 0.2865, 0.4796, 0.5921)
"""The quantiles of MiniLM, as `own_spread` computes them."""

VERSION = 1
"""Changes with PAIRS and MINILM."""


def scaled(cosines: Any, own: Sequence[float]) -> Any:
    """The cosines of a model, an array of NumPy, on MiniLM's scale by the model's own quantiles. NaN stays."""
    import numpy

    points = [(-1.0, -1.0)]
    for point in zip(own, MINILM, strict=True):
        # Quantiles that do not increase, of a model that does not separate related from unrelated pairs, are left out.
        if points[-1][0] < point[0] < 1.0:
            points.append(point)
    owns, theirs = zip(*points, (1.0, 1.0), strict=True)
    return numpy.interp(cosines, owns, theirs)


def own_spread(embedder: Embedder) -> tuple[float, ...]:
    """Four quantiles of a model for PAIRS: of the unrelated pairs the median and the 99th percentile, of the related ones the
    lower quartile and the median. Raises ProviderError, RefusedError."""
    questions, passages = zip(*PAIRS, strict=True)
    cosines = cosines_of(embedder.embed(questions, as_questions=True), embedder.embed(passages))
    count = len(cosines)
    related = sorted(float(cosines[n][n]) for n in range(count))
    unrelated = sorted(float(cosines[n][m]) for n in range(count) for m in range(count) if n != m)
    return (
        unrelated[len(unrelated) // 2],
        unrelated[-1 - len(unrelated) // 100],
        related[count // 4],
        related[count // 2],
    )


def tells_apart(own: Sequence[float]) -> bool:
    """Whether a model with these quantiles gives related pairs higher cosines than unrelated ones."""
    return own[2] > own[0] and own[3] > own[1]


def to_bytes(own: Sequence[float]) -> bytes:
    """Encodes quantiles for `from_bytes`."""
    return array("d", own).tobytes()


def from_bytes(data: bytes) -> tuple[float, ...] | None:
    """The quantiles that `to_bytes` encoded; None for damaged data."""
    own = array("d", data) if len(data) % 8 == 0 else array("d")
    return tuple(own) if len(own) == len(MINILM) else None
