"""Vulgar words and slurs, as whole words, in a few languages. The lists are short and hold what is vulgar in any context of its language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from measurand.formula.findings import Finding
from measurand.formula.visible import visible

VULGAR: Final[Mapping[str, str]] = {
    "en": (
        "fuck fucks fucked fucker fuckers fucking fuckin motherfucker motherfuckers motherfucking shit shits shitty shitting bullshit shithead shithole asshole "
        "assholes arsehole arseholes bitch bitches bitching cunt cunts dickhead dickheads cock cocksucker cocksuckers twat wanker wankers bollocks bastard bastards "
        "whore whores slut sluts douchebag jackass dumbass prick pussy"
    ),
    "de": "scheiße scheisse scheiß scheiss beschissen arschloch arschlöcher fotze fotzen hurensohn wichser ficken fick gefickt verfickt schlampe schlampen arschgeige",
    "es": "mierda joder jodido jodida puta putas puto putos hijoputa gilipollas cabrón cabrones coño pendejo pendejos chingar chingada verga follar maricón",
    "fr": "merde merdique putain putains connard connards connasse salope salopes enculé enculés enculer foutre bordel nique niquer couilles pute",
    "it": "cazzo cazzi stronzo stronza stronzi merda vaffanculo puttana puttane troia coglione coglioni fottere minchia bastardo",
    "pt": "merda caralho porra foda foder fodido puta putas buceta cuzão arrombado viado",
    "nl": "kut klootzak klootzakken godverdomme hoer hoeren tering neuken lul kutwijf",
    "pl": "kurwa kurwy chuj chuja pierdolić pierdol pierdolony jebać jebany skurwysyn spierdalaj",
    "ru": "блять блядь сука суки хуй хуя хуйня пизда пиздец ебать ебаный мудак гандон",
}
SLURS: Final = (
    "nigger niggers nigga niggas faggot faggots fag fags kike kikes spic spics chink chinks wetback wetbacks tranny trannies retard retards raghead ragheads "
    "towelhead gook gooks paki pakis dyke dykes coon coons"
)
"""Of English, listed apart: they are found in whatever languages are asked for."""
LANGUAGES: Final = tuple(VULGAR)


def profane_words(text: str, languages: Sequence[str] = LANGUAGES, more: Iterable[str] = ()) -> list[Finding]:
    """The listed words of a text, whatever their letter case; kinds are `vulgar`, `slur`, and `listed` for those of `more`. No part of a word counts."""
    seen = visible(text)
    kinds = _kinds(tuple(languages), tuple(more))
    return [Finding(kind, *seen.original(start, end)) for kind, start, end in _listed(seen.text.lower(), kinds)]


def _listed(text: str, kinds: Mapping[str, str]) -> Iterator[Finding]:
    for match in _word().finditer(text):
        kind = kinds.get(match[0])
        if kind is not None:
            yield Finding(kind, match.start(), match.end())


@cache
def _kinds(languages: tuple[str, ...], more: tuple[str, ...]) -> dict[str, str]:
    kinds = dict.fromkeys((visible(word).text.strip().lower() for word in more), "listed")
    kinds |= dict.fromkeys(SLURS.split(), "slur")
    return kinds | {word: "vulgar" for language in languages for word in VULGAR[language].split()}


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]+")
