"""Graphemes in named groups: what a terminal's idea of width is tried on.

Each group is a text whose graphemes are separated by spaces. Left out on purpose: characters younger than the Unicode
version the emulators know, and marks without a base, which are no grapheme anyone types.
"""

_SKIN_TONES = [chr(point) for point in range(0x1F3FB, 0x1F400)]


def _toned(bases: str) -> str:
    return " ".join(base + tone for base in bases.split() for tone in _SKIN_TONES)


def _flags(codes: str) -> str:
    return " ".join("".join(chr(0x1F1E6 + ord(letter) - ord("A")) for letter in code) for code in codes.split())


def _tag_flag(code: str) -> str:
    return "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f"


def _with(selector: str, bases: str) -> str:
    return " ".join(base + selector for base in bases.split())


_TEXTS = {
    "ascii": "a Z 0 ~ # * @ | \\ _",
    "latin": "é ß ø ñ ł ő ş ǆ ɐ ÿ © ® ½ × ÷",
    "greek": "α Ω ς ϑ Ϟ ώ",
    "cyrillic": "я Ж Ё ї ѣ Ԛ",
    "georgian and armenian": "ა ჰ Ա ֆ",
    "punctuation": "– — … • ‣ « » “ ” ‹ › † ‡ ‰ ′ ※ ⁄ № ™",
    "arrows": "← ↑ → ↓ ↔ ↕ ⇒ ⇔ ↳ ↵ ⟶ ➜ ➤",
    "mathematics": "∀ ∂ ∑ √ ∞ ≈ ≠ ≤ ⊂ ⌈ ⟨ 𝐀 𝔸 𝓍",
    "box drawing": "─ │ ┌ ┐ └ ┘ ├ ┤ ┬ ┴ ┼ ═ ║ ╔ ╬ ╭ ╯ ╱ ╳ ┄ ┇ ╸",
    "blocks": "▀ ▄ █ ▌ ▐ ░ ▒ ▓ ▁ ▏ ▖ ▟",
    "shapes": "■ □ ▪ ▲ ▶ ▼ ◀ ◆ ○ ● ◯ ★ ☆ ✓ ✗ ✔ ✘ ❯",
    "braille": "⠋ ⠙ ⠹ ⠸ ⣿ ⡀",
    "private use": "\ue0b0 \ue0a0 \uf09b",
    "han": "漢 字 中 文 国 語 龍 一 㐀 𠀀 𪛖 豈",
    "kana": "あ ん ア ン ヴ ー っ ゟ ㋐",
    "halfwidth and fullwidth": "ｱ ﾝ ￨ Ａ ｚ ！ ￥ 　",
    "cjk punctuation": "、 。 「 」 『 【 〜 ・ 〒 〆",
    "kana with marks": "か\u3099 は\u309a ウ\u3099",
    "han variants": "葛\U000e0100 辻\U000e0101 神\ufe00",
    "hangul syllables": "가 각 힣 한 글 뷁",
    "hangul jamo": "\u1100\u1161 \u1100\u1161\u11a8 \u1112\u1161\u11ab \u1105\u1175 \u1100\u1100\u1161 \uac00\u11a8",
    "hangul letters": "ㄱ ㅏ ㅎ ﾡ",
    "combining": (
        "e\u0301 n\u0303 a\u0308 o\u0302\u0301 u\u0328\u0301 A\u030a c\u0327 s\u0323\u0307 x\u0336 a\u20dd"
        " z\u0351\u0300 q\u0307\u0323 Z\u0338\u0334\u0321 и\u0306 α\u0301 ệ\u0301 x\u0305"
    ),
    "arabic": "ا ب س ع ه ي ة ﷺ ﻻ ٣ ، ب\u064e ل\u0651 م\u0651\u064e ه\u0670 ك\u0650 ء ں",
    "hebrew": "א ש ת ש\u05c1 ב\u05bc ל\u05b9 מ\u05b4 ײ",
    "syriac and thaana": "ܐ ܒ\u0730 ހ\u07a6 ށ\u07b0",
    "devanagari": (
        "अ क ह ॐ क\u093e क\u093f क\u0940 क\u0941 क\u0947 क\u094b क\u0902 क\u0903 क\u094d क\u094d\u0937 त\u094d\u0930"
        " श\u094d\u0930\u0940 ज\u094d\u091e न\u093f ड\u093c क\u094d\u200d\u0937 द\u094d\u0927\u094d\u092f १ ।"
    ),
    "bengali": "অ ক ক\u09be ক\u09bf ক\u09cd\u09b7 ক\u09c7 ক\u09cb ৎ ড\u09bc",
    "tamil": "அ க க\u0bbe க\u0bbf க\u0bc6 க\u0bca க\u0bcd க\u0bcd\u0bb7 ஶ\u0bcd\u0bb0\u0bc0",
    "telugu and kannada": "అ క\u0c3e క\u0c3f క\u0c4d\u0c37 ಅ ಕ\u0cbe ಕ\u0cc6 ಕ\u0ccd\u0cb7",
    "malayalam and sinhala": "അ ക\u0d3e ക\u0d4d\u0d37 ൻ අ ක\u0dcf ක\u0dd2 ක\u0dca",
    "gujarati and gurmukhi": "અ ક\u0abe ક\u0acd\u0ab7 ਅ ਕ\u0a3e ਕ\u0a3f ਕ\u0a4d",
    "thai": "ก ฮ ะ า เ แ ไ ๆ ก\u0e34 ก\u0e35\u0e48 ก\u0e49 ท\u0e31 น\u0e49\u0e33 ก\u0e33 ป\u0e39\u0e48 ฿ ๕",
    "lao": "ກ ຮ ກ\u0eb4 ກ\u0eb5\u0ec9 ນ\u0ecd\u0eb2 ນ\u0eb3",
    "khmer and myanmar": "ក ក\u17b6 ក\u17b7 ក\u17be ស\u17d2\u178f က က\u102c က\u102d က\u1031 က\u103b မ\u1039\u1019",
    "tibetan": "ཀ ཀ\u0f72 ས\u0f90 ་",
    "ethiopic and cherokee": "ሀ ፐ Ꭰ Ᏼ",
    "emoji": "😀 😂 🥰 🤖 🚀 🎉 🔥 💡 🐛 🧪 🦀 🫶 🫠 ✨ ✅ ❌ ❓ ⚡ ⭐ ⌚ ⏰ ☔ ♈ ⚽ 🀄 🃏 🈁 🟢 🪐 🫀",
    "symbols that can be emoji": "☀ ☁ ☎ ☑ ♥ ♻ ⚙ ⚠ ✂ ✈ ✉ ✏ ❄ ❤ ➡ ⏱ ⏸ ⌨ 🌡 🏖 🕷 🖥 🗑 🛠 🅰",
    "emoji by selector": _with("\ufe0f", "☀ ☁ ☎ ☑ ♥ ♻ ⚙ ⚠ ✂ ✈ ✉ ✏ ❄ ❤ ➡ ⏱ ⏸ ⌨ ↔ ↩ ‼ ⁉ ™ ℹ © ® Ⓜ ㊗ 〰 🌡 🏖 🕷 🖥 🗑 🛠 🅰"),
    "emoji that keep their selector": _with("\ufe0f", "⌚ ⚡ 😀 🀄 ⭐"),
    "text by selector": _with("\ufe0e", "⌚ ⏰ ☔ ⚡ ⚽ ⭐ ✨ 🀄 🐈 👍 💻 🔒 🚲"),
    "symbols that stay text": _with("\ufe0e", "☀ ☎ ❤ ✈ ↔ ©"),
    "keycaps": " ".join(f"{key}\ufe0f\u20e3" for key in "0123456789#*"),
    "keycaps without selector": " ".join(f"{key}\u20e3" for key in "1#"),
    "flags": _flags("DE FR GB US JP KR CN BR IN ZA UA EU UN XK AQ"),
    "flags by tags": " ".join(map(_tag_flag, ("gbeng", "gbsct", "gbwls"))),
    "skin tones": _toned("👍 👋 🤘 🧑 👩 💪 ✋ ☝ ⛹ 🫵") + " " + " ".join(_SKIN_TONES),
    "joined families": "👨‍👩‍👧 👨‍👩‍👧‍👦 👩‍👩‍👦 👨‍👦 👪 🧑‍🧑‍🧒",
    "joined couples": "👩‍❤️‍👨 👨‍❤️‍💋‍👨 🧑🏻‍🤝‍🧑🏿 👩🏽‍🤝‍👨🏻 💏🏽",
    "joined professions": "👩‍💻 👨🏽‍🚀 🧑‍🔬 👩🏿‍⚕️ 🧑‍⚖️ 👨‍🍳 🧑🏼‍🌾 👮🏽‍♀️ 🕵️‍♂️",
    "joined gestures": "🏃‍♀️ 🤷🏽‍♂️ 🏋️‍♀️ ⛹🏽‍♂️ 🧜‍♀️ 🤽🏽‍♀️ 🧑‍🦰 👩🏽‍🦱 🧑‍🦽",
    "joined things": "🏳️‍🌈 🏳️‍⚧️ 🏴‍☠️ ❤️‍🔥 ❤️‍🩹 👁️‍🗨️ 🐕‍🦺 🐈‍⬛ 🐻‍❄️ 🐦‍⬛ 😮‍💨 😵‍💫 😶‍🌫️ 🍋‍🟩 ⛓️‍💥",
}

CORPUS: dict[str, list[str]] = {name: text.split(" ") for name, text in _TEXTS.items()}
GRAPHEMES: list[str] = [grapheme for graphemes in CORPUS.values() for grapheme in graphemes]
