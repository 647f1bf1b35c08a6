"""Outputs that try to drive whoever watches: names and raw bytes, for the tests of every place that shows output.

Each contains the word SAFE as ordinary text at its end, on a line of its own, so that a test can also see that an
attack does not swallow what follows it. `POISON` stands where an attack carries a payload that must never be obeyed:
as a title, in the clipboard, as the target of a link. Read as plain text it does no harm.
"""

import base64

POISON = "POISON"
_SECRET = base64.b64encode(POISON.encode())
_LINK = b"https://poison.invalid/"

# How a string sequence may end, in 7 and in 8 bits, and the ways in which it may not.
_ENDS = {
    "bel": b"\x07",
    "st": b"\x1b\\",
    "c1_st": b"\xc2\x9c",
    "raw_c1_st": b"\x9c",
    "can": b"\x18",
    "sub": b"\x1a",
    "escape": b"\x1b[m",
    "newline": b"\n",
}

_STRINGS = {
    "title_0": b"]0;POISON",
    "icon_1": b"]1;POISON",
    "title_2": b"]2;POISON",
    "property_3": b"]3;WM_NAME=POISON",
    "palette_4": b"]4;1;#ff0000",
    "palette_question_4": b"]4;1;?",
    "directory_7": b"]7;file://poison.invalid/POISON",
    "link_8": b"]8;;" + _LINK,
    "link_8_with_id": b"]8;id=1;" + _LINK,
    "notification_9": b"]9;POISON",
    "progress_9": b"]9;4;1;50",
    "foreground_10": b"]10;#000000",
    "background_question_11": b"]11;?",
    "cursor_12": b"]12;red",
    "log_46": b"]46;/dev/null",
    "font_50": b"]50;#10",
    "clipboard_52": b"]52;c;" + _SECRET,
    "clipboard_52_primary": b"]52;p;" + _SECRET,
    "clipboard_52_all": b"]52;cps01234567;" + _SECRET,
    "clipboard_question_52": b"]52;c;?",
    "notification_99": b"]99;i=1;POISON",
    "shell_133": b"]133;C",
    "run_633": b"]633;E;POISON",
    "notification_777": b"]777;notify;POISON;POISON",
    "image_1337": b"]1337;File=inline=1:" + _SECRET,
    "copy_1337": b"]1337;CopyToClipboard=;POISON",
    "focus_1337": b"]1337;StealFocus",
    "linux_palette": b"]P1ff0000",
    "sixel_dcs": b'Pq"1;1;1;1#0;2;0;0;0~',
    "request_dcs": b'P$q"p',
    "termcap_question_dcs": b"P+q544e",
    "keys_dcs": b"P0;1|17/17",
    "tmux_passthrough_dcs": b"Ptmux;\x1b\x1b]0;POISON\x07",
    "screen_passthrough_dcs": b"P\x1b]0;POISON\x07",
    "image_apc": b"_Gf=100,a=T;" + _SECRET,
    "privacy_pm": b"^POISON",
    "string_sos": b"XPOISON",
    "screen_title": b"kPOISON",
}

# The 8-bit introducers: of the string sequences by their 7-bit second byte, and of CSI.
_C1 = {b"]": 0x9D, b"P": 0x90, b"_": 0x9F, b"^": 0x9E, b"X": 0x98, b"[": 0x9B}

