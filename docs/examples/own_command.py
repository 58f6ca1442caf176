import autograd_core as torch
from gradstep import Session
from gradstep.console.console import Command, Console
from gradstep.console.language import Operands


def count(console: Console, operands: Operands) -> str:
    """How many nodes of an op there are in the plan."""
    op = operands.required("write an op, as in count mul").text
    graph = console.session.snapshot.graph
    indices = range(console.session.snapshot.length)
    found = [i for i in indices if graph.kinds[i] == "op" and graph.stem(i) == op]
    return f"{len(found)} of {op}"


COUNT = Command("count OP", "how many nodes of that op there are", count, operand="place")

x = torch.tensor(2.0, requires_grad=True)
console = Console(Session(x * x * x), [COUNT])
print(console.do("count mul").text)
print(console.do("count").text)
