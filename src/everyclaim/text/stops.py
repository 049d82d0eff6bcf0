"""Full stops that end no sentence in languages other than English: ordinals, abbreviations, initials.

`sentencex` knows some of them, by language. These are repairs on top: two of its pieces that belong together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from everyclaim.text.tokens import word_set

# By language; "_" is a full stop with or without a blank behind it. These end no sentence.
_NEVER: Mapping[str, frozenset[str]] = {
    "de": word_set(
        """
        z_B d_h u_U v_a i_d_R o_g s_o s_u bzw ca evtl ggf inkl exkl zzgl abzgl bspw sog lt vgl Nr Art Abs Bd Dr Prof
        Hr Fr St Dipl Ing Mag geb Mio Mrd Tsd max min Std Str Abb Tab Kap gem i_V v_l_n_r Di Mi Do Sa So Mo n v m_E
        i_S
        """
    ),
    "es": word_set(
        """
        Sr Sra Srta Sres Sras Dr Dra Dres Prof Profa Lic Ing Gral Ud Uds Vd Vds D Dña EE núm núms pág págs art arts
        aprox p_ej av avda vol fig cap tel máx mín ene feb mar abr jun jul ago sept oct nov dic
        """
    ),
    "fr": word_set(
        """
        M MM Mme Mlle Mgr Dr Pr Me St Ste env p_ex c.-à-d art chap vol fig éd av apr tél bd n max min cf vs p pp
        janv févr avr juil sept oct nov déc
        """
    ),
    "it": word_set(
        """
        Sig sig Sigg sigg Dott dott Prof prof Ing Avv Arch Geom On Rag ad_es p_es es art artt pag pagg n nn ca tel vol
        cap fig max min a_C d_C gen genn febbr apr mag giu lug ago sett ott nov dic S
        """
    ),
    "pt": word_set(
        """
        Sr Sra Srta Dr Dra Prof Profa Eng Exmo Exma D p_ex art arts pág págs aprox av r tel séc vol fig cap máx mín
        núm jan fev mar abr jun jul ago set out nov dez
        """
    ),
    "nl": word_set(
        """
        dhr mevr mw dr drs ir mr prof bijv bv d_w_z o_a m_b_t i_p_v t_o_v ca nr blz art incl excl max min St resp vgl
        evt jan feb mrt apr jun jul aug sept okt nov dec
        """
    ),
    "pl": word_set(
        """
        np tj tzn tzw m_in prof dr mgr inż hab ul al pl os im św zob por art ust pkt nr godz ok tel wg ks gen woj pow
        gm
        """
    ),
    "sv": word_set("t_ex bl_a d_v_s dvs ca nr kl st fr_o_m t_o_m prof dr inkl exkl max min resp jfr s_k ang"),
    "da": word_set("f_eks bl_a dvs ca nr kl hr fr dr prof kap inkl ekskl jf ift hhv evt pga tlf stk mio mia"),
    "no": word_set("f_eks bl_a dvs ca nr kl hr fr dr prof kap inkl ekskl jf evt pga tlf mill mrd"),
    "cs": word_set(
        """
        např tj tzv tzn č odst čl ul nám pí p Ing Mgr Bc MUDr JUDr PhDr RNDr Ph doc prof dr sv cca resp mj popř max
        min tel kpt str obr tab
        """
    ),
    "fi": word_set("esim ts ns mm n klo nro ks vrt prof tri mrd milj puh max min toim"),
    "ru": word_set("т_е т_к т_н им ул д кв стр рис см млн млрд тыс руб напр проф акад пр обл просп"),
    "uk": word_set("т_зв ім вул див напр проф акад обл тис млн млрд"),
    "tr": word_set("Dr Prof Doç Av Sn bkz örn yak no s"),
    "hu": word_set("pl ún ill kb dr prof ld vö u"),
    "ro": word_set("dl dna dr prof nr str art pag ex aprox"),
    "ar": word_set("د أ أ_د ص ج ط م هـ"),
    "hi": word_set("डॉ प्रो श्री पं स्व सु मि रु कि_मी"),
}
# These may, and are carried on only by a number or a word in lower case, as any abbreviation is.
_SELDOM: Mapping[str, frozenset[str]] = {
    "de": word_set("usw etc Jh Chr u_a u_ä o_ä Sek Min Tel MwSt S Aufl"),
    "es": word_set("UU etc a_C d_C C Cía S_A a_m p_m"),
    "fr": word_set("etc J.-C s"),
    "it": word_set("ecc C p_A etc"),
    "pt": word_set("etc a_C d_C C Ltda S_A"),
    "nl": word_set("enz etc e_d jl a_s Chr"),
    "pl": word_set("itd itp r w tys mln mld zł n_e p_n_e"),
    "sv": word_set("osv etc m_m f_d e_Kr f_Kr"),
    "da": word_set("osv mv m_v etc e_Kr f_Kr"),
    "no": word_set("osv mv m_v etc e_Kr f_Kr"),
    "cs": word_set("atd apod aj r stol n_l tis mil mld"),
    "fi": word_set("jne ym yms v s eKr jKr"),
    "ru": word_set("г гг в вв др т_д т_п н_э с"),
    "uk": word_set("р рр ст ін т_д н_е"),
    "tr": word_set("vb vs M_Ö M_S"),
    "hu": word_set("stb ápr okt"),
    "ro": word_set("etc d_Hr î_Hr"),
    "hi": word_set("ई_पू"),
}
_DURATIONS = frozenset({"min", "std"})  # "Sie dauert 30 Min. Der Raum …"
# What stands before a German ordinal: its noun has a capital as a sentence's first word has.
_GERMAN_LEADS = word_set(
    """
    im am vom zum zur beim der die das dem den des bis und oder ab seit nach vor jeder jede jedes jeden jedem ein eine
    einen einem einer ihr ihre ihrem ihren sein seine seinem seinen in
    """
)
_ORDINAL = re.compile(rf"(?:^|\s)(?i:(?:{'|'.join(sorted(_GERMAN_LEADS))})\s+)\d{{1,2}}\.\s*$")
_NUMBER = re.compile(r"(?:^|[\s(–-])\d{1,2}\.\s*$")
_DATED = re.compile(
    r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Jahrtausend|Jh|Weltkrieg|Lebensjahr|Spieltag|Platz)"
)
_INITIALS = re.compile(r"(?:^|[\s(\"“„«])(?P<all>(?:[^\W\d_]\.[\s-]*)+)$")
_ROMAN = re.compile(r"[IVXLC]+\b")
_OPENING = ' \t\n\r\u00a0"“„«»([¿¡'
# Words that begin sentences, so that what ends before them is a sentence although it ends like an initial.
_STARTS = word_set(
    """
    der die das es er sie wir ich ihr in im am an auf bei mit nach danach dann und aber auch doch dort hier heute seit
    el la los las un una en de no se es y pero su este esta por para él ella
    le les il elle ils on ce cette un une des à au en et mais
    lo gli i è un uno una nel non si ma
    o os a as um uma é não se mas ele ela
    de het een hij zij ze er dit dat en maar
    jest to nie w na się ale on ona
    det den de en ett han hon vi som på men är er hun
    je to se v na ale byl
    se on hän ei ja mutta
    он она оно это в на но и
    """
)


def carries_on(before: str, following: str, language: str) -> bool:
    """Whether a sentence goes on behind the full stop that `before` ends with.

    Both are the text around the gap; of `before` the last 24 characters are enough. A text whose language is not known
    is read by what holds for all.
    """
    if not before.rstrip().endswith("."):
        return _is_reported(before, following, language)
    rest = following.lstrip(_OPENING)
    if not before[-1].isspace() and following[:1] in "-‐‑":
        return True  # J.-C.
    if not rest or not rest[0].isalnum():
        return False
    if rest[0].islower():
        return True
    short = _ends_in(before, language, seldom=False)
    if short and not ((len(short) == 1 or short.lower() in _DURATIONS) and opens_sentence(rest)):
        return True
    if (rest[0].isdigit() or _ROMAN.match(rest)) and _ends_in(before, language, seldom=True):
        return True
    if language == "de" and _NUMBER.search(before):
        return _ORDINAL.search(before) is not None or _DATED.match(rest) is not None
    initials = _INITIALS.search(before)
    if initials is None or not initials["all"].replace(".", "").replace("-", "").replace(" ", "").isupper():
        return False
    return rest[0].isupper() and not opens_sentence(rest)


def opens_sentence(text: str) -> bool:
    """Whether a text begins with a word that sentences begin with, rather than with a name."""
    word = re.match(r"\w+", text.lstrip(_OPENING))
    return word is not None and word.group().lower() in _STARTS


def _is_reported(before: str, following: str, language: str) -> bool:
    """Whether a Japanese quotation goes on: 「…。」と言った."""
    return language == "ja" and before.rstrip().endswith(("」", "』")) and following[:1] in "とはがをのでに、"


def _ends_in(text: str, language: str, *, seldom: bool) -> str:
    """The abbreviation that a text ends in, without its last full stop; empty when there is none."""
    pattern = _pattern(language, seldom=seldom)
    found = pattern.search(text) if pattern else None
    return found["short"] if found else ""


@cache
def _pattern(language: str, *, seldom: bool) -> re.Pattern[str] | None:
    """An abbreviation of a language at the end of a text, also where it begins with a capital."""
    words = (_SELDOM if seldom else _NEVER).get(language)
    if words is None:
        return None
    forms = [re.escape(word.rstrip(".")).replace("_", r"\.\s?") for word in sorted(words)]
    forms += [form[0].upper() + form[1:] for form in forms if form[0].islower()]
    return re.compile(rf"(?:^|[\s(\[/\"“„«'’-])(?P<short>{'|'.join(forms)})\.\s*$")