_CONTROL_SEQUENCES = {
    "cursor_address_H": b"1;1H",
    "cursor_address_f": b"5;5f",
    "cursor_row_d": b"1d",
    "cursor_row_relative_e": b"99e",
    "cursor_column_backtick": b"7`",
    "cursor_column_G": b"7G",
    "cursor_column_huge_G": b"99999999999999999999G",
    "up_a_billion": b"1000000000A",
    "down_a_billion": b"1000000000B",
    "right_a_billion": b"1000000000C",
    "left_a_billion": b"1000000000D",
    "next_line_a_billion": b"1000000000E",
    "previous_line_a_billion": b"1000000000F",
    "tab_forward_a_billion": b"1000000000I",
    "tab_back_a_billion": b"1000000000Z",
    "repeat_a_billion": b"1000000000b",
    "scroll_up_a_billion": b"1000000000S",
    "scroll_down_a_billion": b"1000000000T",
    "insert_lines": b"99L",
    "delete_lines": b"99M",
    "insert_characters": b"99@",
    "delete_characters": b"99P",
    "erase_characters": b"99X",
    "erase_display": b"2J",
    "erase_above": b"1J",
    "erase_scrollback": b"3J",
    "erase_selective": b"?2J",
    "erase_line_selective": b"?2K",
    "erase_line_unknown": b"7K",
    "scroll_region": b"2;3r",
    "margins": b"5;10s",
    "save_cursor": b"s",
    "restore_cursor": b"u",
    "alternate_screen": b"?1049h",
    "alternate_screen_47": b"?47h",
    "leave_alternate_screen": b"?1049l",
    "mouse": b"?1000h",
    "mouse_all": b"?1003;1006h",
    "bracketed_paste": b"?2004h",
    "focus_events": b"?1004h",
    "hide_cursor": b"?25l",
    "no_wrap": b"?7l",
    "origin_mode": b"?6h",
    "reverse_screen": b"?5h",
    "columns_132": b"?3h",
    "application_keys": b"?1h",
    "synchronised": b"?2026h",
    "insert_mode": b"4h",
    "newline_mode": b"20h",
    "keyboard_lock": b"2h",
    "device_attributes": b"c",
    "device_attributes_zero": b"0c",
    "device_attributes_second": b">c",
    "device_attributes_third": b"=c",
    "version_question": b">q",
    "status_question": b"5n",
    "position_question": b"6n",
    "position_question_private": b"?6n",
    "mode_question": b"?2026$p",
    "mode_question_ansi": b"4$p",
    "keyboard_question": b"?u",
    "keyboard_push": b">31u",
    "modify_keys": b">4;2m",
    "modify_keys_question": b"?4m",
    "window_iconify": b"2t",
    "window_move": b"3;0;0t",
    "window_size": b"8;1;1t",
    "title_question": b"21t",
    "title_push": b"22;0t",
    "cursor_shape": b"5 q",
    "soft_reset": b"!p",
    "conformance": b'61"p',
    "protect": b'1"q',
    "leds": b"1q",
    "print_screen": b"0i",
    "print_on": b"5i",
    "checksum_question": b"1;1;1;1;1;1*y",
    "fill_rectangle": b"88;1;1;9;9$x",
    "copy_rectangle": b"1;1;9;9;1;2;2;1$v",
    "terminal_parameters_question": b"x",
    "self_test": b"2;1y",
    "colon_move": b"1:2A",
    "private_move": b"?9A",
    "intermediate_move": b"9 A",
    "style_of_thousands": b"1;31;" * 5000 + b"m",
    "style_with_huge_number": b"9" * 5000 + b"m",
    "style_bad_colour": b"38;5;999;48;2;1;2m",
    "style_unfinished_colour": b"38;2m",
    "style_colons": b"4:3;58:2::1:2:3;38:2::1:2:3m",
    "move_with_leading_zeros": b"0" * 5000 + b"9A",
}

_ESCAPES = {
    "reset": b"c",
    "alignment_test": b"#8",
    "double_height": b"#3",
    "save_cursor": b"7",
    "restore_cursor": b"8",
    "index": b"D",
    "next_line": b"E",
    "reverse_index": b"M",
    "tab_set": b"H",
    "keypad": b"=",
    "charset_graphics": b"(0",
    "charset_shift": b"n",
    "latin_1": b"%@",
    "identify": b"Z",
    "c1_as_8_bit": b" G",
    "memory_lock": b"l",
    "many_intermediates": b" " * 40 + b"A",
}

