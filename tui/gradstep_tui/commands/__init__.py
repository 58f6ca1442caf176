"""The subcommands of ``gradstep``, one file each."""
