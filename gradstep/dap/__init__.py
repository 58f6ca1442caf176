"""The debugger in an editor, over the Debug Adapter Protocol.

Two processes serve an editor::

    adapter     the process that the editor talks to
    process     the program's process, from there: its start, its messages, what it prints, its end
    server      in the program's process: takes turns with the program, and answers requests
    requests    what each request does to a session
    launch      what is to run, as an editor's configuration has it
    progress    how far a long move is
    stops       the breakpoints of the editor as those of a session
    views       frames, scopes and variables at one stop
    capabilities  what an editor is told that it may ask for
    port        connections over a port: who is let in
    protocol    messages: framing, requests, responses and events

So a program that crashes does not take the editor's connection with it, what it prints cannot get
between the messages, and it can be restarted.
"""
