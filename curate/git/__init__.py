"""Other people's git repositories: talking to their servers, and reading their objects and their history.

command.py      running git with neither their nor the user's configuration having a say
repository.py   one commit, or the whole history, of a repository somewhere else
objects.py      files out of the object store, byte for byte
"""
