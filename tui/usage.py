"""What the command says about itself."""

TARGET = """\
TARGET is one of
  file.py              a script; it runs as usual, with ARGS
  file.py:name         a tensor, a function that returns one, or a module
                       with sample_inputs
  package.module:name  the same
  -m package.module    a module, run as python -m does, with ARGS
"""
_ARGUMENTS = """\
Options may also follow TARGET. What gradstep does not know there goes to the
script, and so does everything after --.
"""
MAIN = """\
Draw computation graphs, and step through their backward pass.

commands:
  render      draw the graph of a tensor, or of a script's backward() call
  film        show how the graph is built and the gradients run back, as frames
  debug       step through the backward() calls of a script
  check       hold every derivative to differences, and look for mistakes
  ops         list the ops and their derivatives
  embed       bring pictures in Markdown files up to date
"""
MAIN_NOTES = """\
examples:
  gradstep render train.py                      draw the first backward() call
  gradstep render train.py:loss -o loss.svg     draw a tensor
  gradstep debug train.py                       step, forwards and back
  gradstep check train.py                       find wrong derivatives
  gradstep COMMAND --help                       all about one command

exit codes: 0 fine, 1 the script failed, 2 wrong usage, 3 no such target or no
graph, 4 nothing here makes that format, 5 a check found something
"""
RENDER_NOTES = f"""\
{_ARGUMENTS}
examples:
  gradstep render train.py
  gradstep render train.py:loss -o loss.svg
  gradstep render --view backward --call last train.py --epochs 3 -o last.html
  gradstep render --expand layers.3 train.py
  gradstep render --around layers.0.fc1 --hops 1 train.py
  gradstep render --legend --link 'vscode://file/{{path}}:{{line}}' train.py
  gradstep render train.py --format dot -o - | less
"""
FILM_NOTES = f"""\
{_ARGUMENTS}
The film plays without a script, also where a page shows it as an image; it
rests while the pointer is over it.

examples:
  gradstep film train.py
  gradstep film train.py:loss -o loss.html
  gradstep film --view backward train.py -o frames/
"""
DEBUG_NOTES = f"""\
{_ARGUMENTS}
On the screen, ? shows all keys. FILE has one command per line: those of the
screen's prompt (its command help lists them), quit to let the script go on to
its next call, abort to end it.

examples:
  gradstep debug train.py
  gradstep debug --break mul --break encoder.0 --call 2 train.py
  gradstep debug --batch -x commands.txt train.py --epochs 1
  gradstep debug --batch --fail-on nan,inf train.py
  gradstep debug --call grad:1 penalty.py       its first autograd.grad()
"""
CHECK_NOTES = f"""\
{_ARGUMENTS}
The forward of every node, of custom Functions too, runs again some dozen times
on copies, in float64. Exit code 5 says that a rule is wrong, or that there is
an error or a warning:
  error    freed, changed (in place)
  warning  not-finite (a result of the forward pass), unreached, cut (and a leaf
           has no gradient), duplicate-hook, stale-grad
  info     cut (on purpose, likely), shared, untraced

examples:
  gradstep check train.py
  gradstep check --call 2 --ignore stale-grad train.py --epochs 1
  gradstep check -q models/net.py:loss
"""
OPS_NOTES = """\
examples:
  gradstep ops
  gradstep ops mul
  gradstep ops mul --code
"""
EMBED_NOTES = """\
A command stands between two comments, and runs where FILE is:

  <!-- gradstep: render train.py:loss -o docs/loss.svg -->
  ![Backward graph of loss: ...](docs/loss.svg)
  <!-- /gradstep -->

What it writes is shown as an image, in your words if you change them; what it
prints stands there as a block of code, a mermaid diagram as a diagram.

examples:
  gradstep embed README.md
  gradstep embed --check README.md docs/*.md
"""
