"""What people and programs see. A view draws events or the state folded from them; it never changes what happened."""
