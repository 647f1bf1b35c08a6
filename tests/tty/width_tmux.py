"""How many columns tmux 3.3a takes for those graphemes of the corpus on which it differs from our model.

It knows no variation selectors, skin tones or spacing vowel signs that join, and only some joined emoji.
"""

VERSION = "tmux 3.3a"

_TEXTS = {
    1: (
        "क्‍ष ☀️ ☁️ ☎️ ☑️ ♥️ ♻️ ⚙️ ⚠️ ✂️ ✈️ ✉️ ✏️ ❄️ ❤️ ➡️ ⏱️ ⏸️ ⌨️ "
        "↔️ ↩️ ‼️ ⁉️ ™️ ℹ️ ©️ ®️ Ⓜ️ 🌡️ 🏖️ 🕷️ 🖥️ 🗑️ 🛠️ 🅰️ 0️⃣ 1️⃣ 2️⃣ "
        "3️⃣ 4️⃣ 5️⃣ 6️⃣ 7️⃣ 8️⃣ 9️⃣ #️⃣ *️⃣ 🕵️‍♂️ 🏋️‍♀️ 🏳️‍🌈 🏳️‍⚧️ "
        "❤️‍🔥 ❤️‍🩹 👁️‍🗨️ ⛓️‍💥"
    ),
    2: (
        "का कि की को कः नि কা কি কে কো கா கி கெ கொ ಕಾ കാ කා કા ਕਾ ਕਿ "
        "น้ำ กำ ນຳ កា កើ ကေ ကျ ⌚︎ ⏰︎ ☔︎ ⚡︎ ⚽︎ ⭐︎ ✨︎ 🀄︎ 🐈︎ 👍︎ 💻︎ 🔒︎ 🚲︎"
    ),
    3: ("श्री ☝🏻 ☝🏼 ☝🏽 ☝🏾 ☝🏿 ⛹🏻 ⛹🏼 ⛹🏽 ⛹🏾 ⛹🏿 ⛹🏽‍♂️"),
    4: (
        "ᄀ가 👍🏻 👍🏼 👍🏽 👍🏾 👍🏿 👋🏻 👋🏼 👋🏽 👋🏾 👋🏿 🤘🏻 🤘🏼 🤘🏽 🤘🏾 🤘🏿 🧑🏻 🧑🏼 🧑🏽 🧑🏾 "
        "🧑🏿 👩🏻 👩🏼 👩🏽 👩🏾 👩🏿 💪🏻 💪🏼 💪🏽 💪🏾 💪🏿 ✋🏻 ✋🏼 ✋🏽 ✋🏾 ✋🏿 🫵🏻 🫵🏼 🫵🏽 🫵🏾 "
        "🫵🏿 💏🏽 👨🏽‍🚀 👩🏿‍⚕️ 🧑🏼‍🌾 👮🏽‍♀️ 🤷🏽‍♂️ 🤽🏽‍♀️ 👩🏽‍🦱"
    ),
    6: ("🧑🏻‍🤝‍🧑🏿 👩🏽‍🤝‍👨🏻"),
}

COLUMNS: dict[str, int] = {grapheme: columns for columns, text in _TEXTS.items() for grapheme in text.split(" ")}
