"""Running a provider's CLI: the process and all it starts, what it failed of, and what is installed.

Nothing is imported here: reading a stream needs none of it, and `sightline.providers` fetches each part when used.
"""
