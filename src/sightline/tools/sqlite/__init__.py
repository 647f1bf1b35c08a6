"""SQLite databases, trusted or not, read and changed row by row.

db.sqlite                       its tables
db.sqlite:table                 how a table is made, and its first rows
db.sqlite:table:key             one row
db.sqlite:table?where=…&order=… some rows
db.sqlite?q=SELECT …            a query
"""

from sightline._later import later
from sightline.tools.sqlite._selection import RowTarget as RowTarget
from sightline.tools.sqlite._selection import candidates as candidates
from sightline.tools.sqlite._selection import is_sqlite_file as is_sqlite_file
from sightline.tools.sqlite._selection import parse_selection as parse_selection
from sightline.tools.sqlite._selection import parse_target as parse_target

TYPE_CHECKING = False
# The library is imported when a database is opened.
if TYPE_CHECKING:
    from sightline.tools.sqlite._read import read as read
    from sightline.tools.sqlite._write import preview as preview
    from sightline.tools.sqlite._write import write as write

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
