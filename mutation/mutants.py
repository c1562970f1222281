"""Small changes of the source, one at a time, on lines that decide something.

A mutant is a piece of one file replaced by another: a comparison that lets equals in, a
sum that subtracts, a keyword that is dropped. Messages, annotations, what is raised,
warnings and texts for notebooks are left alone.
"""

import ast
import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: (r"is\b", "is not"),
    ast.IsNot: (r"is\s+not\b", "is"),
    ast.In: (r"in\b", "not in"),
    ast.NotIn: (r"not\s+in\b", "in"),
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.And: (r"and\b", "or"),
    ast.Or: (r"or\b", "and"),
}

# Each is replaced by the other, as a name or an attribute that is called.
OPPOSITES = [
    ("min", "max"),
    ("argmin", "argmax"),
    ("minimum", "maximum"),
    ("any", "all"),
    ("floor", "ceil"),
    ("zeros", "ones"),
    ("logical_and", "logical_or"),
    ("union1d", "intersect1d"),
    ("ppf", "isf"),
    ("cdf", "sf"),
]
OTHER = {one: two for pair in OPPOSITES for one, two in (pair, pair[::-1])}
OTHER_WORD = {"left": "right", "right": "left"}

# The order of two arguments decides nothing, or a swap is a plain TypeError.
SYMMETRIC = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "zip"}
SYMMETRIC |= {"min", "max", "minimum", "maximum", "array_equal", "logical_and"}
SYMMETRIC |= {"logical_or", "add", "multiply", "allclose", "warn", "range", "field"}
SYMMETRIC |= {"map", "filter", "fmax", "fmin"}
# Types of arrays and alarms about lengths change memory and crashes, not answers.
IDLE_KEYWORDS = {"dtype", "strict", "stacklevel", "copy", "category", "out", "slots"}
IDLE_FUNCTIONS = re.compile(r"__repr__|__str__|_repr_html_|.*message.*|_?warn.*")
IDLE_FILES = {"__init__.py", "_html.py", "_output.py"}

# In C; an operator stands between spaces there.
C_CHANGES: list[tuple[str, str, str]] = [
    ("comparison", r" < ", " <= "),
    ("comparison", r" <= ", " < "),
    ("comparison", r" > ", " >= "),
    ("comparison", r" >= ", " > "),
    ("comparison", r" == ", " != "),
    ("comparison", r" != ", " == "),
    ("and or", r" && ", " || "),
    ("and or", r" \|\| ", " && "),
    ("arithmetic", r" \+ ", " - "),
    ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \+= ", " -= "),
    ("arithmetic", r" \* ", " / "),
    ("arithmetic", r" / ", " * "),
    ("negation", r"(?<![\w!])!(?=[\w(])", ""),
    ("constant", r"\b0\b(?!\.)", "1"),
    ("constant", r"\b1\b(?!\.)", "2"),
    ("opposite", r"\bleft\b", "right"),
    ("opposite", r"\bbest\b", "second"),
    ("loop", r"\bcontinue;", "break;"),
    ("loop", r"\bbreak;", "continue;"),
]


@dataclass(frozen=True)
class Mutant:
    """One change: where, what stood there, what stands there now."""

    room: str
    file: str
    function: str  # with its class, as in ``Votes.keep``; empty outside of functions
    line: int
    kind: str
    start: int  # in the bytes of the file
    end: int
    new: bytes
    first_line: int  # of the statement, to find the tests that run it
    last_line: int
    source: bytes = field(repr=False)  # of the whole file

    def apply(self) -> bytes:
        """Return the file with the change."""
        return self.source[: self.start] + self.new + self.source[self.end :]

    def lines(self) -> tuple[str, str]:
        """Return the changed line before and after, without what is around it."""
        begin = self.source.rfind(b"\n", 0, self.start) + 1
        rest = self.source.find(b"\n", self.end)
        after = self.apply()[begin : rest + len(self.new) - (self.end - self.start)]
        return _one_line(self.source[begin:rest]), _one_line(after)


