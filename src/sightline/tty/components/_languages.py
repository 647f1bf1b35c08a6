"""Languages as data, for `_highlight`: words, patterns, and what may stay open over the end of a line."""

from typing import NamedTuple


class Language(NamedTuple):
    """`words` gives each role its words; `patterns` are (role, pattern), tried in order before anything else; `blocks`
    are (role, begin, end) and may span lines; `strings` are patterns of what ends with its line.
    """

    words: dict[str, str] = {}  # noqa: RUF012 - never changed
    patterns: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, str, str], ...] = ()
    strings: tuple[str, ...] = ()
    types: bool = False
    numbers: bool = True
    word: str = ""
    ignore_case: bool = False


_DOUBLE = r'"(?:\\.|[^"\\])*"?'
_SINGLE = r"'(?:\\.|[^'\\])*'?"
_CHARACTER = r"'(?:\\[^']+|[^'\\])'"
_SLASHES = ("syntax_comment", "//.*")
_HASH = ("syntax_comment", r"(?:^|(?<=\s))#.*")
_COMMENT = ("syntax_comment", r"/\*", r"\*/")
_DECORATOR = ("syntax_decorator", r"@[\w.]+")
_VARIABLE = ("syntax_name", r"\$(?:\w+|\{[^}]*\}|[@*#?$!-])")


def _words(keywords: str, builtins: str = "", constants: str = "true false null") -> dict[str, str]:
    return {"syntax_keyword": keywords, "syntax_builtin": builtins, "syntax_number": constants}


def _c_like(keywords: str, builtins: str = "", constants: str = "true false null", **more: object) -> Language:
    """Slashes and stars for comments, double quotes for strings, names of types in capitals."""
    settings: dict[str, object] = {
        "patterns": (_SLASHES,),
        "blocks": (_COMMENT,),
        "strings": (_DOUBLE, _CHARACTER),
        "types": True,
    }
    return Language(words=_words(keywords, builtins, constants), **{**settings, **more})  # type: ignore[arg-type]


