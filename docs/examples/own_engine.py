"""An engine for a library that is a list of closures: each op appends what adds its gradients."""

import gradstep
from gradstep.contract import registry
from gradstep.contract.protocol import Engine, Reading
from gradstep.records import GENERAL, LEAF

tape = []  # of the library: its whole backward pass, in the order of the forward pass


class Number:
    """A tensor of the library."""

    def __init__(self, value, node=None):
        self.value, self.grad = value, 0.0
        self.node = node or Leaf(len(tape), [], self)

    def __mul__(self, other):
        def backward(g):
            self.grad, other.grad = self.grad + g * other.value, other.grad + g * self.value

        tape.append(backward)
        return Number(self.value * other.value, Mul(len(tape), [self.node, other.node]))


class DType:
    name = "float64"


class Node:
    """What the list of closures does not tell: which op used the result of which other one."""

    kind, leads_nowhere = GENERAL, False
    output_count, output_shape, output_dtype, ported = 1, (), DType, False
    record = hooks = freed_at = None
    is_freed = False

    def __init__(self, number, edges, tensor=None):
        self.sequence_nr, self.edges, self.tensor = number, tuple(edges), tensor

    def name(self):
        return type(self).__name__

    def formulas(self):
        return ()

    def saved(self):
        return iter(())

    def changed_at(self, name):
        return ()


class Mul(Node):
    pass


class Leaf(Node):
    kind = LEAF


class Seen:
    """A tensor as gradstep sees it."""

    _shape, dtype, record, is_parameter, requires_grad = (), DType, None, False, True
    gradstep_library, gradstep_identity = __name__, None

    def __init__(self, number):
        self.number, self.edge, self.gradstep_identity = number, number.node, id(number)


class Plan:
    def __init__(self, roots):
        nodes = [root.edge for root in roots]
        for node in nodes:  # which grows meanwhile
            nodes += [edge for edge in node.edges if edge not in nodes]
        self.order = sorted(nodes, key=lambda node: -node.sequence_nr)


class ListReading(Reading):
    def owns(self, value):
        return isinstance(value, Number | Seen)

    def tensors(self, roots):
        return tuple(root if isinstance(root, Seen) else Seen(root) for root in roots)

    def plan(self, tensors):
        return Plan(tensors)

    def leaf(self, node):
        return Seen(node.tensor)

    def user_tensor(self, tensor):
        return tensor.number


ENGINE = Engine(name="own_engine", reading=ListReading())
registry.register(__name__, f"{__name__}:ENGINE", f"{__name__}:Number")

if __name__ == "__main__":
    x, w = Number(2.0), Number(3.0)
    print(gradstep.render(x * w * x, format="txt", view="backward"))
    try:
        gradstep.Session(x * w)
    except ValueError as error:
        print(error)
