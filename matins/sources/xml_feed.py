"""RSS 0.9 to 2.0, RSS 1.0 (RDF) and Atom: a walk over a document's pieces that keeps the entries it has seen whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from matins.rules.errors import ProviderRefused
from matins.sources.address import item_url
from matins.sources.document import root_of
from matins.sources.entry import MAX_ENTRIES, MAX_MARKUP_TAGS, Document
from matins.sources.markup import Kind, Piece, attributes_of, pieces, resolved
from matins.sources.names import ATOM, Scope
from matins.sources.raw_entry import FIELDS, RawEntry, Value, title_of

MAX_DEPTH = 60
"""Open elements around one, not counting the markup inside a text."""
_ENTRIES = frozenset({"item", "entry"})
_CHANNELS = frozenset({"channel", "feed"})
_CHANNEL_FIELDS = frozenset({"title", "link", "atom:link"})
_GROUPS = frozenset({"media:group", "media:content"})


def read_xml(text: str, *, url: str) -> Document:
    """The feed in `text`, which came from `url`. Raises ProviderRefused if there is none, or nothing of it is whole."""
    walk = _Walk(stack=[_Open("", Scope(url))])
    for piece in pieces(text, root_of(text)):
        walk.take(piece)
        if walk.ended:
            break
    if not walk.entries and not walk.ended:
        raise ProviderRefused("the feed is cut off before its end")
    if not walk.entries and (walk.sloppy or not walk.may_be_empty):
        raise ProviderRefused("the feed is broken, and no entry in it can be read")
    atom = walk.atom
    return Document(
        title=next((line for value in walk.titles if (line := title_of(value, atom=atom))), ""),
        entries=tuple(raw.entry(atom=atom) for raw in walk.entries),
        next_url=walk.next_url if walk.ended else "",
        broken=not walk.ended,
    )


@dataclass(frozen=True, slots=True)
class _Open:
    """An element that is open."""

    name: str
    scope: Scope


@dataclass(slots=True)
class _Collecting:
    """The inside of an element whose words are wanted, while it is read."""

    open: _Open
    written: str
    attributes: str
    pieces: list[Piece] = field(default_factory=list)
    depth: int = 0
    """Elements of the same name that are open inside it."""
    has_tags: bool = False

    def value(self) -> Value:
        text = "".join(map(self._one, self.pieces))
        return Value(text, self.attributes, self.open.scope.base, has_tags=self.has_tags)

    def _one(self, piece: Piece) -> str:
        if piece.kind is Kind.LITERAL:
            return escape(piece.text, quote=False) if self.has_tags else piece.text
        if piece.kind is Kind.TEXT:
            return piece.text if self.has_tags else resolved(piece.text)
        return f"<{'/' if piece.kind is Kind.CLOSE else ''}{piece.text.rpartition(':')[2]}{piece.attributes}>"


@dataclass(slots=True)
class _Walk:
    """Where the reading is, and what it has found."""

    stack: list[_Open]
    entries: list[RawEntry] = field(default_factory=list)
    titles: list[Value] = field(default_factory=list)
    next_url: str = ""
    atom: bool = False
    may_be_empty: bool = False
    """It has what a feed without entries has: a channel, or Atom's own namespace."""
    sloppy: bool = False
    """An element was left open, or closed without being open."""
    ended: bool = False
    """The root element was closed."""
    entry: RawEntry | None = None
    collecting: _Collecting | None = None
    tags: int = 0

    def take(self, piece: Piece) -> None:
        """The next piece of the document."""
        if self.collecting is not None and not self._leaves(piece):
            self._collect(self.collecting, piece)
        elif piece.kind is Kind.OPEN or piece.kind is Kind.EMPTY:
            self._open(piece)
        elif piece.kind is Kind.CLOSE:
            self._close(piece.text)

    def _leaves(self, piece: Piece) -> bool:
        """Whether a tag ends the element around the one that is collected: that one was left open."""
        if piece.kind is not Kind.CLOSE or self.collecting is None:
            return False
        name = self.stack[-1].scope.name(piece.text)
        if name not in _ENTRIES and name not in _CHANNELS and name != self.stack[1].name:
            return False
        self._keep(self.collecting)
        self.sloppy = True
        return True

    def _collect(self, found: _Collecting, piece: Piece) -> None:
        if piece.kind is Kind.CLOSE and piece.text == found.written:
            if not found.depth:
                self._keep(found)
                return
            found.depth -= 1
        elif piece.kind is Kind.OPEN and piece.text == found.written:
            found.depth += 1
        found.has_tags = found.has_tags or piece.kind in (Kind.OPEN, Kind.EMPTY)
        found.pieces.append(piece)

    def _keep(self, found: _Collecting) -> None:
        self.collecting = None
        self._put(found.open.name, found.value())

    def _put(self, name: str, value: Value) -> None:
        if self.entry is not None:
            self.entry.keep(name, value)
        elif name == "title":
            self.titles.append(value)
        elif value.attributes and not self.next_url:
            said = attributes_of(value.attributes)
            if said.get("rel", "").strip().lower() == "next":
                self.next_url = item_url(said.get("href", ""), base=value.base)

    def _open(self, piece: Piece) -> None:
        parent = self.stack[-1]
        scope = parent.scope.inside(piece.attributes)
        if len(self.stack) == 1:
            scope = self._root(piece, scope)
        opened = _Open(scope.name(piece.text), scope)
        if opened.name in _ENTRIES and self.entry is not None and self._is_entry(opened.name):
            self._close_to(opened.name)  # the one before was left open
            parent = self.stack[-1]
        if opened.name in _ENTRIES and self.entry is None and self._is_entry(opened.name):
            self._begin(piece)
        elif self._is_wanted(opened.name, parent.name):
            self._want(piece, opened)
            return
        self.may_be_empty = self.may_be_empty or opened.name == "channel"
        if piece.kind is Kind.EMPTY:
            self._shut(opened.name)
            self.ended = self.ended or len(self.stack) == 1
            return
        self.stack.append(opened)
        if len(self.stack) > MAX_DEPTH:
            raise ProviderRefused(f"too deep: more than {MAX_DEPTH} elements inside each other")

    def _root(self, piece: Piece, scope: Scope) -> Scope:
        home = scope.namespace(piece.text)
        self.atom = piece.text.lower().rpartition(":")[2] == "feed"
        self.may_be_empty = self.atom and home in ATOM
        return scope if piece.text.lower().endswith("rdf") else Scope(scope.base, home, scope.bound)

    def _is_entry(self, name: str) -> bool:
        return name == ("entry" if self.atom else "item")

    def _begin(self, piece: Piece) -> None:
        if len(self.entries) == MAX_ENTRIES:
            raise ProviderRefused(f"too large: more than {MAX_ENTRIES} entries")
        about = attributes_of(piece.attributes).get("rdf:about", "") if piece.attributes else ""
        self.entry = RawEntry(about=about)

    def _is_wanted(self, name: str, parent: str) -> bool:
        if self.entry is None:
            return name in _CHANNEL_FIELDS and parent in _CHANNELS
        return name in FIELDS and (parent in _ENTRIES or (parent in _GROUPS and name.startswith("media:")))

    def _want(self, piece: Piece, opened: _Open) -> None:
        if piece.kind is Kind.EMPTY:
            self._put(opened.name, Value("", piece.attributes, opened.scope.base))
        else:
            self.collecting = _Collecting(opened, piece.text, piece.attributes)

    def _close(self, written: str) -> None:
        name = self.stack[-1].scope.name(written)
        if any(one.name == name for one in self.stack[1:]):
            self._close_to(name)
        else:
            self.sloppy = True

    def _close_to(self, name: str) -> None:
        """Closes everything up to the innermost element of that name, and it."""
        while len(self.stack) > 1:
            closed = self.stack.pop().name
            self._shut(closed)
            if closed == name:
                break
            self.sloppy = True
        self.ended = self.ended or len(self.stack) == 1

    def _shut(self, name: str) -> None:
        if self.entry is None or not self._is_entry(name):
            return
        self.tags += self.entry.markup_tags()
        if self.tags > MAX_MARKUP_TAGS:
            raise ProviderRefused(f"too large: more than {MAX_MARKUP_TAGS} tags in its texts")
        self.entries.append(self.entry)
        self.entry = None