def mutants_of(room: str, file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of one file."""
    if file.endswith(".c"):
        return c_mutants_of(room, file, source)
    finder = _Finder(room, file, source)
    finder.visit(ast.parse(source))
    return finder.found


def c_mutants_of(room: str, file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a C file, outside of comments and of ``#`` lines."""

    def blank(match: re.Match[bytes]) -> bytes:
        return re.sub(rb"[^\n]", b"#", match[0])

    idle = rb"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*"
    code = re.sub(idle, blank, source, flags=re.DOTALL | re.MULTILINE)
    found = []
    for kind, old, new in C_CHANGES:
        for match in re.finditer(old.encode(), code):
            start, end = match.span()
            line = code.count(b"\n", 0, start) + 1
            names = re.findall(rb"^[\w *]*?(\w+)\([^;{]*\{", code[:start], re.MULTILINE)
            function = names[-1].decode() if names else ""
            span = (start, end, new.encode(), line, line, source)
            found.append(Mutant(room, file, function, line, kind, *span))
    return found


def rooms(folder: Path) -> dict[str, list[Path]]:
    """Return the files of every room: a folder, its C files, or the single modules."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.*")):
        room = path.relative_to(folder).parts[0]
        if path.parent == folder:
            room = "modules"
        if path.suffix == ".c":
            room = path.name
        if path.suffix in (".py", ".c") and path.name not in IDLE_FILES:
            found.setdefault(room, []).append(path)
    return found


def draw(folder: Path, per_room: int, seed: int = 0) -> list[Mutant]:
    """Return a sample with as many mutants for each room, and each kind in turn.

    Places are drawn by a hash of the function's name and of what the line says, so that
    neither moving code nor a change of one file draws others anew.
    """
    drawn = []
    for room, paths in rooms(folder).items():
        by_kind: dict[str, list[tuple[str, Mutant]]] = {}
        for path in paths:
            source, seen = path.read_bytes(), set()
            file = path.relative_to(folder).as_posix()
            for mutant in mutants_of(room, file, source):
                text = f"{seed} {mutant.function} {mutant.kind} {mutant.lines()}"
                if text not in seen:  # the same line twice is drawn once
                    seen.add(text)
                    rank = hashlib.sha256(text.encode()).hexdigest()
                    by_kind.setdefault(mutant.kind, []).append((rank, mutant))
        queues = [sorted(queue, key=lambda pair: pair[0]) for queue in by_kind.values()]
        rounds = (pair for turn in zip_longest(*queues) for pair in turn if pair)
        sound = (one for _, one in rounds if _compiles(one))
        drawn += islice(sound, per_room)
    return drawn


class _Finder(ast.NodeVisitor):
    """Walk through a file and write down what may be changed."""

    def __init__(self, room: str, file: str, source: bytes) -> None:
        self.room, self.file, self.source = room, file, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutant] = []
        self.statement: ast.stmt | None = None
        self.names: list[str] = []  # of the classes and functions around

    # what decides nothing
    def visit_Raise(self, node: ast.Raise) -> None: ...
    def visit_Assert(self, node: ast.Assert) -> None: ...
    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and ast.unparse(node.annotation) != "TypeAlias":
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None: ...

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in IDLE_KEYWORDS:
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self._condition(node.test)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if IDLE_FUNCTIONS.fullmatch(node.name):
            return
        self.names.append(node.name)
        self.visit(node.args)
        for part in node.body:
            self.visit(part)
        self.names.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        for part in node.body:
            self.visit(part)
        self.names.pop()

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit(self, node: ast.AST) -> None:
        before = self.statement
        if isinstance(node, ast.stmt):
            self.statement = node
        super().visit(node)
        self.statement = before

    # what decides
    def visit_Compare(self, node: ast.Compare) -> None:
        parts = [node.left, *node.comparators]
        for left, operator, right in zip(parts, node.ops, parts[1:], strict=False):
            self._operator("comparison", left, operator, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = (ast.JoinedStr, ast.List, ast.Tuple)
        sides = (node.left, node.right)
        words = any(isinstance(side, texts) or _is_text(side) for side in sides)
        if not words:
            self._operator("arithmetic", node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in OPERATORS and not isinstance(node.value, ast.List):
            old, new = OPERATORS[type(node.op)]
            self._between("arithmetic", node.target, node.value, old + "=", new + "=")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._operator("and or", left, node.op, right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.Not, ast.Invert, ast.USub)):
            start, end = self._span(node.operand)
            self._add("negation", node, self.source[start:end].decode())
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add("constant", node, str(not value))
        elif isinstance(value, int):
            self._add("constant", node, str(value + 1))
            if value == 1:
                self._add("constant", node, "0")
        elif isinstance(value, float):
            self._add("constant", node, repr(value * 2 or 1.0))
        elif value in OTHER_WORD:
            self._add("opposite", node, repr(OTHER_WORD[value]))

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func).rpartition(".")[2]
        if IDLE_FUNCTIONS.fullmatch(name) or name == "cast":
            return
        if name in OTHER:
            _, end = self._span(node.func)
            self._replace("opposite", node, end - len(name), end, OTHER[name])
        plain = not any(isinstance(part, ast.Starred) for part in node.args)
        if len(node.args) == 2 and plain and name not in SYMMETRIC:
            one, two = node.args
            texts = [ast.get_source_segment(self.source.decode(), p) for p in node.args]
            start, end = self._span(one)[0], self._span(two)[1]
            if texts[0] != texts[1]:
                text = f"{texts[1]}, {texts[0]}"
                self._replace("arguments", node, start, end, text)
        for keyword in node.keywords:
            if keyword.arg and keyword.arg not in IDLE_KEYWORDS:
                self._drop(node, keyword)
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add("loop", node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._add("loop", node, "continue")

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
            self._add("constant", node.value, str(not node.value.value))
        else:
            self.generic_visit(node)

    # how it is written down
    def _condition(self, test: ast.expr) -> None:
        if isinstance(test, (ast.Name, ast.Attribute, ast.Call)):
            start, end = self._span(test)
            self._add("negation", test, f"not {self.source[start:end].decode()}")

    def _operator(
        self, kind: str, left: ast.expr, op: ast.AST, right: ast.expr
    ) -> None:
        if type(op) in OPERATORS:
            self._between(kind, left, right, *OPERATORS[type(op)])

    def _between(
        self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str
    ) -> None:
        begin, end = self._span(left)[1], self._span(right)[0]
        match = re.search(old, self.source[begin:end].decode())
        if match:
            a, b = match.span()
            self._replace(kind, right, begin + a, begin + b, new.replace("\\", ""))

    def _drop(self, call: ast.Call, keyword: ast.keyword) -> None:
        start, end = self._span(keyword)
        tail = re.match(rb"\s*,\s*", self.source[end:])
        if tail:
            end += tail.end()
        self._replace("keyword", keyword, start, end, "")

    def _span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _add(self, kind: str, node: ast.expr | ast.stmt, new: str) -> None:
        self._replace(kind, node, *self._span(node), new)

    def _replace(
        self,
        kind: str,
        node: ast.expr | ast.stmt | ast.keyword,
        start: int,
        end: int,
        new: str,
    ) -> None:
        statement = self.statement
        first = statement.lineno if statement else node.lineno
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            first = node.lineno
        line = self.source.count(b"\n", 0, start) + 1
        last = self.source.count(b"\n", 0, end) + 1
        where = (self.room, self.file, ".".join(self.names), line, kind, start, end)
        self.found.append(Mutant(*where, new.encode(), first, last, self.source))


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _compiles(mutant: Mutant) -> bool:
    if mutant.file.endswith(".c"):
        compiler = shutil.which("cc")
        if compiler is None:
            return False
        command = [compiler, "-std=c99", "-w", "-fsyntax-only", "-x", "c", "-"]
        done = subprocess.run(command, input=mutant.apply(), capture_output=True)
        return done.returncode == 0
    try:
        compile(mutant.apply(), "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def functions_of(source: bytes) -> dict[str, str]:
    """Return what stands in every function of a file, and under "" in all of it.

    The names are those of :class:`Mutant`; layout does not count.
    """
    found = {"": _one_line(source)}

    def walk(node: ast.AST, names: list[str]) -> None:
        for part in ast.iter_child_nodes(node):
            inside = names
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                inside = [*names, part.name]
                text = ast.get_source_segment(source.decode(), part) or ""
                found[".".join(inside)] = " ".join(text.split())
            walk(part, inside)

    walk(ast.parse(source), [])
    return found