_OTHERS: dict[str, bytes] = {
    "bell": b"\x07" * 100,
    "enquiry": b"\x05",
    "shift_out": b"\x0e text \x0f",
    "nul": b"\x00" * 100,
    "delete": b"\x7f" * 100,
    "form_feed_and_vertical_tab": b"\x0c\x0b" * 100,
    "backspace_storm": b"\b" * 100_000 + b"over",
    "carriage_return_storm": b"\r" * 100_000,
    "tab_storm": b"\t" * 100_000,
    "all_c0": bytes(point for point in range(0x20) if point not in b"\x1b"),
    "all_raw_c1": bytes(range(0x80, 0xA0)),
    "all_c1_single": b"".join(b"\xc2" + bytes([point]) + b"\n" for point in range(0x80, 0xA0)),
    "bidi_overrides": "\u202eevil\u202c \u202d \u202a \u202b \u2066 \u2067 \u2068 \u2069".encode(),
    "bidi_in_sequence": b"\x1b[" + "\u202e".encode() + b"31m",
    "half_character": b"half \xe2\x82",
    "half_character_then_escape": b"\xf0\x9f\x1b]0;POISON\x07",
    "overlong_escape": b"\xc0\x9b]0;POISON\x07\xe0\x80\x9b[2J",
    "encoded_surrogates": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond_unicode": b"\xf4\x90\x80\x80\xff\xfe",
    "combining_flood": b"e" + "\u0301".encode() * 20_000,
    "wide_at_the_edge": "宽".encode() * 5_000 + b"\b\b\bx\rx",
    "joined_emoji_flood": "👨\u200d".encode() * 5_000,
    "escape_alone": b"\x1b",
    "escape_escape": b"\x1b\x1b\x1b]0;POISON\x07",
    "sequence_in_sequence": b"\x1b[3\x1b[2J1m\x1b[3\x1b]0;POISON\x071m",
    "sequence_in_string": b"\x1b]0;a\x1b[2J\x1b[1;1Hb\x07",
    "string_in_string": b"\x1b]0;a\x1b]52;c;" + _SECRET + b"\x07\x07",
    "c1_in_string": b"\x1b]0;a\xc2\x9d52;c;" + _SECRET + b"\xc2\x9b2J\x07",
    "control_in_sequence": b"\x1b[\x001;\x081\x07H\x1b[2\nJ\x1b[2\rJ",
    "delete_in_sequence": b"\x1b[\x7f2J\x1b\x7f]0;POISON\x07",
    "cancelled_sequence": b"\x1b[3\x181m\x1b[2\x1aJ\x1b\x18c",
    "joined_by_removal": b"\x1b\x00[2J\x1b\x07]0;POISON\x07\x1b\xe2\x80\xae[2J",
    "joined_by_removed_sequence": b"\x1b\x1b[m[2J\x1b\x1b]0;\x07]0;POISON\x07",
    "unfinished_sequence": b"\x1b[38;5;",
    "unfinished_string": b"\x1b]52;c;" + _SECRET,
    "unfinished_huge_string": b"\x1b]0;" + b"POISON" * 20_000,
    "huge_closed_string": b"\x1b]52;c;" + _SECRET * 20_000 + b"\x07",
    "many_unfinished_strings": b"\x1b]" * 20_000,
    "many_unfinished_c1_strings": b"\xc2\x9d" * 20_000,
    "many_unfinished_sequences": b"\x1b[" * 20_000,
    "up_and_overwrite": b"\x1b[A\x1b[2K" * 2_000 + b"gone",
    "up_down_storm": b"\x1b[9999A\x1b[9999B" * 2_000,
    "far_right_storm": b"\x1b[9999Cx" * 2_000,
    "far_right_rows": b"\x1b[9999Cx\n" * 2_000,
    "erase_storm": b"x\x1b[9999C\x1b[1K\x1b[2K" * 2_000,
    "never_a_newline": b"x" * 300_000,
    "markup": b"<script>alert('POISON')</script><img src=x onerror=alert(1)>&lt;",
    "link_as_text": b"javascript:alert(1) " + _LINK,
}


def _with_c1(name: str, sequence: bytes) -> list[tuple[str, bytes]]:
    """A sequence behind ESC, behind its C1 control in UTF-8, and behind the C1 control as a raw byte."""
    forms = [(name, b"\x1b" + sequence)]
    if (point := _C1.get(sequence[:1])) is not None:
        forms.append((f"{name}/c1", bytes([0xC2, point]) + sequence[1:]))
        forms.append((f"{name}/raw_c1", bytes([point]) + sequence[1:]))
    return forms


def _attacks() -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for name, string in _STRINGS.items():
        for ending, end in _ENDS.items():
            found += [(f"{form}/{ending}", data + end) for form, data in _with_c1(name, string)]
    for name, sequence in _CONTROL_SEQUENCES.items():
        found += _with_c1(f"csi/{name}", b"[" + sequence)
    found += [(f"escape/{name}", b"\x1b" + sequence) for name, sequence in _ESCAPES.items()]
    found += [(f"other/{name}", data) for name, data in _OTHERS.items()]
    return [(name, b"before\n" + data + b"\nSAFE\n") for name, data in found]


ATTACKS: list[tuple[str, bytes]] = _attacks()