_PYTHON = Language(
    words=_words(
        "and as assert async await break case class continue def del elif else except finally for from global if "
        "import in is lambda match nonlocal not or pass raise return try type while with yield",
        "self cls abs all any bool bytes callable dict enumerate filter float frozenset getattr hasattr id int "
        "isinstance issubclass iter len list map max min next object open print property range repr reversed round "
        "set setattr sorted staticmethod classmethod str sum super tuple type vars zip",
        "True False None NotImplemented",
    ),
    patterns=(("syntax_comment", "#.*"), ("syntax_decorator", r"^\s*@[\w.]+")),
    blocks=(
        ("syntax_string", r'\b[rbfuRBFU]{0,2}"""|"""', '"""'),
        ("syntax_string", r"\b[rbfuRBFU]{0,2}'''|'''", "'''"),
    ),
    strings=(rf"\b[rbfuRBFU]{{1,2}}(?:{_DOUBLE}|{_SINGLE})", _DOUBLE, _SINGLE),
    types=True,
)
_SCRIPT = (
    "async await break case catch class const continue debugger default delete do else export extends finally for "
    "from function get if import in instanceof let new of return set static super switch this throw try typeof var "
    "void while with yield "
)
_SCRIPT_NAMES = (
    "console window document Array Object Promise Map Set JSON Math Number String Error require module process"
)
_SCRIPT_CONSTANTS = "true false null undefined NaN Infinity"
_JAVASCRIPT = _c_like(
    _SCRIPT,
    _SCRIPT_NAMES,
    _SCRIPT_CONSTANTS,
    patterns=(_SLASHES, _DECORATOR, ("syntax_keyword", "=>")),
    blocks=(_COMMENT, ("syntax_string", "`", "`")),
    strings=(_DOUBLE, _SINGLE),
    word=r"[^\W\d][\w$]*",
)
_TYPESCRIPT = _JAVASCRIPT._replace(
    words=_words(
        _SCRIPT
        + "abstract as asserts declare enum implements infer interface is keyof namespace private protected public "
        "readonly satisfies type",
        _SCRIPT_NAMES + "any bigint boolean never number object string symbol unknown",
        _SCRIPT_CONSTANTS,
    )
)
_BASH = Language(
    words=_words(
        "if then else elif fi for in do done while until case esac function select time return exit break continue "
        "local export declare readonly set unset shift trap source",
        "alias awk bash cat cd chmod chown cp curl cut date docker echo env eval exec find git go grep head jq kill "
        "kubectl ls make mkdir mv node npm npx pip printf ps pwd python python3 read rm rsync sed sh sleep sort ssh "
        "sudo tail tar tee test touch tr uniq uv wc wget which xargs yarn cargo pnpm",
        "true false",
    ),
    patterns=(_HASH, _VARIABLE, ("syntax_operator", r"(?:^|(?<=\s))--?[A-Za-z][\w-]*")),
    blocks=(("syntax_string", '"', '"'), ("syntax_string", "'", "'")),
    word=r"[^\W\d][\w-]*",
)
_GO = _c_like(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package "
    "range return select struct switch type var",
    "any append bool byte cap close comparable complex copy delete error float32 float64 int int8 int16 int32 int64 "
    "len make max min new panic print println recover rune string uint uint8 uint16 uint32 uint64 uintptr",
    "true false nil iota",
    blocks=(_COMMENT, ("syntax_string", "`", "`")),
)
_RUST = _c_like(
    "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut "
    "pub ref return self Self static struct super trait type unsafe use where while",
    "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Box Option Result String Vec",
    "true false None Some Ok Err",
    patterns=(_SLASHES, ("syntax_decorator", r"#!?\[[^\]]*\]?"), ("syntax_function", r"\b\w+!(?=[\s(\[{])")),
    blocks=(_COMMENT, ("syntax_string", 'r#"', '"#')),
    strings=(rf"b?{_DOUBLE}", _CHARACTER),
)
_C_WORDS = (
    "auto break case const continue default do else enum extern for goto if inline register restrict return sizeof "
    "static struct switch typedef union volatile while "
)
_C_TYPES = (
    "bool char double float int long short signed unsigned void size_t ssize_t int8_t int16_t int32_t int64_t "
    "uint8_t uint16_t uint32_t uint64_t uintptr_t FILE "
)
_C_CONSTANTS = "true false NULL nullptr"
_PREPROCESSOR = ("syntax_decorator", r"^\s*#\s*\w+")
_C = _c_like(_C_WORDS, _C_TYPES, _C_CONSTANTS, patterns=(_SLASHES, _PREPROCESSOR))
_CPP = _c_like(
    _C_WORDS
    + "alignas alignof and catch class co_await co_return co_yield concept consteval constexpr constinit decltype "
    "delete explicit export final friend mutable namespace new noexcept not operator or override private protected "
    "public requires static_assert static_cast dynamic_cast reinterpret_cast const_cast template this throw try "
    "typename using virtual",
    _C_TYPES + "std string string_view vector map set pair tuple optional unique_ptr shared_ptr",
    _C_CONSTANTS,
    patterns=(_SLASHES, _PREPROCESSOR),
)
_JAVA = _c_like(
    "abstract assert break case catch class continue default do else enum extends final finally for if implements "
    "import instanceof interface native new package permits private protected public record return sealed static "
    "super switch synchronized this throw throws transient try var void volatile while yield",
    "boolean byte char double float int long short",
    patterns=(_SLASHES, _DECORATOR),
    blocks=(_COMMENT, ("syntax_string", '"""', '"""')),
)
_CSHARP = _c_like(
    "abstract as async await base break case catch checked class const continue default delegate do else enum event "
    "explicit extern finally fixed for foreach get if implicit in init interface internal is lock namespace new "
    "operator out override params partial private protected public readonly record ref return sealed set sizeof "
    "static struct switch this throw try typeof unsafe using var virtual void where while yield",
    "bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort",
)
_KOTLIN = _c_like(
    "abstract as break by catch class companion const constructor continue data do else enum final finally for fun "
    "get if import in init inline interface internal is lateinit object open operator out override package private "
    "protected public return sealed set super suspend this throw try typealias val var vararg when where while",
    patterns=(_SLASHES, _DECORATOR),
    blocks=(_COMMENT, ("syntax_string", '"""', '"""')),
)
_SWIFT = _c_like(
    "actor as async await break case catch class continue default defer deinit do else enum extension fallthrough "
    "fileprivate for func get guard if import in init inout internal is let mutating open operator override private "
    "protocol public repeat required return self set static struct subscript super switch throw throws try typealias "
    "var weak where while",
    "Any Bool Character Double Float Int String Void",
    "true false nil",
    patterns=(_SLASHES, _DECORATOR),
    blocks=(_COMMENT, ("syntax_string", '"""', '"""')),
)
_PHP = _c_like(
    "abstract and array as break case catch class clone const continue declare default do echo else elseif empty "
    "enum extends final finally fn for foreach function global if implements include instanceof interface isset "
    "match namespace new or print private protected public readonly require require_once return static switch throw "
    "trait try unset use var while yield",
    "bool float int string void self parent mixed",
    patterns=(_SLASHES, _HASH, ("syntax_name", r"\$\w+"), ("syntax_decorator", r"<\?(?:php|=)?|\?>")),
    strings=(_DOUBLE, _SINGLE),
)
_RUBY = Language(
    words=_words(
        "alias and begin break case class def defined? do else elsif end ensure for if in module next not or redo "
        "rescue retry return self super then undef unless until when while yield",
        "attr_accessor attr_reader attr_writer include extend lambda loop private proc protected puts raise require "
        "require_relative",
        "true false nil",
    ),
    patterns=(("syntax_comment", r"#(?!\{).*"), ("syntax_name", r"@@?\w+"), ("syntax_number", r"(?<!:):\w+")),
    strings=(_DOUBLE, _SINGLE),
    types=True,
)
_LUA = Language(
    words=_words(
        "and break do else elseif end for function goto if in local not or repeat return then until while",
        "ipairs pairs print require self string table tostring type",
        "true false nil",
    ),
    patterns=(("syntax_comment", r"--(?!\[\[).*"),),
    blocks=(("syntax_comment", r"--\[\[", r"\]\]"),),
    strings=(_DOUBLE, _SINGLE),
)
_SQL = Language(
    words=_words(
        "add all alter and as asc begin between by cascade case check column commit constraint create cross cte "
        "database default delete desc distinct drop else end except exists explain foreign from full grant group "
        "having if in index inner insert intersect into is join key left like limit not offset on or order outer "
        "over partition primary recursive references returning right rollback select set table then transaction "
        "trigger union unique update using values view when where window with",
        "bigint bool boolean char date decimal float int integer json jsonb numeric real serial smallint text time "
        "timestamp timestamptz uuid varchar avg coalesce count max min now sum",
    ),
    patterns=(("syntax_comment", "--.*"),),
    blocks=(_COMMENT,),
    strings=(r"'(?:''|[^'])*'?", _DOUBLE),
    ignore_case=True,
)
_JSON = Language(
    words=_words(""),
    patterns=(("syntax_name", r'"(?:\\.|[^"\\])*"(?=\s*:)'), _SLASHES),
    blocks=(_COMMENT,),
    strings=(_DOUBLE,),
)
_YAML = Language(
    words=_words("", "", "true false null yes no on off True False"),
    patterns=(
        _HASH,
        ("syntax_keyword", r"^(?:---|\.\.\.)$"),
        ("syntax_operator", r"^\s*(?:- +)+(?=\S)"),
        ("syntax_name", r"(?:^\s*|(?<=- )|(?<=[{,]) *)(?:[\w./$-][^:#{}\[\],\"']*|\"[^\"]*\"|'[^']*')(?=:(?:\s|$))"),
        ("syntax_decorator", r"(?<=\s)[&*!][\w!/-]+"),
    ),
    strings=(_DOUBLE, _SINGLE),
    word=r"[^\W\d][\w./-]*",
)
_TOML = Language(
    words=_words(""),
    patterns=(
        ("syntax_comment", r"(?:^|(?<=\s))[#;].*"),
        ("syntax_type", r"^\s*\[\[?[^\]]*\]\]?"),
        ("syntax_name", r"^\s*[\w.\"'-]+(?=\s*=)"),
    ),
    blocks=(("syntax_string", '"""', '"""'), ("syntax_string", "'''", "'''")),
    strings=(_DOUBLE, r"'[^']*'?"),
)
_HTML = Language(
    patterns=(
        ("syntax_keyword", r"</?[A-Za-z][\w:.-]*|/?>|<!\w+|<\?\w+|\?>"),
        ("syntax_name", r"(?<=\s)[\w:@.-]+(?=\s*=)"),
        ("syntax_number", r"&[\w#]+;"),
    ),
    blocks=(("syntax_comment", "<!--", "-->"),),
    strings=(r'(?<==)"[^"]*"?', r"(?<==)'[^']*'?"),
    numbers=False,
)
_CSS = Language(
    words=_words("important and not only from to", "", "auto none inherit initial unset"),
    patterns=(
        ("syntax_comment", r"//.*"),
        ("syntax_decorator", r"@[\w-]+"),
        ("syntax_number", r"#[0-9a-fA-F]{3,8}\b|\b\d+(?:\.\d+)?(?:[a-z]+|%)?"),
        ("syntax_name", r"(?:--)?[A-Za-z][\w-]*(?=\s*:\s)|\$[\w-]+|--[\w-]+"),
        ("syntax_type", r"[.#][A-Za-z][\w-]*|::?[a-z-]+"),
    ),
    blocks=(_COMMENT,),
    strings=(_DOUBLE, _SINGLE),
    word=r"[A-Za-z][\w-]*",
)
_DIFF = Language(
    patterns=(
        ("syntax_comment", r"^(?:diff |index |--- |\+\+\+ |new file|deleted file|similarity|rename ).*"),
        ("diff_hunk", "^@@.*"),
        ("diff_added", r"^\+.*"),
        ("diff_removed", "^-.*"),
    ),
    numbers=False,
)
_MARKDOWN = Language(
    patterns=(
        ("heading", r"^#{1,6} .*"),
        ("list_marker", r"^\s*(?:[-*+]|\d+[.)])(?=\s)"),
        ("quote", "^>.*"),
        ("code_border", r"^\s*(?:```|~~~).*"),
        ("code", "`[^`]+`"),
        ("strong", r"\*\*[^*]+\*\*"),
        ("link", r"\[[^\]]*\]\([^)]*\)|https?://\S+"),
    ),
    numbers=False,
)
_INSTRUCTIONS = (
    "FROM|RUN|CMD|LABEL|EXPOSE|ENV|ADD|COPY|ENTRYPOINT|VOLUME|USER|WORKDIR|ARG|SHELL|STOPSIGNAL|HEALTHCHECK|ONBUILD"
)
_DOCKERFILE = Language(
    words=_words("", "", ""),
    patterns=(
        _HASH,
        ("syntax_keyword", rf"^\s*(?i:{_INSTRUCTIONS})\b|\bAS\b"),
        _VARIABLE,
        ("syntax_operator", r"(?<=\s)--?[A-Za-z][\w-]*"),
    ),
    strings=(_DOUBLE, _SINGLE),
)
_MAKEFILE = Language(
    words=_words("define endef else endif export ifdef ifeq ifndef ifneq include override"),
    patterns=(
        _HASH,
        ("syntax_function", r"^[\w./%$(){} -]+?(?=\s*:(?!=))"),
        ("syntax_name", r"\$[({][^)}]*[)}]|\$[@<^?*%$]|^\w+(?=\s*[:?+]?=)"),
    ),
    strings=(_DOUBLE, _SINGLE),
    numbers=False,
)

