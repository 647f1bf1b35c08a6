"""What a tab of the page receives: the list, entries, facts and rows."""
