"""The console in bad weather: random keys, hostile text, terminals that go away, hosts that die."""
