"""The page in a real Chromium, against the real server, hosts and commands: nothing is played."""
