"""The debugger in an editor, by the Debug Adapter Protocol.

Two processes serve an editor::

    adapter     the process that the editor talks to: it starts the program's process, and passes
                messages, output and the end of the program on
    server      in the program's process: takes turns with the program, and answers requests
    requests    what each request does to a session
    stops       the breakpoints of the editor as those of a session
    views       frames, scopes and variables at one stop
    protocol    messages: framing, requests, responses and events

So a program that crashes does not take the editor's connection with it, what it prints cannot get
between the messages, and it can be restarted.
"""
