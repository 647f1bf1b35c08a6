"""The parts of the markdown component: block structure line by line, inline markup, and the rows both become.

Our own parser instead of markdown-it: blocks must close, and rows settle, while the text still arrives. CommonMark's
block structure is decided line by line, so a parser that holds its open blocks between lines never looks back; a parser
of whole documents would have to be run over the unsettled tail again and again, and could not freeze what is finished
inside a list within a quote. It also costs nothing to import. The tests hold it against markdown-it.
"""
