"""The console's half of extensions: renderers, widgets, dialogs, and a guard around them."""