LANGUAGES: dict[str, Language] = {
    "python": _PYTHON, "javascript": _JAVASCRIPT, "typescript": _TYPESCRIPT, "bash": _BASH, "go": _GO, "rust": _RUST,
    "c": _C, "cpp": _CPP, "java": _JAVA, "csharp": _CSHARP, "kotlin": _KOTLIN, "swift": _SWIFT, "php": _PHP,
    "ruby": _RUBY, "lua": _LUA, "sql": _SQL, "json": _JSON, "yaml": _YAML, "toml": _TOML, "html": _HTML, "css": _CSS,
    "diff": _DIFF, "markdown": _MARKDOWN, "dockerfile": _DOCKERFILE, "makefile": _MAKEFILE,
}  # fmt: skip

ALIASES: dict[str, str] = {
    "py": "python", "python3": "python", "py3": "python", "pyi": "python", "pycon": "python", "js": "javascript",
    "jsx": "javascript", "mjs": "javascript", "cjs": "javascript", "node": "javascript", "ts": "typescript",
    "tsx": "typescript", "mts": "typescript", "sh": "bash", "shell": "bash", "zsh": "bash", "fish": "bash",
    "console": "bash", "shell-session": "bash", "golang": "go", "rs": "rust", "h": "c", "c++": "cpp", "cc": "cpp",
    "cxx": "cpp", "hpp": "cpp", "objc": "cpp", "cuda": "cpp", "cs": "csharp", "c#": "csharp", "kt": "kotlin",
    "kts": "kotlin", "scala": "java", "groovy": "java", "dart": "java", "rb": "ruby", "postgresql": "sql",
    "postgres": "sql", "mysql": "sql", "sqlite": "sql", "psql": "sql", "json5": "json", "jsonc": "json",
    "jsonl": "json", "ndjson": "json", "yml": "yaml", "ini": "toml", "cfg": "toml", "conf": "toml",
    "properties": "toml", "xml": "html", "svg": "html", "vue": "html", "svelte": "html", "xhtml": "html",
    "scss": "css", "less": "css", "sass": "css", "patch": "diff", "md": "markdown", "docker": "dockerfile",
    "containerfile": "dockerfile", "make": "makefile", "mk": "makefile",
}  # fmt: skip
