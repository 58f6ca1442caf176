"""The widgets of the debugger's screen, one file each."""
