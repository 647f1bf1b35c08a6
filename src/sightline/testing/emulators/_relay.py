"""The program in a tmux pane: writes to its terminal what comes over a socket, and sends back what is typed.

Run by path with the socket's name; it imports nothing of this project and ends when the other side is gone. The first
pane's relay then ends the whole server, its parent: one whose control client died with answers unread never would.
"""

import os
import select
import shutil
import signal
import socket
import sys
import tty


def main() -> None:
    server = os.getppid()
    relay()
    if "--last" in sys.argv:
        # The files first: the server's end hangs up this terminal, and this process with it.
        shutil.rmtree(os.path.dirname(sys.argv[1]), ignore_errors=True)
        os.kill(server, signal.SIGKILL)


def relay() -> None:
    """Pass bytes both ways until one side is gone."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(sys.argv[1])
    tty.setraw(0)
    peer.sendall(b"\n")  # raw mode is set: from here on bytes pass unchanged
    while True:
        ready, _, _ = select.select([peer.fileno(), 0], [], [])
        if 0 in ready:
            typed = os.read(0, 65536)
            peer.sendall(typed)
        if peer.fileno() in ready:
            data = peer.recv(65536)
            if not data:
                return
            while data:
                data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
